/**
 * What every implementation of `StorePort` must do, as plain cases for any test runner: each is
 * given a fresh store. Memory and Redis pass the same ones, on every client.
 */
import { busCases } from './store-bus-cases.ts'
import { failureCases } from './store-failure-cases.ts'
import { fillCases } from './store-fill-cases.ts'
import { leaseCases } from './store-lease-cases.ts'
import { tagCases } from './store-tag-cases.ts'
import { tokenCases } from './store-token-cases.ts'
import type { StoreCase } from './store-rig.ts'

export type { StoreCase, StoreRig } from './store-rig.ts'

export const storeCases: readonly StoreCase[] = [
  ...leaseCases,
  ...failureCases,
  ...fillCases,
  ...busCases,
  ...tagCases,
  ...tokenCases,
]
