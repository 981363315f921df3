#!/usr/bin/env python3
"""Compares what tarn check says of Spark with what Spark does, on the golden tables.

Without pyspark 4.1 it makes a virtual environment first, with the packages of requirements.txt, and fetches the Iceberg
runtime from Maven. It needs Java 17 and reads the tables where they lie. Environment variables:

  TARN             the tarn program (default: built into the work folder by make interop-spark)
  INTEROP_DIR      the work folder (default: .interop/spark below the repository)
  ICEBERG_VERSION  the runtime's version (default: 1.12.0)
  ICEBERG_JAR      the runtime itself, in place of a fetch
  INTEROP_SECONDS  how long the checks may take together (default: 840)
  MAVEN_URL        where to fetch it from when there is no mvn (default: https://repo1.maven.org/maven2)

pip's own variables say where packages come from. Arguments are the IDs of checks, or their beginnings (default: all).
"""
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
GOLDEN = os.path.join(REPO, "testdata", "golden")
WAREHOUSE = os.path.join(GOLDEN, "warehouse")
WORK = os.environ.get("INTEROP_DIR") or os.path.join(REPO, ".interop", "spark")
TARN = os.environ.get("TARN") or os.path.join(WORK, "tarn")
ICEBERG = os.environ.get("ICEBERG_VERSION") or "1.12.0"
SPARK_LINE = "4.1"

BUCKETING = "spark.sql.sources.v2.bucketing."
# The settings that tarn check knows, and their values that let a join do without a shuffle.
SETTINGS = {
    "spark.sql.iceberg.planning.preserve-data-grouping": "true",
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    BUCKETING + "allowJoinKeysSubsetOfPartitionKeys.enabled": "true",
    BUCKETING + "allowCompatibleTransforms.enabled": "true",
    BUCKETING + "shuffle.enabled": "true",
}
# What Spark does with all settings on where tarn check warns by a rule, the worst first.
HAZARDS = {"spark-loses-rows": "wrong", "spark-null-fails": "fails", "spark-shuffled-parts": "fails"}
# How long all checks together may take, in seconds: what is left then is told, and fails.
BUDGET = int(os.environ.get("INTEROP_SECONDS") or 840)
# One check of so many is looked at closer.
CLOSER = 8


def is_ready():
    """Whether this Python has the Spark that the rules are of."""
    try:
        import pyspark
    except ImportError:
        return False
    return pyspark.__version__.startswith(SPARK_LINE + ".")


