// The live page's script: puts what the server sends where it belongs, appends what has happened to
// the log, and presses buttons. Whoever wants less motion has the charts drawn every two seconds.

import { behaviour } from '../report/page-behaviour.ts'

export const liveJs = `${behaviour}
const element = (id) => document.getElementById(id)
const isCalm = matchMedia('(prefers-reduced-motion: reduce)')
const held = new Map()
const put = (id, html) => { const place = element(id); if (place) place.innerHTML = html }
setInterval(() => { for (const [id, html] of held) put(id, html); held.clear() }, 2000)

let lastTold = 0
const tell = ({ id, atMs, text }) => {
  if (id <= lastTold) return
  lastTold = id
  const log = element('log')
  const isAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 30
  const item = document.createElement('li')
  const time = document.createElement('time')
  time.textContent = (atMs / 1000).toFixed(1) + ' s'
  item.append(time, ' ' + text)
  log.append(item)
  while (log.children.length > 200) log.firstChild.remove()
  if (isAtEnd) log.scrollTop = log.scrollHeight
}

const buttons = [...document.querySelectorAll('[data-action]')]
let reasonOf = {}
const write = (id, text) => { if (element(id).textContent !== text) element(id).textContent = text }
const allow = (reasons) => {
  reasonOf = reasons
  const ids = buttons.map(({ dataset }) => dataset.action)
  const [first, ...others] = ids.filter((id) => id !== 'stop').map((id) => reasons[id] || '')
  const common = others.every((why) => why === first) ? first : '' // said once
  write('why-all', common === '' ? '' : 'Not now: ' + common)
  for (const button of buttons) {
    const id = button.dataset.action
    const why = reasons[id] || ''
    button.setAttribute('aria-disabled', String(why !== ''))
    write('why-' + id, why === common ? '' : why)
  }
}
const say = (text) => { element('said').textContent = text }
for (const button of buttons) button.onclick = async () => {
  say('')
  const why = reasonOf[button.dataset.action]
  if (button.getAttribute('aria-disabled') === 'true') return say('Not now: ' + (why || 'still connecting'))
  try {
    const answer = await fetch('press/' + button.dataset.action, { method: 'POST' })
    if (!answer.ok) say('Not now: ' + await answer.text())
  } catch { say('Not now: the run does not answer') }
}

const stream = new EventSource('stream')
const on = (name, take) => stream.addEventListener(name, (event) => take(JSON.parse(event.data)))
on('fragments', (all) => { for (const [id, html] of all) {
  if (isCalm.matches && id.startsWith('panel-') && element(id)?.firstChild) held.set(id, html)
  else { held.delete(id); put(id, html) }
} })
on('happened', (all) => all.forEach(tell))
on('buttons', allow)
on('ended', () => {
  stream.close()
  document.documentElement.dataset.ended = 'true'
})
let tries = 0
stream.onopen = () => { tries = 0; element('lost').hidden = true }
stream.onerror = () => {
  element('lost').hidden = false
  allow(Object.fromEntries(buttons.map(({ dataset }) => [dataset.action, 'the run does not answer'])))
  if (++tries >= 5) stream.close()
}
`
