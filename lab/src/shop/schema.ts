// The shop: tables, and rows made on the server with generate_series. Rows that make the trending
// query heavier come in batches of orders, so that calibration can add more of them.

/** Per order: 2.5 items, 4 page views and an eighth of a review, over 60 days. */
export const tables = `
  CREATE TABLE categories (
    id int PRIMARY KEY, slug text NOT NULL UNIQUE, title text NOT NULL,
    revision int NOT NULL DEFAULT 1);
  CREATE TABLE products (
    id int PRIMARY KEY, category_id int NOT NULL REFERENCES categories, name text NOT NULL,
    price_cents int NOT NULL, stock int NOT NULL, description text NOT NULL);
  CREATE TABLE customers (
    id int PRIMARY KEY, name text NOT NULL, country text NOT NULL);
  CREATE TABLE orders (
    id int PRIMARY KEY, customer_id int NOT NULL, placed_at timestamptz NOT NULL,
    status text NOT NULL);
  CREATE TABLE order_items (
    order_id int NOT NULL, product_id int NOT NULL, quantity int NOT NULL,
    unit_price_cents int NOT NULL);
  CREATE TABLE page_views (
    product_id int NOT NULL, viewed_at timestamptz NOT NULL);
  CREATE TABLE reviews (
    product_id int NOT NULL, customer_id int NOT NULL, stars int NOT NULL,
    written_at timestamptz NOT NULL);
`

export const categories = [
  'keyboards', 'mice', 'monitors', 'headphones', 'webcams', 'laptops', 'tablets', 'phones',
  'chargers', 'cables', 'docks', 'speakers', 'microphones', 'printers', 'routers', 'drives',
  'cameras', 'lenses', 'tripods', 'watches', 'lamps', 'chairs', 'desks', 'bags',
] // prettier-ignore

/** The one that everybody asks for. */
export const hotCategory = categories[0] ?? ''

export const productCount = 6000
export const customerCount = 30_000

export const catalogue = `
  INSERT INTO categories (id, slug, title)
    SELECT n, slug, initcap(slug) FROM unnest($1::text[]) WITH ORDINALITY AS c (slug, n);
`

export const stock = `
  INSERT INTO products
    SELECT n, 1 + n % ${categories.length},
      (ARRAY['Quiet','Compact','Pro','Studio','Travel','Classic','Nordic','Solar'])[1 + n % 8]
        || ' ' || (SELECT title FROM categories WHERE id = 1 + n % ${categories.length}) || ' ' || n,
      990 + (random() * 40000)::int, (random() * 500)::int, repeat('Made to last. ', 12)
    FROM generate_series(1, ${productCount}) AS n;
  INSERT INTO customers
    SELECT n, 'Customer ' || n, (ARRAY['DE','FR','IT','PL','ES','NL','SE','CZ'])[1 + n % 8]
    FROM generate_series(1, ${customerCount}) AS n;
`

/** Orders numbered $from … $to with all that hangs on them. Popular products sell more. */
export function ordersBatch(from: number, to: number): string {
  const count = to - from + 1
  const day = (share: string): string => `now() - ${share} * interval '60 days'`
  const product = `1 + (power(random(), 2) * ${productCount - 1})::int`
  const customer = `1 + (random() * ${customerCount - 1})::int`
  return `
    INSERT INTO orders
      SELECT n, ${customer}, ${day('random()')},
        (ARRAY['paid','shipped','delivered','delivered','returned'])[1 + n % 5]
      FROM generate_series(${from}, ${to}) AS n;
    INSERT INTO order_items
      SELECT ${from} + n % ${count}, ${product}, 1 + (random() * 3)::int, 990 + (random() * 40000)::int
      FROM generate_series(1, ${Math.round(count * 2.5)}) AS n;
    INSERT INTO page_views
      SELECT ${product}, ${day('random()')} FROM generate_series(1, ${count * 4}) AS n;
    INSERT INTO reviews
      SELECT ${product}, ${customer}, 1 + (random() * 4)::int, ${day('random()')}
      FROM generate_series(1, ${Math.ceil(count / 8)}) AS n;
  `
}

export const statistics = 'ANALYZE products, customers, orders, order_items, page_views, reviews'