def bootstrap(script=__file__):
    """Goes on with the script in the virtual environment."""
    home = os.path.join(WORK, "venv")
    if sys.prefix == os.path.realpath(home):
        sys.exit("%s has no pyspark %s; remove the folder to make it anew" % (home, SPARK_LINE))
    python = os.path.join(home, "bin", "python")
    if not os.path.exists(python):
        venv.create(home, with_pip=True)
    subprocess.check_call([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", os.path.join(HERE, "requirements.txt")])
    os.execv(python, [python, os.path.abspath(script)] + sys.argv[1:])


def runtime_jar():
    if os.environ.get("ICEBERG_JAR"):
        return os.environ["ICEBERG_JAR"]
    group, artifact = "org.apache.iceberg", "iceberg-spark-runtime-%s_2.13" % SPARK_LINE
    name = "%s-%s.jar" % (artifact, ICEBERG)
    jar = os.path.join(WORK, name)
    if os.path.exists(jar):
        return jar
    if shutil.which("mvn"):
        subprocess.check_call(["mvn", "-q", "dependency:copy", "-Dartifact=%s:%s:%s" % (group, artifact, ICEBERG), "-DoutputDirectory=" + WORK], cwd=WORK)
        return jar
    url = "/".join([os.environ.get("MAVEN_URL") or "https://repo1.maven.org/maven2", group.replace(".", "/"), artifact, ICEBERG, name])
    part = jar + ".part"
    with urllib.request.urlopen(url, timeout=300) as answer, open(part, "wb") as out:
        shutil.copyfileobj(answer, out)
    os.rename(part, jar)
    return jar


def session(jar):
    from pyspark.sql import SparkSession

    view = "spark.hadoop.fs.viewfs."
    conf = {
        "spark.driver.memory": "2g",
        "spark.driver.extraClassPath": jar,
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.warehouse.dir": os.path.join(WORK, "spark-warehouse"),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": "file:///warehouse",
        "spark.sql.defaultCatalog": "ice",
        # The tables' metadata says that they lie in file:/warehouse. Hadoop's view of the file system shows them there.
        "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme",
        view + "overload.scheme.target.file.impl": "org.apache.hadoop.fs.LocalFileSystem",
        view + "mounttable.default.link./warehouse": "file://" + WAREHOUSE,
        view + "mounttable.default.linkFallback": "file:///",
    }
    builder = SparkSession.builder.master("local[2]").appName("interop")
    for k, v in conf.items():
        builder = builder.config(k, v)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("FATAL")
    return spark


def checks():
    """The golden checks that are joins or groupings, but for those of broken tables and of other catalogs, and the queries
    of extra.sql."""
    found = []
    for c in json.load(open(os.path.join(GOLDEN, "INDEX.json")))["checks"]:
        if c.get("spark_spj") is None or c["kind"] == "k12":
            continue
        full = json.load(open(os.path.join(GOLDEN, "expected", c["id"] + ".json")))
        if "rows" in full and not full.get("catalog"):
            found.append(full)
    for number, line in enumerate(open(os.path.join(HERE, "extra.sql")), 1):
        if line.strip() and not line.startswith("--"):
            found.append({"id": "extra-%d" % number, "sql": line.strip(), "ordered": False})
    wanted = sys.argv[1:]
    return [c for c in found if not wanted or any(c["id"].startswith(w) for w in wanted)]


class Refused(Exception):
    """Tarn doesn't read the tables: there is nothing to compare."""


def verdict(sql):
    """What tarn check says of Spark, or an error's text."""
    done = subprocess.run(
        [TARN, "check", sql, "--engine", "spark", "--format", "json", "--type", "hadoop", "--warehouse", WAREHOUSE, "--relocate", "/warehouse=" + WAREHOUSE],
        capture_output=True, text=True, timeout=120)
    if done.returncode in (7, 8):
        raise Refused(done.stderr.strip())
    if done.returncode not in (0, 4):
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


class Spark:
    def __init__(self, spark):
        self.spark = spark

    def query(self, sql, settings, adaptive=False, broadcast=False, partitions=200):
        for name in SETTINGS:
            self.spark.conf.unset(name)
        for name, v in settings.items():
            self.spark.conf.set(name, v)
        self.spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        self.spark.conf.set("spark.sql.adaptive.enabled", str(adaptive).lower())
        if broadcast:
            self.spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
        else:
            self.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
        return self.spark.sql(sql)

    def shuffles(self, sql, settings, **options):
        import plans

        df = self.query(sql, settings, **options)
        return [shuffle for _, shuffle in plans.joins(plans.root(df, options.get("adaptive", False)))]

    def answer(self, check, settings):
        """"right", "wrong", or what went wrong. A query of extra.sql is right when Spark answers alike by its defaults."""
        import rows

        try:
            if "rows" not in check:
                check["rows"] = rows.collected(self.query(check["sql"], {}, partitions=4))
            # Few partitions, for the time: only the plan that is looked at has to be as it is by default.
            return "right" if rows.same(self.query(check["sql"], settings, partitions=4), check) else "wrong"
        except Exception as e:  # whatever Spark throws
            return "fails: " + ("NullPointerException" if "NullPointerException" in str(e) else str(e).splitlines()[0][:120])


def judged(report):
    """The verdicts as they compare with Spark's plans: a join without equalities has none to compare."""
    out, hazards = [], set()
    for j in report["joins"]:
        v = j["verdicts"][0]
        rules = {p["rule"] for p in v["problems"]}
        hazards |= rules & HAZARDS.keys()
        out.append("pairs" if "spark-equality" in rules else v["shuffle"])
    return out, hazards


def agree(said, seen):
    return len(said) == len(seen) and all(a == b or a == "pairs" and b in ("pairs", "both sides") for a, b in zip(said, seen))


def closer(spark, sql, report, settings, seen):
    """What is looked at in some checks only, for the time: adaptive execution, broadcasts, and each setting's need."""
    wrong = []
    if (aqe := spark.shuffles(sql, settings, adaptive=True)) != seen:
        wrong.append("with adaptive execution Spark's plan has %s" % aqe)
    plain = spark.shuffles(sql, settings, broadcast=True)
    for j, said, shuffle in zip(report["joins"], judged(report)[0], plain):
        if said != "pairs" and (shuffle == "broadcast") != any(n["rule"] == "spark-broadcast" for n in j["verdicts"][0]["notes"]):
            wrong.append("by Spark's threshold %s is %s" % (j["condition"], shuffle))
    for name in settings:
        less = {n: v for n, v in settings.items() if n != name}
        if spark.shuffles(sql, less) == seen:
            wrong.append("Spark doesn't need %s" % name)
    return wrong


def compare(spark, check, close):
    """A row of the table, and what differs."""
    report = verdict(check["sql"])
    if not report["joins"]:
        return None, []
    said, hazards = judged(report)
    settings = {s["name"]: s["value"] for s in report["engines"][0]["settings"]}
    wrong = []
    seen = spark.shuffles(check["sql"], settings)
    if not agree(said, seen):
        wrong.append("tarn says %s, Spark's plan has %s" % (said, seen))
    if not hazards and "pairs" not in said and (least := spark.shuffles(check["sql"], SETTINGS)) != seen:
        wrong.append("with all settings Spark's plan has %s" % least)
    if close:
        wrong += closer(spark, check["sql"], report, settings, seen)
    answer = spark.answer(check, settings)
    if answer != "right":
        wrong.append("with tarn's settings Spark's answer is %s" % answer)
    full = spark.answer(check, SETTINGS)
    expected = next((answer for rule, answer in HAZARDS.items() if rule in hazards), "right")
    if not full.startswith(expected):
        wrong.append("with all settings Spark's answer is %s; tarn expects %s" % (full, expected))
    row = [check["id"], "; ".join(said), "; ".join(seen), str(len(settings)), answer, full]
    return row, wrong


WIDTHS = [26, 30, 30, 8, 6, 0]


def line(row):
    print("  ".join(c.ljust(w) for c, w in zip(row, WIDTHS)).rstrip(), flush=True)


def main():
    os.makedirs(WORK, exist_ok=True)
    if not is_ready():
        bootstrap()
    import pyspark

    spark = Spark(session(runtime_jar()))
    begin, done, differ, skipped, refused = time.time(), [], {}, [], []
    all_checks = checks()
    line(["check", "tarn says", "Spark's plan", "settings", "rows", "rows with all settings"])
    for n, check in enumerate(all_checks):
        if time.time() - begin > BUDGET:
            skipped.append(check["id"])
            continue
        try:
            row, wrong = compare(spark, check, n % CLOSER == 0 or len(all_checks) < CLOSER)
        except Refused:
            refused.append(check["id"])
            continue
        except Exception as e:
            row, wrong = [check["id"], "-", "-", "-", "-", "-"], [str(e).splitlines()[0][:300]]
        if row:
            done.append(row)
            line(row)
        if wrong:
            differ[check["id"]] = wrong
            print("  DIFFERS: " + "\n  DIFFERS: ".join(wrong), flush=True)
    lost = [r[0] for r in done if r[5] == "wrong"]
    fails = [r[0] for r in done if r[5].startswith("fails")]
    print("\nSpark %s, Iceberg %s: %d checks in %.0f s" % (pyspark.__version__, ICEBERG, len(done), time.time() - begin))
    print("with all settings on, Spark gives wrong rows in %d: %s" % (len(lost), ", ".join(lost)))
    print("with all settings on, Spark fails in %d: %s" % (len(fails), ", ".join(fails)))
    print("tarn doesn't read the tables of %d: %s" % (len(refused), ", ".join(refused)))
    if differ:
        print("DIFFER: " + ", ".join(differ))
    if skipped:
        print("NOT REACHED in %d s: %s" % (BUDGET, ", ".join(skipped)))
    if not done:
        print("no check was compared")
    print("%d passed, %d failed" % (len(done) - len(differ), len(differ) + len(skipped)))
    sys.exit(1 if differ or skipped or not done else 0)


if __name__ == "__main__":
    main()
