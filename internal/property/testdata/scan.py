"""Scans the tables of a SQL catalog by PyIceberg and tells, as JSON, what it reads: rows, sums, and partition tuples."""

import datetime
import decimal
import json
import sys
import uuid

from pyiceberg.catalog.sql import SqlCatalog

decimal.getcontext().prec = 76
EPOCH = datetime.datetime(1970, 1, 1)


def text(v):
    """Writes a partition value as the Go test does: numbers as they are stored."""
    if v is None:
        return "NULL"
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, datetime.datetime):
        v = v.replace(tzinfo=None) - EPOCH
        return str((v.days * 86400 + v.seconds) * 1000000 + v.microseconds)
    if isinstance(v, datetime.date):
        return str((v - EPOCH.date()).days)
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, (int, str, uuid.UUID)):
        return str(v)
    if isinstance(v, (bytes, bytearray)):
        return v.hex()
    raise TypeError(f"{v!r} of {type(v)}")


def numbers(table):
    """Sums of the numeric columns, and how many values of each column aren't NULL."""
    sums, counts = {}, {}
    for name in table.column_names:
        column = table.column(name)
        counts[name] = len(column) - column.null_count
        kind = str(column.type)
        if kind.startswith(("int", "decimal")):
            values = [v for v in column.to_pylist() if v is not None]
            sums[name] = format(sum(values[1:], values[0]), "f" if kind.startswith("decimal") else "d") if values else "NULL"
    return sums, counts


def tell(table):
    data = table.scan().to_arrow()
    sums, counts = numbers(data)
    tuples = {}
    for task in table.scan().plan_files():
        partition = task.file.partition
        key = "|".join(text(partition[i]) for i in range(len(partition)))
        tuples[key] = tuples.get(key, 0) + task.file.record_count
    return {"rows": data.num_rows, "sums": sums, "counts": counts, "tuples": tuples}


def main():
    uri, warehouse, namespace = sys.argv[1:]
    catalog = SqlCatalog("lake", uri=uri, warehouse=warehouse)
    out = {}
    for ident in catalog.list_tables(namespace):
        out[ident[-1]] = tell(catalog.load_table(ident))
    json.dump(out, sys.stdout)


main()
