"""Upserts the rows of one Parquet file into a table of another's, bucketed by the key, and prints what that took."""

import json
import resource
import sys
import time

import pyarrow.parquet as parquet
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import BucketTransform

folder, target, changes = sys.argv[1:]
catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
catalog.create_namespace("bench")
rows = parquet.read_table(f"{folder}/{target}.parquet")
table = catalog.create_table("bench.target", schema=rows.schema)
with table.update_spec() as spec:
    spec.add_field("order_id", BucketTransform(64), "order_id_bucket")
table.append(rows)
changed = parquet.read_table(f"{folder}/{changes}.parquet")


def used():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


cpu, wall = used(), time.time()
table.upsert(changed, join_cols=["order_id"])
print(json.dumps({"CPU": used() - cpu, "Wall": time.time() - wall, "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
