import fc from 'fast-check'

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('~', '#', '$', ':', '_', '\0', '"', '\\', 'é', '€', '\ud83d', '\ude00'),
    fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)),
  ),
})

const name = fc.oneof(
  text,
  fc.constantFrom('__proto__', 'toJSON', 'hasOwnProperty', '~#date', '~#object', ''),
)

/** Whatever every codec for all values keeps. */
export const anyValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    fc.double(),
    fc.integer(),
    fc.bigInt(),
    fc.constantFrom(null, undefined, true, false, -0, NaN),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.float64Array({ maxLength: 3 }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc
      .array(fc.tuple(name, tie('value')), { maxLength: 5 })
      .map((fields) => Object.fromEntries(fields)),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }).map((list) => new Map(list)),
    fc.array(tie('value'), { maxLength: 3 }).map((list) => new Set(list)),
  ),
})).value
