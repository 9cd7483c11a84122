// The shop's three statements. `trending` is the expensive one that everybody caches; `product` is
// the page that merely shares the pool with it; `touch` is the write that makes `trending` wrong.

export interface Trending {
  readonly category: string
  readonly revision: number
  readonly products: readonly TrendingProduct[]
}

export interface TrendingProduct {
  readonly id: number
  readonly name: string
  readonly price_cents: number
  readonly units: number
  readonly revenue_cents: number
  readonly buyers: number
  readonly views: number
  readonly stars: number | null
  readonly score: number
}

/** $1 category, $2 seconds to sleep on top: the snapshot is taken before the sleep. */
export const trendingSql = `
  WITH sold AS (
    SELECT i.product_id, sum(i.quantity) AS units,
      sum(i.quantity * i.unit_price_cents::bigint) AS revenue_cents,
      count(DISTINCT o.customer_id) AS buyers
    FROM orders o JOIN order_items i ON i.order_id = o.id JOIN customers b ON b.id = o.customer_id
    WHERE o.placed_at > now() - interval '30 days' AND o.status <> 'returned'
    GROUP BY i.product_id),
  seen AS (
    SELECT product_id, count(*) AS views FROM page_views
    WHERE viewed_at > now() - interval '30 days' GROUP BY product_id),
  rated AS (
    SELECT product_id, round(avg(stars), 2) AS stars FROM reviews GROUP BY product_id),
  ranked AS (
    SELECT p.id, p.name, p.price_cents, p.category_id, s.units, s.revenue_cents, s.buyers,
      coalesce(v.views, 0) AS views, r.stars,
      percent_rank() OVER (ORDER BY s.buyers) + percent_rank() OVER (ORDER BY s.revenue_cents)
        + percent_rank() OVER (ORDER BY coalesce(v.views, 0)) + coalesce(r.stars, 3) / 5 AS score
    FROM products p JOIN sold s ON s.product_id = p.id
      LEFT JOIN seen v ON v.product_id = p.id LEFT JOIN rated r ON r.product_id = p.id)
  SELECT c.revision, r.id, r.name, r.price_cents, r.units::int, r.revenue_cents::float8,
    r.buyers::int, r.views::int, r.stars::float8, round(r.score::numeric, 4)::float8 AS score
  FROM categories c JOIN ranked r ON r.category_id = c.id
  WHERE c.slug = $1 AND (SELECT pg_sleep($2::float8))::text IS NOT NULL
  ORDER BY r.score DESC LIMIT 20`

export const productSql =
  'SELECT id, name, price_cents, stock, description FROM products WHERE id = $1'

export const touchSql =
  'UPDATE categories SET revision = revision + 1 WHERE slug = $1 RETURNING revision'

/** Rows of `trending` as the value that is cached. */
export function toTrending(
  category: string,
  rows: readonly (TrendingProduct & { revision: number })[],
): Trending {
  return {
    category,
    revision: rows[0]?.revision ?? 0,
    products: rows.map(({ revision: _, ...product }) => product),
  }
}
