-- Statements that Spark and Tarn run side by side, each on a line. Before one with which they differ on purpose stands why.
CREATE TABLE d.cols (id BIGINT NOT NULL COMMENT 'the key', s STRUCT<a: INT NOT NULL, b: ARRAY<MAP<STRING, DOUBLE>>> NOT NULL, ts TIMESTAMP, d DATE, f FLOAT) USING iceberg PARTITIONED BY (bucket(16, id), days(ts)) COMMENT 'what' TBLPROPERTIES ('p'='q')
ALTER TABLE d.cols ADD COLUMNS (s.c DECIMAL(9,2) FIRST, x STRING COMMENT 'y' AFTER id)
ALTER TABLE d.cols ADD COLUMN s.b.element.value2 INT
ALTER TABLE d.cols RENAME COLUMN s.a TO aa
ALTER TABLE d.cols ALTER COLUMN s.c TYPE DECIMAL(12,2)
ALTER TABLE d.cols ALTER COLUMN f TYPE DOUBLE
ALTER TABLE d.cols ALTER COLUMN x COMMENT 'z'
ALTER TABLE d.cols ALTER COLUMN d FIRST
ALTER TABLE d.cols ALTER COLUMN d AFTER x
ALTER TABLE d.cols SET IDENTIFIER FIELDS id, s.aa
ALTER TABLE d.cols DROP IDENTIFIER FIELDS s.aa
ALTER TABLE d.cols DROP COLUMN x
ALTER TABLE d.cols DROP COLUMN id
ALTER TABLE d.cols DROP COLUMN ts
ALTER TABLE d.cols ALTER COLUMN f TYPE FLOAT
ALTER TABLE d.cols ALTER COLUMN d SET NOT NULL
ALTER TABLE d.cols ALTER COLUMN id DROP NOT NULL
ALTER TABLE d.cols ADD COLUMN ID INT
ALTER TABLE d.cols ADD COLUMN n INT NOT NULL
ALTER TABLE d.cols SET TBLPROPERTIES ('a'='1', 'format-version'='3')
ALTER TABLE d.cols SET TBLPROPERTIES ('format-version'='2')
ALTER TABLE d.cols UNSET TBLPROPERTIES ('p')
CREATE TABLE d.lay (customer_id BIGINT, name STRING, ts TIMESTAMP_NTZ, s STRUCT<x: INT>) USING iceberg PARTITIONED BY (bucket(64, customer_id))
ALTER TABLE d.lay WRITE ORDERED BY bucket(64, customer_id), customer_id
ALTER TABLE d.lay WRITE LOCALLY ORDERED BY days(ts) DESC NULLS FIRST, name ASC NULLS LAST, s.x DESC
ALTER TABLE d.lay WRITE DISTRIBUTED BY PARTITION
ALTER TABLE d.lay WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY customer_id
ALTER TABLE d.lay WRITE UNORDERED
ALTER TABLE d.lay WRITE ORDERED BY bucket(64, customer_id), customer_id
ALTER TABLE d.lay ADD PARTITION FIELD truncate(4, name) AS prefix
ALTER TABLE d.lay ADD PARTITION FIELD truncate(6, name)
ALTER TABLE d.lay ADD PARTITION FIELD s.x
ALTER TABLE d.lay REPLACE PARTITION FIELD bucket(64, customer_id) WITH bucket(32, customer_id)
ALTER TABLE d.lay DROP PARTITION FIELD prefix
ALTER TABLE d.lay ADD PARTITION FIELD truncate(4, name)
ALTER TABLE d.lay DROP PARTITION FIELD truncate(4, name)
ALTER TABLE d.lay ADD PARTITION FIELD truncate(4, name) AS other
ALTER TABLE d.lay REPLACE PARTITION FIELD other WITH truncate(4, name) AS third
ALTER TABLE d.lay REPLACE PARTITION FIELD truncate(6, name) WITH truncate(8, name) AS name_trunc_6
ALTER TABLE d.lay ADD PARTITION FIELD bucket(32, customer_id)
ALTER TABLE d.lay ADD PARTITION FIELD days(ts)
ALTER TABLE d.lay REPLACE PARTITION FIELD ts_day WITH hours(ts)
ALTER TABLE d.lay DROP PARTITION FIELD gone
ALTER TABLE d.lay ADD PARTITION FIELD name AS customer_id
ALTER TABLE d.lay DROP COLUMN name
ALTER TABLE d.lay RENAME COLUMN customer_id TO cid
CREATE TABLE d.one (ts TIMESTAMP, s STRING, r STRING) USING iceberg PARTITIONED BY (bucket(2, s), r) TBLPROPERTIES ('format-version'='1')
ALTER TABLE d.one ADD PARTITION FIELD years(ts)
ALTER TABLE d.one DROP PARTITION FIELD years(ts)
ALTER TABLE d.one ADD PARTITION FIELD months(ts)
ALTER TABLE d.one DROP PARTITION FIELD ts_month
ALTER TABLE d.one ADD PARTITION FIELD days(ts)
ALTER TABLE d.one DROP PARTITION FIELD s_bucket
ALTER TABLE d.one ADD PARTITION FIELD bucket(2, s) AS s_bucket
ALTER TABLE d.one REPLACE PARTITION FIELD s_bucket WITH bucket(4, s) AS s_bucket
ALTER TABLE d.one ADD PARTITION FIELD truncate(4, s) AS ts_year
ALTER TABLE d.one DROP PARTITION FIELD r
ALTER TABLE d.one SET TBLPROPERTIES ('format-version'='2')
ALTER TABLE d.one DROP PARTITION FIELD ts_day
-- differs: Spark gives the field the ID of the void one, which stays beside it
ALTER TABLE d.one ADD PARTITION FIELD r
CREATE TABLE d.rep (a INT, b STRING, c INT, st STRUCT<x: INT, y: STRING>) USING iceberg PARTITIONED BY (a, b) TBLPROPERTIES ('k'='1')
ALTER TABLE d.rep WRITE ORDERED BY a
CREATE OR REPLACE TABLE d.rep (b STRING, a BIGINT, st STRUCT<y: STRING, z: INT>) USING iceberg PARTITIONED BY (b, bucket(4, a)) TBLPROPERTIES ('m'='2')
CREATE OR REPLACE TABLE d.rep (a BIGINT, b STRING) USING iceberg PARTITIONED BY (bucket(4, a))
CREATE TABLE d.rone (a INT, b STRING) USING iceberg PARTITIONED BY (a, bucket(4, b)) TBLPROPERTIES ('format-version'='1')
CREATE OR REPLACE TABLE d.rone (a INT, b STRING) USING iceberg PARTITIONED BY (bucket(4, b), bucket(8, a))
CREATE TABLE d.types (a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(38,10), i DATE, j TIMESTAMP, k TIMESTAMP_NTZ, l STRING, m VARCHAR(5), n CHAR(3), o BINARY, p ARRAY<INT>, q MAP<STRING, BIGINT>, r STRUCT<x: INT COMMENT 'in'>) USING iceberg PARTITIONED BY (truncate(3, l), hours(j), years(i), bucket(7, h), r.x)
CREATE TABLE d.types (a INT) USING iceberg
CREATE TABLE IF NOT EXISTS d.types (a INT) USING iceberg
CREATE TABLE d.bad1 (a INT, A INT) USING iceberg
CREATE TABLE d.bad2 (a TIMESTAMP) USING iceberg PARTITIONED BY (days(a), hours(a))
CREATE TABLE d.bad3 (a INT, a_bucket INT) USING iceberg PARTITIONED BY (bucket(4, a))
CREATE TABLE d.v3 (a INT, v VARIANT, t TIMESTAMP) USING iceberg TBLPROPERTIES ('format-version'='3')
ALTER TABLE d.v3 ADD COLUMN w VARIANT
CREATE TABLE d.two (ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts))
-- differs: a second time transform of a column says nothing that the finer one doesn't
ALTER TABLE d.two ADD PARTITION FIELD hours(ts)
CREATE TABLE d.gone (a INT, b INT) USING iceberg PARTITIONED BY (a) TBLPROPERTIES ('format-version'='1')
ALTER TABLE d.gone DROP PARTITION FIELD a
-- differs: Spark couldn't write to the table any more
ALTER TABLE d.gone DROP COLUMN a
CREATE TABLE d.retyped (a INT, b STRING) USING iceberg
-- differs: the types of one ID only widen
CREATE OR REPLACE TABLE d.retyped (a STRING, b STRING) USING iceberg
