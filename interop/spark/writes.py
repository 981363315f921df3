#!/usr/bin/env python3
"""Fills tables with Tarn, and their twins with Spark by the same statements, and compares.

After each statement of writes.sql that changes rows, and for a table by each transform of each type:

1. Spark reads Tarn's table as Tarn does, and so it reads its metadata table files.
2. The rows are those of the twin. So are each partition's counts and bounds in the metadata table files.
3. The summary of the newest snapshot is that of the twin, but for the keys of OWN.

What differs in these on purpose is said in OWN, COUNTED and ZEROS.

Then Tarn makes tables of folders that Spark wrote, in place and apart, which Spark must read as the folders. And Spark joins two tables
that Tarn made and filled, and must not shuffle them.

The environment variables are those of interop.py.
"""
import json
import logging
import os
import re
import shutil
import subprocess
import sys

import interop

# What summaries may differ in.
OWN = {
    "spark.app.id": "Spark's own", "app-name": "Spark's own", "engine-name": "the writer's name", "engine-version": "its version", "app-id": "Spark's own", "iceberg-version": "its library",
    "added-files-size": "files of the same rows differ in bytes", "removed-files-size": "likewise", "total-files-size": "likewise",
}
# The columns of the metadata table files that twins agree on: paths, sizes and offsets are each file's own. They are compared
# as COUNTED and ZEROS say.
TWIN = ["content", "spec_id", "partition", "record_count", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds", "sort_order_id"]

# Tarn also counts values within lists and maps, which Spark doesn't; what it counts else must be the same.
COUNTED = ["value_counts", "null_value_counts", "nan_value_counts"]
# A bound of zero is the lesser of the two zeros below and the greater above in Tarn's, as Parquet wants it, and as it came in Spark's.
ZEROS = {"00000080": "00000000", "0000000000000080": "0000000000000000"}

COLUMNS = """i INT, l BIGINT, f FLOAT, d DOUBLE, b BOOLEAN, dec9 DECIMAL(9,2), dec18 DECIMAL(18,4), dec38 DECIMAL(38,3), s STRING, bin BINARY,
dt DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, st STRUCT<x: INT, y: ARRAY<STRING>>, m MAP<STRING, BIGINT>, a ARRAY<STRUCT<k: INT, v: DOUBLE>>""".replace("\n", " ")

# Rows that differ from each other in all columns, NULLs, NaN and values before 1970 among them.
ROWS = """SELECT CASE WHEN i % 11 <> 3 THEN i * 7 - 100 END::INTEGER AS i, i * 10000000000 - 5 AS l,
CASE i % 9 WHEN 0 THEN 'nan'::FLOAT WHEN 1 THEN NULL ELSE i / 4 - 2 END::FLOAT AS f, CASE i % 7 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN '-0.0'::DOUBLE ELSE i / 8 END AS d, i % 3 = 0 AS b,
(i * 1.25 - 17)::DECIMAL(9,2) AS dec9, (i * -100.0625)::DECIMAL(18,4) AS dec18, CASE WHEN i % 4 > 0 THEN i * 12345678901234567890.125 END::DECIMAL(38,3) AS dec38,
CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'a/b=c %' ELSE 'größer 😀 ' || i % 10 || ' than sixteen signs' END AS s,
CASE i % 3 WHEN 0 THEN unhex('00FF') WHEN 1 THEN unhex('') ELSE unhex('61' || '6263') END AS bin,
DATE '1969-12-28' + i::INTEGER AS dt, TIMESTAMPTZ '1969-12-31 20:30:00.000001+00' + to_hours(i) AS ts, TIMESTAMP '1969-12-30 23:59:59.999999' + to_hours(i * 13) AS tn,
CASE WHEN i % 6 > 0 THEN {'x': i::INTEGER, 'y': ['a', NULL, 's' || i]} END AS st, CASE WHEN i % 6 > 1 THEN MAP {'k' || i: i, 'z': NULL} END AS m, [{'k': i::INTEGER, 'v': i / 2}, NULL] AS a
FROM range(%d, %d) AS r(i)"""

# A table by each of these, the transforms on each type.
FIELDS = """bucket(4, i)|bucket(4, l)|bucket(4, dec9)|bucket(4, dec18)|bucket(4, dec38)|bucket(4, s)|bucket(4, bin)|bucket(4, dt)|bucket(4, ts)|bucket(4, tn)|bucket(4, st.x)
truncate(10, i)|truncate(1000000000, l)|truncate(500, dec9)|truncate(99, dec18)|truncate(100000000, dec38)|truncate(2, s)|truncate(1, bin)
years(dt)|months(dt)|days(dt)|years(ts)|months(ts)|days(ts)|hours(ts)|years(tn)|months(tn)|days(tn)|hours(tn)
i|l|b|dec9|dec18|dec38|s|bin|dt|ts|tn|st.x""".replace("\n", "|").split("|")


def rendered(fault):
    return str(fault).strip().splitlines()[0][:300]


def attempt(compare, *args):
    """What a comparison finds wrong, or that it fails."""
    try:
        return compare(*args)
    except Exception as e:  # whatever Spark throws
        return [rendered(e)]


class Tarn:
    """Tarn as a program: settings are given to each statement that follows."""

    def __init__(self, warehouse):
        self.flags, self.settings = ["--type", "hadoop", "--warehouse", warehouse], []

    def call(self, *statements, flags=()):
        args = [x for s in self.settings + list(statements) for x in ("-c", s)]
        done = subprocess.run([interop.TARN, "sql", *args, *self.flags, *flags], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def run(self, statement):
        if statement.startswith("SET "):
            self.settings = [statement]
        else:
            self.call(statement)

    def rows(self, *queries):
        """Column names and rows of each query."""
        lines = self.call(*queries, flags=["--format", "json"]).strip().splitlines()
        for out in map(json.loads, lines[-len(queries):]):
            yield [c["name"] for c in out["columns"]], out["rows"]


class Spark:
    def __init__(self, warehouse):
        from pyspark.sql import SparkSession

        conf = {
            "spark.driver.memory": "1g",
            "spark.driver.extraClassPath": interop.runtime_jar(),
            "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
            "spark.driver.host": "localhost",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop",
            "spark.sql.catalog.ice.warehouse": "file://" + warehouse,
            "spark.sql.catalog.ice.cache-enabled": "false",
            "spark.sql.defaultCatalog": "ice",
        }
        builder = SparkSession.builder.master("local[2]").appName("writes")
        for k, v in conf.items():
            builder = builder.config(k, v)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("OFF")
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)

    def run(self, statement):
        self.spark.sql(statement)

    def rows(self, *queries):
        import rows

        for query in queries:
            df = self.spark.sql(query)
            yield df.columns, rows.collected(df)


def plain(v):
    """A value of either in one form: times with the fraction that they have, paths without their scheme, maps as sorted
    lists of entries, and an empty map as none."""
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, list):
        if v and all(isinstance(x, list) and len(x) == 2 for x in v):
            v = sorted(v, key=json.dumps)
        return [plain(x) for x in v]
    if isinstance(v, str):
        if re.fullmatch(r"-?\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?(\+00)?", v):
            v = v.removesuffix("+00")
            return v.rstrip("0").rstrip(".") if "." in v else v
        return re.sub("^file:/+", "/", v)
    return v


