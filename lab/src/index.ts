// What the tests take of the lab: its shop, and the processes that serve it.

export { startFleet, type Fleet } from './run/fleet.ts'
export { buildShop, type Shop } from './shop/build-shop.ts'
