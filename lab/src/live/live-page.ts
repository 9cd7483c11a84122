// The page itself: everything that stays as it is while the run changes the rest. Regions that change
// several times a second are no live regions, since a screen reader would never come to an end; what
// happens is told once, in words, in the log.

import { style } from '../report/page-style.ts'
import { type ActionId, actionIds, actions } from './actions.ts'
import type { LiveState } from './live-record.ts'
import { liveStyle } from './live-style.ts'

export const liveCss = style + liveStyle

export function livePage(mode: LiveState['mode']): string {
  const isPlay = mode === 'play'
  const title = isPlay ? 'breakwater under load: free play' : 'One hot key, one slow query: live'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="live.css">
<title>breakwater lab: ${isPlay ? 'free play' : 'live'}</title>
<script src="live.js" defer></script>
</head>
<body>
<a class="skip" href="#controls">To the buttons</a>
<header>
<h1>${title}</h1>
<button type="button" id="theme" aria-label="Change between light and dark">◐ <span>Theme</span></button>
</header>
<main>
<noscript><p class="note">This page is drawn by its script; without one, see the report at the end.</p></noscript>
<p class="note" id="lost" hidden>The connection to the run is lost. What is here stays.</p>
<p class="lead" id="lead"></p>
<p class="setting" id="setting"></p>
<div id="notes"></div>
<section aria-labelledby="now-title">
<h2 id="now-title">Now</h2>
<p class="phase" id="phase">connecting …</p>
<dl class="tiles" id="tiles"></dl>
<ul class="processes" id="processes" aria-label="The API processes"></ul>
</section>
<section aria-labelledby="controls-title" id="controls" tabindex="-1">
<h2 id="controls-title" class="while-on">Break something</h2>
<p class="explain while-on">${isPlay ? playNote : runNote}</p>
<p class="why while-on" id="why-all"></p>
<ul class="buttons">
${actionIds
  .filter((id) => isPlay || id !== 'stop')
  .map(button)
  .join('\n')}
</ul>
<p id="said" role="status"></p>
<h3 id="log-title">What has happened</h3>
<ol id="log" role="log" aria-live="polite" aria-labelledby="log-title" tabindex="0"></ol>
</section>
<section aria-labelledby="rows-title">
<h2 id="rows-title">${isPlay ? 'The last minute' : 'Over time, side by side'}</h2>
<p class="explain">${isPlay ? '' : 'The same axes along each row. '}A dashed line is a write that invalidates, or a button. Point at a chart to read its row at that instant.</p>
<div id="rows"${isPlay ? ' class="two"' : ''}></div>
</section>
${isPlay ? '' : lists}
</main>
</body>
</html>
`
}

const runNote =
  'The buttons act on the lab&#39;s own servers and processes. This run measures: a press marks it as ' +
  'disturbed. To play freely: <code>npm start -- --play</code>.'
const playNote =
  'The buttons act on the lab&#39;s own servers and processes. Nothing is measured here: press what ' +
  'you like, as often as you like.'

const lists = `<section aria-labelledby="faults-title">
<h2 id="faults-title">What goes wrong, with breakwater</h2>
<ul class="faults" id="faults"></ul>
</section>
<section aria-labelledby="figures-title">
<h2 id="figures-title">Figures</h2>
<div id="figures"></div>
</section>`

function button(id: ActionId): string {
  const { label, explain } = actions[id]
  return (
    `<li><button type="button" data-action="${id}" aria-disabled="true" aria-describedby="explain-${id} why-${id} why-all">${label}</button> ` +
    `<span class="explain" id="explain-${id}">${explain}</span> <span class="why" id="why-${id}"></span></li>`
  )
}
