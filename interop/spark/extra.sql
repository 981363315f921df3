-- Queries beside the golden checks, one a line: rules that no golden check is about. Their rows are compared with those
-- that Spark gives by its defaults.

-- A column of the layout that only filters read takes the layout with it, wherever the filter stands.
SELECT a.v AS av, b.v AS bv FROM mix.bd_l a JOIN mix.b_r b ON a.id = b.id WHERE a.ts >= TIMESTAMP '1970-01-02 00:00:00'
SELECT a.v AS av, a.ts, b.v AS bv FROM mix.bd_l a JOIN mix.b_r b ON a.id = b.id WHERE a.ts >= TIMESTAMP '1970-01-02 00:00:00'
SELECT a.v AS av, b.v AS bv FROM mix.bd_l a JOIN mix.b_r b ON a.id = b.id AND a.ts >= TIMESTAMP '1970-01-02 10:00:00'
SELECT a.v AS av, b.v AS bv FROM (SELECT * FROM mix.bd_l WHERE ts >= TIMESTAMP '1970-01-02 00:00:00') a JOIN mix.bd_r b ON a.id = b.id
SELECT a.v AS av, b.v AS bv FROM mix.bd_l a JOIN mix.bd_r b ON a.id = b.id AND a.ts <= b.ts
SELECT a.v AS av, b.v AS bv FROM mix.bd_l a JOIN mix.bd_r b ON a.id = b.id AND a.ts = b.ts WHERE a.ts >= TIMESTAMP '1970-01-02 00:00:00'

-- Columns of the layout that aren't joined, but read.
SELECT a.ts, b.v AS bv FROM mix.bd_l a JOIN mix.b_r b ON a.id = b.id
SELECT a.ts, b.ts AS bts FROM mix.bd_l a LEFT JOIN mix.db_r b ON a.id = b.id
SELECT * FROM mix.bd_l a JOIN mix.bd_r b ON a.id = b.id
SELECT l.b, r.b AS rb FROM keys.two_l l JOIN keys.two_r r ON l.a = r.a

-- More columns than the layout's.
SELECT a.v8, b.v8 AS w FROM mix.b8 a JOIN mix.b8 b ON a.id = b.id AND a.v8 = b.v8
SELECT a.v8, b.v16 FROM mix.b8 a JOIN mix.b16 b ON a.id = b.id AND a.v8 = b.v16

-- A truncate hides the layout from queries that read its column, and from no others.
SELECT a.l, b.v16 FROM fn.vals a JOIN mix.b16 b ON a.l = b.id
SELECT a.l, a.s, b.v16 FROM fn.vals a JOIN mix.b16 b ON a.l = b.id

-- UNION ALL of like and of unlike sides.
SELECT u.id, b.v8 FROM (SELECT id FROM mix.b8 UNION ALL SELECT id FROM mix.b8) u JOIN mix.b8 b ON u.id = b.id
SELECT u.id, b.v8 FROM (SELECT id FROM mix.b8 UNION ALL SELECT id FROM mix.b16) u JOIN mix.b8 b ON u.id = b.id

-- Outer joins that a join above makes inner ones, and those that it doesn't.
SELECT a.v8, c.v8 AS w FROM mix.b8 a LEFT JOIN mix.b8 b ON a.id = b.id JOIN mix.b8 c ON c.id = b.id
SELECT a.v8, c.v8 AS w FROM mix.b8 a LEFT JOIN mix.b8 b ON a.id = b.id LEFT JOIN mix.b8 c ON c.id = b.id
SELECT a.v8, c.v8 AS w FROM mix.b8 a FULL JOIN mix.b8 b ON a.id = b.id JOIN mix.b8 c ON c.id = a.id
SELECT a.v8, c.v8 AS w FROM mix.b8 a RIGHT JOIN mix.b8 b ON a.id = b.id LEFT JOIN mix.b8 c ON c.id = b.id

