#!/usr/bin/env python3
"""Changes rows of tables by Tarn and by Spark in turn, in each format and each way to do so. After each statement both read the same
rows, and those are what Spark makes of the same statements alone.

The environment variables are those of interop.py.
"""
import csv
import io
import os
import subprocess
import sys

import definitions
import interop

WAYS = [("2", "copy-on-write"), ("2", "merge-on-read"), ("3", "copy-on-write"), ("3", "merge-on-read")]

# Each with who changes the first table, {t}; {s} is the source.
STEPS = [
    ("tarn", "INSERT INTO {t} SELECT k, v, p FROM {s} WHERE k < 40"),
    ("tarn", "MERGE INTO {t} t USING (SELECT k + 30 AS k, v + 1 AS v, p FROM {s} WHERE k < 30) s ON t.k = s.k WHEN MATCHED AND s.v = 3 THEN DELETE"
     " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"),
    ("spark", "MERGE INTO {t} t USING (SELECT k + 20 AS k, v + 2 AS v, p FROM {s} WHERE k < 50) s ON t.k = s.k WHEN MATCHED AND s.v = 4 THEN DELETE"
     " WHEN MATCHED THEN UPDATE SET v = s.v, p = 7 WHEN NOT MATCHED THEN INSERT *"),
    ("tarn", "MERGE INTO {t} t USING (SELECT k + 10 AS k, v FROM {s} WHERE k < 50) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = t.v + s.v"
     " WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, 100) WHEN NOT MATCHED BY SOURCE AND t.k < 5 THEN DELETE"),
    ("spark", "UPDATE {t} SET v = -1 WHERE k % 10 = 2"),
    ("tarn", "UPDATE {t} SET v = v * 2, p = p + 1 WHERE k % 10 = 3 OR p IS NULL"),
    ("spark", "DELETE FROM {t} WHERE k % 10 = 4"),
    ("tarn", "DELETE FROM {t} WHERE k % 10 = 5 OR p = 1"),
    ("spark", "MERGE INTO {t} t USING {s} s ON t.k = s.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"),
    ("tarn", "DELETE FROM {t} WHERE p IN (0, 2)"),
]


class Tarn:
    def __init__(self, warehouse):
        self.args = ["--type", "hadoop", "--warehouse", warehouse, "--format", "csv"]

    def run(self, *statements):
        calls = [part for s in statements for part in ("-c", s)]
        done = subprocess.run([interop.TARN, "sql"] + calls + self.args, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError("%s: %s" % (statements[-1], done.stderr.strip()))
        return done.stdout

    def rows(self, table):
        rows = list(csv.reader(io.StringIO(self.run("SELECT * FROM " + table))))[1:]
        return [tuple(int(v) if v else None for v in row) for row in rows]


def ordered(rows):
    return sorted(rows, key=lambda row: [(v is not None, v or 0) for v in row])


def main():
    os.makedirs(interop.WORK, exist_ok=True)
    if not interop.is_ready():
        interop.bootstrap(__file__)
    spark = definitions.Spark()
    tarn = Tarn(spark.warehouse)
    count, failed = 0, 0
    spark.spark.sql("CREATE TABLE d.s (k bigint, v bigint, p bigint) USING iceberg PARTITIONED BY (bucket(4, k))")
    spark.spark.sql("INSERT INTO d.s SELECT id, id % 5, id % 3 FROM range(60)")
    for number, (version, mode) in enumerate(WAYS):
        names = {"tarn": "d.t%d" % number, "spark": "d.u%d" % number}
        for who, name in names.items():
            properties = ["'format-version' = '%s'" % version] + ["'write.%s.mode' = '%s'" % (op, mode) for op in ("delete", "update", "merge")]
            define = "CREATE TABLE %s (k bigint, v bigint, p bigint) %s PARTITIONED BY (p, bucket(4, k)) TBLPROPERTIES (%s)"
            tarn.run(define % (name, "USING iceberg", ", ".join(properties)))
        for who, statement in STEPS:
            count += 1
            text = statement.format(t=names["tarn"], s="d.s")
            try:
                if who == "tarn":
                    tarn.run(text)
                else:
                    spark.spark.sql("REFRESH TABLE " + names["tarn"])
                    spark.spark.sql(text)
                spark.spark.sql(statement.format(t=names["spark"], s="d.s"))
                spark.spark.sql("REFRESH TABLE " + names["tarn"])
                read = [ordered(tarn.rows(names["tarn"]))]
                read += [ordered(tuple(r) for r in spark.spark.table(names[w]).collect()) for w in ("tarn", "spark")]
                wrong = "" if read[0] == read[1] == read[2] else "tarn reads %s, Spark %s, and %s of its own" % tuple(read)
                if not read[2]:
                    wrong = "no row is left to compare"
            except Exception as e:
                wrong = str(e)[:500]
            if wrong:
                failed += 1
                print("DIFFERS (format %s, %s): %s\n  %s" % (version, mode, text, wrong), flush=True)
                break
    print("%d statements, %d failed" % (count, failed))
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
