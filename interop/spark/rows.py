"""Compares Spark's rows with those of the golden checks."""
import datetime
import decimal
import json
import math
import re
import uuid

from pyspark.sql import types as T


def value(v, t):
    """A value of Spark in the form of the golden files (testdata/golden/expected)."""
    if v is None:
        return None
    if isinstance(t, T.MapType):
        return sorted(([value(k, t.keyType), value(x, t.valueType)] for k, x in v.items()), key=json.dumps)
    if isinstance(t, T.StructType):
        return {f.name: value(x, f.dataType) for f, x in zip(t.fields, v)}
    if isinstance(t, T.ArrayType):
        return [value(x, t.elementType) for x in v]
    if isinstance(v, float) and not math.isfinite(v):
        return "NaN" if math.isnan(v) else "Infinity" if v > 0 else "-Infinity"
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, datetime.datetime):
        if v.tzinfo is not None:
            v = v.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return "%04d" % v.year + v.strftime("-%m-%d %H:%M:%S.%f")
    if isinstance(v, (bytes, bytearray)):
        return bytes(v).hex()
    if isinstance(v, (datetime.date, datetime.time, uuid.UUID)):
        return str(v)
    return v


def loose(v):
    """Numbers alike whatever their type and scale."""
    if isinstance(v, bool) or v is None:
        return v
    if isinstance(v, (int, float)):
        return "n%.9g" % v if abs(v) < 2**53 else "i%d" % v
    if isinstance(v, str) and re.fullmatch(r"-?\d+\.\d+", v):
        return "n%.9g" % float(v) if len(v) < 16 else v.rstrip("0")
    if isinstance(v, list):
        return [loose(x) for x in v]
    if isinstance(v, dict):
        return {k: loose(x) for k, x in v.items()}
    return v


def text(rows, ordered):
    out = [json.dumps(loose(r), sort_keys=True) for r in rows]
    return out if ordered else sorted(out)


def collected(df):
    types = [f.dataType for f in df.schema.fields]
    return [[value(v, t) for v, t in zip(row, types)] for row in df.collect()]


def same(df, check):
    return text(collected(df), check["ordered"]) == text(check["rows"], check["ordered"])
