// For type tests: `is<Same<typeof x, string>>(true)` compiles only if the two types are the same,
// `any` and `unknown` told apart from everything else.

export type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

export function is<Expected extends boolean>(_: Expected): void {}
