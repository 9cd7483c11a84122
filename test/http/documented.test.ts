// docs/http.md says of every option what the code does.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { httpOptionNames, routeOptionNames } from '../../src/http/rules.ts'

const page = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8')
const sorted = (names: readonly (string | undefined)[]) =>
  names.map(String).toSorted((a, b) => (a < b ? -1 : 1))
const rows = [...page.matchAll(/^\| `(\w+)` \| (yes|) ?\| /gm)].map(([, name, isOfRoute]) => ({
  name,
  isOfRoute: isOfRoute === 'yes',
}))

it('every option has its row, and every row its option', () => {
  expect(sorted(rows.map(({ name }) => name))).toEqual(sorted(httpOptionNames))
})

it('those of a route are called so', () => {
  const ofRoutes = rows.filter(({ isOfRoute }) => isOfRoute).map(({ name }) => name)
  expect(sorted(ofRoutes)).toEqual(sorted(routeOptionNames))
})
