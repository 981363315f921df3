-- Statements that Spark and Tarn run side by side, each on a line, Tarn in the namespace tarn and Spark in spark: w stands for
-- both. {rows} are those of one Parquet file, {more} those of another, whose tuples are partly the same. After each
-- statement that changes rows the two tables are compared. Before one with which they differ on purpose stands in what and why.
CREATE TABLE w.v1 ({columns}) USING iceberg TBLPROPERTIES ('format-version'='1')
INSERT INTO w.v1 SELECT * FROM {rows}
CREATE TABLE w.v2 ({columns}) USING iceberg TBLPROPERTIES ('format-version'='2')
INSERT INTO w.v2 SELECT * FROM {rows}
INSERT INTO w.v2 SELECT * FROM {more}
INSERT OVERWRITE w.v2 SELECT * FROM {rows}
CREATE TABLE w.v3 ({columns}) USING iceberg PARTITIONED BY (bucket(4, i)) TBLPROPERTIES ('format-version'='3')
INSERT INTO w.v3 SELECT * FROM {rows}
INSERT INTO w.v3 SELECT * FROM {more}
CREATE TABLE w.copied ({columns}) USING iceberg PARTITIONED BY (bucket(2, i))
INSERT INTO w.copied SELECT * FROM w.v3
CREATE TABLE w.v1parted ({columns}) USING iceberg PARTITIONED BY (s, bucket(2, l)) TBLPROPERTIES ('format-version'='1')
INSERT INTO w.v1parted SELECT * FROM {rows}
CREATE TABLE w.dynamic ({columns}) USING iceberg PARTITIONED BY (truncate(10, i), b)
INSERT INTO w.dynamic SELECT * FROM {rows}
SET spark.sql.sources.partitionOverwriteMode=dynamic
INSERT OVERWRITE w.dynamic SELECT * FROM {more}
SET spark.sql.sources.partitionOverwriteMode=static
INSERT OVERWRITE w.dynamic SELECT * FROM {more} WHERE i > 20
CREATE TABLE w.sorted ({columns}) USING iceberg PARTITIONED BY (bucket(3, s))
ALTER TABLE w.sorted WRITE ORDERED BY bucket(3, s), dec9 DESC NULLS LAST, s
INSERT INTO w.sorted SELECT * FROM {rows}
ALTER TABLE w.sorted WRITE LOCALLY ORDERED BY truncate(1, s) NULLS FIRST, ts, i DESC
INSERT INTO w.sorted SELECT * FROM {more}
CREATE TABLE w.modes (i INT, s STRING, d DOUBLE, st STRUCT<x: INT, y: STRING>) USING iceberg TBLPROPERTIES ('write.metadata.metrics.default'='counts', 'write.metadata.metrics.column.s'='truncate(3)', 'write.metadata.metrics.column.d'='full', 'write.metadata.metrics.column.st.x'='none', 'write.parquet.compression-codec'='gzip')
INSERT INTO w.modes SELECT i, s, d, named_struct('x', i, 'y', s) FROM {rows}
CREATE TABLE w.evolved ({columns}) USING iceberg PARTITIONED BY (days(ts))
INSERT INTO w.evolved SELECT * FROM {rows}
ALTER TABLE w.evolved REPLACE PARTITION FIELD ts_day WITH months(ts)
ALTER TABLE w.evolved ADD PARTITION FIELD bucket(4, dec38)
INSERT INTO w.evolved SELECT * FROM {more}
INSERT INTO w.evolved (i, s) VALUES (1, 'one'), (NULL, NULL)
CREATE TABLE w.branched ({columns}) USING iceberg PARTITIONED BY (s)
INSERT INTO w.branched SELECT * FROM {rows}
ALTER TABLE w.branched CREATE BRANCH b
INSERT INTO w.branched.branch_b SELECT * FROM {more}
