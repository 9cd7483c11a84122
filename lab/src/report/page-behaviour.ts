// The report's only script: the theme button, and a cursor that reads a whole row of charts at one
// instant. Without it the page loses nothing but these.

export const behaviour = `
const root = document.documentElement
const kept = 'breakwater-lab-theme'
try { const theme = localStorage.getItem(kept); if (theme) root.dataset.theme = theme } catch {}
document.getElementById('theme').onclick = () => {
  const now = root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
  root.dataset.theme = now === 'dark' ? 'light' : 'dark'
  try { localStorage.setItem(kept, root.dataset.theme) } catch {}
}
const text = (unit, value) => unit === 'count' ? String(value)
  : value >= 1000 ? (value / 1000).toFixed(1) + ' s' : Math.round(value * 10) / 10 + ' ms'
for (const panels of document.querySelectorAll('.panels')) {
  const all = [...panels.querySelectorAll('.panel')].map((panel) => {
    const svg = panel.querySelector('svg')
    return { panel, svg, points: JSON.parse(svg.dataset.points), output: panel.querySelector('output'),
      cursor: svg.querySelector('.cursor'), left: +svg.dataset.left, right: +svg.dataset.right, span: +svg.dataset.span }
  })
  const leave = () => { for (const { output, cursor } of all) {
    output.textContent = output.dataset.rest; cursor.setAttribute('visibility', 'hidden') } }
  const at = (part) => { for (const { panel, points, output, cursor, left, right, span } of all) {
    const ms = Math.min(1, Math.max(0, (part - left) / (right - left))) * span
    const point = points.filter(([start]) => start <= ms).at(-1) || points[0]
    if (!point) continue
    const x = (left + (ms / span) * (right - left)) * 240
    cursor.setAttribute('x1', x); cursor.setAttribute('x2', x); cursor.setAttribute('visibility', 'visible')
    output.textContent = (ms / 1000).toFixed(1) + ' s: ' + text(panel.dataset.unit, point[1]) } }
  for (const { svg } of all) {
    const move = (event) => { const box = svg.getBoundingClientRect(); at((event.clientX - box.left) / box.width) }
    svg.onpointermove = move; svg.onpointerdown = move; svg.onpointerleave = leave
  }
}
`
