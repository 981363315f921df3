#!/usr/bin/env python3
"""Runs the statements of definitions.sql through Tarn and through Spark, and compares, statement by statement, whether each is
taken and what metadata the table has then: schemas, specs, sort orders, their IDs and numbers, and the properties.

The environment variables are those of interop.py.
"""
import glob
import json
import logging
import os
import re
import shutil
import subprocess
import sys

import interop

# What both say of a table. Spark adds the owner to the properties.
PARTS = ["format-version", "last-column-id", "last-partition-id", "current-schema-id", "default-spec-id", "default-sort-order-id", "schemas", "partition-specs", "sort-orders"]


def statements():
    """Each statement with the reason for which it is to differ, or None."""
    reason = None
    for line in open(os.path.join(interop.HERE, "definitions.sql")):
        line = line.strip()
        if line.startswith("-- differs: "):
            reason = line.removeprefix("-- differs: ")
        elif line and not line.startswith("--"):
            yield line, reason
            reason = None


def metadata(warehouse, statement):
    """What the newest metadata file of the statement's table says; None when there is none."""
    name = re.search(r"TABLE (?:IF NOT EXISTS )?([\w.]+)", statement).group(1)
    versions = {}
    for path in glob.glob(os.path.join(warehouse, *name.split("."), "metadata", "v*.metadata.json")):
        versions[int(re.match(r"v(\d+)", os.path.basename(path)).group(1))] = path
    if not versions:
        return None
    whole = json.load(open(versions[max(versions)]))
    out = {part: whole.get(part) for part in PARTS}
    out["properties"] = {k: v for k, v in whole["properties"].items() if k != "owner"}
    for schema in out["schemas"]:
        schema["identifier-field-ids"] = sorted(schema.get("identifier-field-ids") or [])
    return out


def folder(name):
    path = os.path.join(interop.WORK, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


class Tarn:
    def __init__(self):
        self.warehouse = folder("tarn-definitions")
        self.run("CREATE NAMESPACE d")

    def run(self, statement):
        """The error, or None."""
        done = subprocess.run([interop.TARN, "sql", "-c", statement, "--type", "hadoop", "--warehouse", self.warehouse], capture_output=True, text=True)
        return done.stderr.strip() if done.returncode else None


class Spark:
    def __init__(self):
        from pyspark.sql import SparkSession

        self.warehouse = folder("spark-definitions")
        conf = {
            "spark.driver.extraClassPath": interop.runtime_jar(),
            "spark.driver.host": "localhost",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop",
            "spark.sql.catalog.ice.warehouse": "file://" + self.warehouse,
            "spark.sql.defaultCatalog": "ice",
        }
        builder = SparkSession.builder.master("local[1]").appName("definitions")
        for k, v in conf.items():
            builder = builder.config(k, v)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("OFF")
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)  # statements that are refused are expected
        self.spark.sql("CREATE NAMESPACE d")

    def run(self, statement):
        """The error, or None."""
        try:
            self.spark.sql(statement)
        except Exception as e:
            return str(e).splitlines()[0][:200]


def compare(tarn, spark, statement):
    """In what the two differ, as text."""
    said = [side.run(statement) for side in (tarn, spark)]
    if (said[0] is None) != (said[1] is None):
        return ["tarn says %s, Spark %s" % tuple(s or "nothing" for s in said)]
    has = [metadata(side.warehouse, statement) for side in (tarn, spark)]
    if has[0] is None or has[1] is None:
        return [] if has[0] == has[1] else ["only one has the table"]
    return ["%s: tarn has %s, Spark %s" % (k, json.dumps(has[0][k]), json.dumps(has[1][k])) for k in has[0] if has[0][k] != has[1][k]]


def main():
    os.makedirs(interop.WORK, exist_ok=True)
    if not interop.is_ready():
        interop.bootstrap(__file__)
    tarn, spark = Tarn(), Spark()
    count, failed = 0, 0
    for statement, reason in statements():
        count += 1
        differ = compare(tarn, spark, statement)
        if bool(differ) == bool(reason):
            continue
        failed += 1
        print("DIFFERS: %s\n  %s" % (statement, "\n  ".join(differ) or "not any more, though it should: " + reason), flush=True)
    print("%d statements, %d failed" % (count, failed))
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
