export { faults, type Fault } from './faults.ts'
export { Fleet, type FleetOptions } from './fleet.ts'
export { findings, oneLoad } from './judge.ts'
export { leaseMs } from './messages.ts'
