// What a page must have for those who do not see it, or not well: looked at in the browser itself, by
// scripts that are text here, since tests know no DOM.

import type { Page } from 'playwright-core'

/** Text whose contrast to what is behind it is under what WCAG AA asks for. */
export function lowContrast(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const channels = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number)
    const luminance = (color) => {
      const [r, g, b] = channels(color).map((value) => {
        const part = value / 255
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const behind = (element) => {
      for (let at = element; at !== null; at = at.parentElement) {
        const { backgroundColor } = getComputedStyle(at)
        if ((channels(backgroundColor)[3] ?? 1) > 0) return backgroundColor
      }
      return 'rgb(255,255,255)'
    }
    return [...document.querySelectorAll('body *')].flatMap((element) => {
      const text = [...element.childNodes]
        .filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
        .map(({ textContent }) => textContent.trim())
        .join('')
      if (text === '' || element.tagName === 'NOSCRIPT') return []
      const { color, fill, fontSize, fontWeight } = getComputedStyle(element)
      const ink = element instanceof SVGElement ? fill : color
      const [high, low] = [luminance(ink), luminance(behind(element))].sort((a, b) => b - a)
      const size = Number.parseFloat(fontSize)
      const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700)
      const ratio = (high + 0.05) / (low + 0.05)
      return ratio >= (isLarge ? 3 : 4.5) ? [] : [ratio.toFixed(2) + ': ' + text.slice(0, 40)]
    })
  })()`)
}

export interface Outline {
  readonly language: string
  readonly title: string
  readonly mains: number
  /** As in `2 Now`. */
  readonly headings: readonly string[]
  readonly nameless: readonly string[]
  readonly liveRegions: readonly string[]
}

export function outlineOf(page: Page): Promise<Outline> {
  return page.evaluate<Outline>(`(() => {
    const all = (selector) => [...document.querySelectorAll(selector)]
    const nameOf = (element) =>
      element.getAttribute('aria-label') ??
      document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent ??
      element.textContent.trim()
    return {
      language: document.documentElement.lang,
      title: document.title,
      mains: all('main').length,
      headings: all('h1,h2,h3,h4').map(({ tagName, textContent }) => tagName[1] + ' ' + textContent),
      nameless: all('button,a,svg[role=img],progress,main > section,[role=region],[role=log]')
        .filter((element) => nameOf(element) === '')
        .map(({ outerHTML }) => outerHTML.slice(0, 80)),
      liveRegions: all('[aria-live],[role=status],[role=log],[role=alert],output').map(({ id }) => id),
    }
  })()`)
}

/** What has the focus, and the outline that shows it: as in `kill-redis solid`. */
export function focusOf(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const at = document.activeElement
    const name = at.dataset.action ?? (at.id || at.className)
    return name + ' ' + getComputedStyle(at).outlineStyle
  })()`)
}

export function backgroundOf(page: Page): Promise<string> {
  return page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
}

/** By how many pixels the page is wider than its window, and how many buttons than their text. */
export function cutOff(page: Page): Promise<{ page: number; buttons: number }> {
  return page.evaluate<{ page: number; buttons: number }>(`({
    page: document.documentElement.scrollWidth - innerWidth,
    buttons: [...document.querySelectorAll('button')].filter(
      ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
    ).length,
  })`)
}
