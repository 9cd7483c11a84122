import { query } from '../source.js'

// Rendered anew after 2 seconds, by one instance; meanwhile all serve the old one.
export const revalidate = 2

export default async function Home() {
  return <p id="text">{await query('home')}</p>
}
