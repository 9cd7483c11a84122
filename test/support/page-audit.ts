// What a page must have for those who do not see it, or not well: looked at in the browser itself.

import type { Page } from 'playwright-core'

/** Text whose contrast to what is behind it is under what WCAG AA asks for. */
export function lowContrast(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const channels = (color: string): number[] => (color.match(/[\d.]+/g) ?? []).map(Number)
    const luminance = (color: string): number => {
      const [r = 0, g = 0, b = 0] = channels(color).map((value) => {
        const part = value / 255
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const behind = (element: Element): string => {
      for (let at: Element | null = element; at !== null; at = at.parentElement) {
        const { backgroundColor } = getComputedStyle(at)
        if ((channels(backgroundColor)[3] ?? 1) > 0) return backgroundColor
      }
      return 'rgb(255,255,255)'
    }
    return [...document.querySelectorAll('body *')].flatMap((element) => {
      const text = [...element.childNodes]
        .filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
        .map(({ textContent }) => textContent?.trim() ?? '')
        .join('')
      if (text === '' || element.tagName === 'NOSCRIPT') return []
      const { color, fill, fontSize, fontWeight } = getComputedStyle(element)
      const ink = element instanceof SVGElement ? fill : color
      const [high = 0, low = 0] = [luminance(ink), luminance(behind(element))].sort((a, b) => b - a)
      const size = Number.parseFloat(fontSize)
      const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700)
      const ratio = (high + 0.05) / (low + 0.05)
      return ratio >= (isLarge ? 3 : 4.5) ? [] : [`${ratio.toFixed(2)}: ${text.slice(0, 40)}`]
    })
  })
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
  return page.evaluate(() => {
    const all = (selector: string): HTMLElement[] => [
      ...document.querySelectorAll<HTMLElement>(selector),
    ]
    const nameOf = (element: Element): string =>
      element.getAttribute('aria-label') ??
      document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent ??
      element.textContent?.trim() ??
      ''
    return {
      language: document.documentElement.lang,
      title: document.title,
      mains: all('main').length,
      headings: all('h1,h2,h3,h4').map(
        ({ tagName, textContent }) => `${tagName[1]} ${textContent}`,
      ),
      nameless: all('button,a,svg[role=img],progress,section,[role=region],[role=log]')
        .filter((element) => nameOf(element) === '')
        .map(({ outerHTML }) => outerHTML.slice(0, 80)),
      liveRegions: all('[aria-live],[role=status],[role=log],[role=alert],output').map(
        ({ id }) => id,
      ),
    }
  })
}