def texts(columns, values, wanted=None):
    """Rows as sorted texts; wanted are the columns, in the order of their names."""
    import rows

    names = sorted(set(columns) & set(wanted or columns))  # without a spec files have no partition
    at = [columns.index(n) for n in names]
    return sorted(json.dumps({n: rows.loose(plain(r[i])) for n, i in zip(names, at)}, sort_keys=True, ensure_ascii=False) for r in values)


def repeated(t, inside=False):
    """The IDs of all fields within lists and maps of a type, as metadata files write it."""
    if not isinstance(t, dict):
        return set()
    kind = t["type"]
    fields = t["fields"] if kind == "struct" else []
    own = {"list": [("element-id", "element")], "map": [("key-id", "key"), ("value-id", "value")]}.get(kind, [])
    out = {f["id"] for f in fields} if inside else set()
    for f in fields:
        out |= repeated(f["type"], inside)
    for number, part in own:
        out |= {t[number]} | repeated(t[part], True)
    return out


def twins(columns, values, left_out):
    """The rows of a metadata table files as twins agree on them, but for fields of IDs that are left out."""
    out = []
    for row in values:
        row = list(row)
        for at, name in enumerate(columns):
            if name in COUNTED:
                row[at] = [e for e in plain(row[at] or []) if e[0] not in left_out]
            elif name in ("lower_bounds", "upper_bounds"):
                row[at] = [[k, ZEROS.get(v, v)] for k, v in plain(row[at] or [])]
            elif name == "sort_order_id":
                row[at] = row[at] or 0  # Spark writes that there is none
        out.append(row)
    return texts(columns, out, TWIN)


def unlike(a, b, whose):
    """In what two lists of texts differ, as text."""
    if a == b:
        return []
    only = [next((t for t in x if t not in y), "") for x, y in ((a, b), (b, a))]
    return ["%s: %d and %d rows, such as\n    %s\n    %s" % (whose, len(a), len(b), only[0][:1500], only[1][:1500])]


