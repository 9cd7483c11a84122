// Express 4 under an alias, which has no types of its own: what the tests use of it is in those of 5.
declare module 'express4' {
  import express from 'express'
  export default express
}