-- What was shuffled once.
SELECT a.v, c.v8 FROM mix.n_r a JOIN mix.b8 b ON a.id = b.id JOIN mix.b8 c ON c.id = a.id
SELECT a.v, c.v8 FROM mix.n_r a JOIN mix.n_r b ON a.id = b.id JOIN mix.b8 c ON c.id = a.id
SELECT a.v, c.v AS w FROM mix.n_r a JOIN mix.n_r b ON a.id = b.id JOIN mix.n_r c ON c.id = a.id
SELECT a.v7, b.v16, c.v7 AS w FROM mix.b7 a JOIN mix.b16 b ON a.id = b.id JOIN mix.b7 c ON c.id = b.id
SELECT o.order_id, c.tier, p.payment_id FROM shop.orders o JOIN shop.customers_int c ON o.customer_id = c.customer_id JOIN shop.payments p ON p.customer_id = o.customer_id
SELECT f.flag, c.tier, o.order_id FROM shop.few f JOIN shop.customers_int c ON f.customer_id = c.customer_id JOIN shop.orders o ON o.customer_id = f.customer_id
SELECT f.flag, c.tier, o.order_id FROM shop.orders o JOIN shop.customers_int c ON o.customer_id = c.customer_id JOIN shop.few f ON o.customer_id = f.customer_id
SELECT f.flag, c.tier, o.order_id FROM shop.few f LEFT JOIN shop.customers_int c ON f.customer_id = c.customer_id FULL JOIN shop.orders o ON o.customer_id = f.customer_id

-- Groupings, DISTINCT and windows below a join.
SELECT a.v8, g.n FROM mix.b8 a JOIN (SELECT id, count(*) AS n FROM mix.b8 GROUP BY id) g ON a.id = g.id
SELECT a.v8, g.n FROM mix.b8 a JOIN (SELECT id, v8, count(*) AS n FROM mix.b8 GROUP BY id, v8) g ON a.id = g.id
SELECT a.id, g.n FROM mix.b8 a JOIN (SELECT v8, count(*) AS n FROM mix.b8 GROUP BY v8) g ON a.v8 = g.v8
SELECT a.v8, g.id FROM mix.b8 a JOIN (SELECT DISTINCT id FROM mix.b16) g ON a.id = g.id
SELECT a.v8, g.r FROM mix.b8 a JOIN (SELECT id, row_number() OVER (PARTITION BY id ORDER BY v8) AS r FROM mix.b8) g ON a.id = g.id
SELECT a.v8, g.n FROM mix.b8 a JOIN (SELECT x.id, count(*) AS n FROM mix.b8 x JOIN mix.b8 y ON x.id = y.id GROUP BY x.id) g ON a.id = g.id

-- NULL keys on the side that is reduced.
SELECT a.v8, b.v4 FROM mix.b8 a LEFT JOIN mix.b4 b ON a.id = b.id WHERE a.id IS NOT NULL
SELECT a.v4, b.v8 FROM mix.b4 a RIGHT JOIN mix.b8 b ON a.id = b.id
SELECT a.v8 FROM mix.b8 a WHERE NOT EXISTS (SELECT 1 FROM mix.b4 b WHERE b.id = a.id)
SELECT a.v8 FROM mix.b8 a WHERE EXISTS (SELECT 1 FROM mix.b4 b WHERE b.id = a.id)
SELECT a.v4 FROM mix.b4 a WHERE EXISTS (SELECT 1 FROM mix.b8 b WHERE b.id = a.id)
SELECT a.v4 FROM mix.b4 a WHERE a.id IN (SELECT id FROM mix.b8)
SELECT a.v8 FROM mix.b8 a LEFT SEMI JOIN mix.b4 b ON b.id = a.id
SELECT a.v4 FROM mix.b4 a LEFT ANTI JOIN mix.b8 b ON b.id = a.id
SELECT a.v8, c.v4 FROM mix.b8 a LEFT JOIN mix.b8 b ON a.id = b.id JOIN mix.b4 c ON c.id = a.id JOIN mix.b8 d ON d.id = b.id

-- Keys that Spark changes before it compares them, and conditions without a key.
SELECT a.i FROM sch.types a JOIN sch.types b ON a.d = b.d
SELECT a.v8 FROM mix.b8 a JOIN mix.b8 b ON a.id IS NOT DISTINCT FROM b.id
SELECT a.v8 FROM mix.b8 a JOIN mix.b8 b ON a.id = b.id + 1
SELECT a.v8 FROM mix.b8 a JOIN mix.b8 b ON a.id < b.id AND a.v8 < 3
SELECT a.v8 FROM mix.b8 a JOIN mix.b8 b ON a.v8 = b.v8

-- Names without their tables.
SELECT order_id FROM shop.orders WHERE customer_id IN (SELECT customer_id FROM shop.customers)
SELECT order_id, name FROM shop.orders JOIN shop.customers USING (customer_id)
WITH c AS (SELECT customer_id, name FROM shop.customers WHERE region IS NOT NULL) SELECT o.order_id, c.name FROM shop.orders o LEFT JOIN c ON o.customer_id = c.customer_id