class Comparison:
    def __init__(self, tarn, spark, warehouse):
        self.tarn, self.spark, self.warehouse = tarn, spark, warehouse

    def read(self, name, of_files="*"):
        """Tarn's table and its metadata table files, or some columns of it, as Spark reads them, and in what they differ from what
        Tarn says."""
        ours, base = "tarn." + name, name.split(".branch_")[0]
        queries = ["SELECT * FROM " + ours, "SELECT %s FROM tarn.%s.files" % (of_files, base)]
        if self.metadata("tarn", base)["format-version"] >= 3:
            queries.append("SELECT _row_id, _last_updated_sequence_number, l FROM " + ours)
        seen, wrong = list(self.spark.rows(*queries)), []
        for query, said, read in zip(queries, self.tarn.rows(*queries), seen):
            wrong += unlike(texts(*said, read[0]), texts(*read), query + ", Tarn's and as Spark reads it")
        return seen[0], seen[1], wrong

    def table(self, name):
        """In what Tarn's table differs from what Spark reads of it, and from its twin."""
        rows, files, wrong = self.read(name)
        base = name.split(".branch_")[0]
        twin_rows, twin_files = self.spark.rows("SELECT * FROM spark." + name, "SELECT * FROM spark.%s.files" % base)
        wrong += unlike(texts(*rows), texts(*twin_rows), "rows, Tarn's and the twin's")
        left_out = set().union(*(repeated(s) for s in self.metadata("tarn", base)["schemas"]))
        wrong += unlike(twins(*files, left_out), twins(*twin_files, left_out), "files, Tarn's and the twin's")
        return wrong + self.summaries(base)

    def metadata(self, namespace, name):
        folder = os.path.join(self.warehouse, namespace, name, "metadata")
        newest = max((f for f in os.listdir(folder) if f.endswith(".metadata.json")), key=lambda f: int(re.match(r"v(\d+)", f).group(1)))
        return json.load(open(os.path.join(folder, newest)))

    def summaries(self, name):
        both = [max(self.metadata(n, name)["snapshots"], key=lambda s: s["timestamp-ms"])["summary"] for n in ("tarn", "spark")]
        keys = sorted(both[0].keys() | both[1].keys())
        return ["summary, %s: Tarn has %s, Spark %s" % (k, both[0].get(k), both[1].get(k)) for k in keys if k not in OWN and both[0].get(k) != both[1].get(k)]


def script():
    """The statements, each with the reason for which it differs, or None, and the table that it changed the rows of, or None."""
    reason = None
    for line in open(os.path.join(interop.HERE, "writes.sql")):
        line = line.strip()
        if line.startswith("-- differs: "):
            reason = line.removeprefix("-- differs: ")
        elif line and not line.startswith("--"):
            changed = re.match(r"INSERT (?:INTO|OVERWRITE) w\.([\w.]+)", line)
            yield line, reason, changed and changed.group(1)
            reason = None
    for at, field in enumerate(FIELDS):
        name = "by%d" % at
        yield "CREATE TABLE w.%s ({columns}) USING iceberg PARTITIONED BY (%s)" % (name, field), None, None
        yield "INSERT INTO w.%s SELECT * FROM {rows}" % name, None, name


def without_twin(tarn, compare):
    """Fills a table of a type that Spark reads, and makes no tables of; what is wrong, as text."""
    tarn.run("CREATE TABLE tarn.uuids (k INT, u UUID) USING iceberg PARTITIONED BY (bucket(4, u))")
    tarn.run("INSERT INTO tarn.uuids VALUES (1, 'f79c3e09-677c-4bbd-a479-3f349cb785e7'), (2, '00000000-0000-0000-0000-000000000001'), (3, NULL)")
    # Spark fails on what else has UUIDs as values there: readable_metrics, and a partition by a UUID itself.
    return compare.read("uuids", "content, file_path, spec_id, partition, record_count, file_size_in_bytes, " + ", ".join(COUNTED) + ", lower_bounds, upper_bounds")[2]


