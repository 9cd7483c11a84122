/** Positions in the write-ahead log: `16/B374D848` as text, 64 bits inside. */

export function lsnOf(text: string): bigint {
  const [high = '', low = ''] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}
