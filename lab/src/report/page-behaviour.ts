// The report's only script: the theme button, and a cursor that reads a whole row of charts at one
// instant. Without it the page loses nothing but these. Charts may be drawn again at any time, so
// they are looked up when somebody points at them.

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
const read = (panel, part) => {
  const svg = panel.querySelector('svg')
  if (!svg) return
  const reading = panel.querySelector('.reading'), cursor = svg.querySelector('.cursor')
  const left = +svg.dataset.left, right = +svg.dataset.right, span = +svg.dataset.span
  if (part === undefined) {
    reading.textContent = reading.dataset.rest
    return cursor.setAttribute('visibility', 'hidden')
  }
  const ms = Math.min(1, Math.max(0, (part - left) / (right - left))) * span
  const points = JSON.parse(svg.dataset.points)
  const point = points.filter(([start]) => start <= ms).at(-1) || points[0]
  if (!point) return
  const x = (left + (ms / span) * (right - left)) * svg.viewBox.baseVal.width
  cursor.setAttribute('x1', x); cursor.setAttribute('x2', x); cursor.setAttribute('visibility', 'visible')
  const at = svg.dataset.until ? ms - span : ms
  reading.textContent = (at / 1000).toFixed(1) + ' s: ' + text(panel.dataset.unit, point[1])
}
let pointed
const move = (event) => {
  const panels = event.target.closest?.('.panels')
  if (pointed && pointed !== panels) for (const panel of pointed.children) read(panel)
  pointed = panels
  if (!panels) return
  const svg = event.target.closest('svg')
  const box = svg?.getBoundingClientRect()
  for (const panel of panels.children) read(panel, svg ? (event.clientX - box.left) / box.width : undefined)
}
document.addEventListener('pointermove', move)
document.addEventListener('pointerdown', move)
document.addEventListener('pointerleave', move)
`