def of_folders(tarn, spark, compare, source):
    """Has Tarn make tables of folders of Parquet files that Spark wrote; what is wrong, as text."""
    import rows

    wrong = []
    for procedure, timestamps in (("snapshot", "INT96"), ("migrate", "TIMESTAMP_MICROS")):
        name = "by_" + procedure
        folder = os.path.join(compare.warehouse, "tarn", name) if procedure == "migrate" else os.path.join(interop.WORK, "folder")
        shutil.rmtree(folder, ignore_errors=True)
        spark.spark.conf.set("spark.sql.parquet.outputTimestampType", timestamps)
        written = spark.spark.sql("SELECT *, i %% 3 AS part, trunc(dt, 'month') AS month FROM parquet.`%s`" % source).drop("dt")
        written.write.partitionBy("month", "part", "s").parquet(folder)
        tarn.run("CALL system.%s(%stable => 'tarn.%s')" % (procedure, "source_table => '%s', " % folder if procedure == "snapshot" else "", name))
        seen, _, unread = compare.read(name)
        # By the folders of partitions: in place, the table's metadata lies beside them by now.
        meant = spark.spark.read.option("basePath", folder).parquet(os.path.join(folder, "month=*"))
        wrong += unread + unlike(texts(*seen), texts(meant.columns, rows.collected(meant)), "rows of %s and of its folder" % name)
    return wrong


def unshuffled(tarn, spark):
    """Has Spark join two tables of Tarn's without a shuffle; what is wrong, as text."""
    import plans

    for name, query in (("orders", "SELECT i AS id, i % 1000 AS customer, i * 1.5 AS amount FROM range(20000) AS r(i)"), ("customers", "SELECT i AS customer, 'c' || i AS name FROM range(1000) AS r(i)")):
        columns = "id BIGINT, customer BIGINT, amount DOUBLE" if name == "orders" else "customer BIGINT, name STRING"
        tarn.run("CREATE TABLE tarn.%s (%s) USING iceberg PARTITIONED BY (bucket(8, customer))" % (name, columns))
        tarn.run("INSERT INTO tarn.%s %s" % (name, query))
    for name, v in interop.SETTINGS.items():
        spark.spark.conf.set(name, v)
    spark.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.spark.conf.set("spark.sql.adaptive.enabled", "false")
    query = "SELECT o.id, o.amount, c.name FROM tarn.orders o JOIN tarn.customers c ON o.customer = c.customer"
    seen = [shuffle for _, shuffle in plans.joins(plans.root(spark.spark.sql(query), False))]
    wrong = [] if seen == ["none"] else ["Spark's plan has %s" % seen]
    said, read = *tarn.rows(query), *spark.rows(query)
    return wrong + unlike(texts(*said), texts(*read), "rows of the join")


def main():
    os.makedirs(interop.WORK, exist_ok=True)
    if not interop.is_ready():
        interop.bootstrap(__file__)
    warehouse = os.path.join(interop.WORK, "writes")
    shutil.rmtree(warehouse, ignore_errors=True)
    os.makedirs(warehouse)
    tarn, spark = Tarn(warehouse), Spark(warehouse)
    tarn.run("CREATE NAMESPACE tarn")
    spark.run("CREATE NAMESPACE spark")
    sources = {}
    for name, span in (("rows", (0, 60)), ("more", (40, 75))):
        sources[name] = os.path.join(interop.WORK, name + ".parquet")
        text = ROWS.replace("range(%d, %d)", "range(%d, %d)" % span)
        subprocess.run([interop.TARN, "sql", "-c", text, "--format", "parquet", "-o", sources[name], *tarn.flags], check=True)
    compare = Comparison(tarn, spark, warehouse)
    count, failed = 0, 0

    def tell(what, wrong, reason=None):
        nonlocal count, failed
        count += 1
        if bool(wrong) != bool(reason):
            failed += 1
            print("DIFFERS: %s\n  %s" % (what, "\n  ".join(wrong) or "not any more, though it should: " + reason), flush=True)

    for statement, reason, changed in script():
        text = statement.replace("{columns}", COLUMNS)
        wrong = []
        for side, namespace, source in ((tarn, "tarn.", "read_parquet('%s')"), (spark, "spark.", "parquet.`%s`")):
            own = re.sub(r"\bw\.", namespace, text)
            for name, path in sources.items():
                own = own.replace("{%s}" % name, source % path)
            if side is tarn:
                own = own.replace("named_struct('x', i, 'y', s)", "{'x': i, 'y': s}")
            try:
                side.run(own)
            except Exception as e:  # whatever Spark throws
                wrong.append("%s says %s" % (namespace.rstrip("."), rendered(e)))
        if changed and not wrong:
            wrong = attempt(compare.table, changed)
        tell(statement, wrong, reason)
    tell("a table of UUIDs", attempt(without_twin, tarn, compare))
    tell("tables of folders that Spark wrote", attempt(of_folders, tarn, spark, compare, sources["rows"]))
    tell("a join of two of Tarn's tables", attempt(unshuffled, tarn, spark))
    print("%d statements, %d failed" % (count, failed))
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
