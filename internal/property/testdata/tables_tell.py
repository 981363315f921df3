"""Tells what PyIceberg reads of a table, as golden checks."""

import collections
import datetime
import decimal
import json
import math
import uuid

from pyiceberg import expressions as e
from pyiceberg import types as t


def spark(typ):
    """Spark's name of a type, as golden checks have it."""
    match typ:
        case t.StructType():
            return "struct<" + ",".join(f"{f.name}:{spark(f.field_type)}" for f in typ.fields) + ">"
        case t.ListType():
            return f"array<{spark(typ.element_type)}>"
        case t.MapType():
            return f"map<{spark(typ.key_type)},{spark(typ.value_type)}>"
        case t.DecimalType():
            return f"decimal({typ.precision},{typ.scale})"
    return {"long": "bigint", "timestamptz": "timestamp"}.get(str(typ), str(typ))


def plain(typ, v):
    """A value as JSON in the form of golden checks."""
    if v is None:
        return None
    match typ:
        case t.StructType():
            return {f.name: plain(f.field_type, v[f.name]) for f in typ.fields}
        case t.ListType():
            return [plain(typ.element_type, x) for x in v]
        case t.MapType():
            return [[plain(typ.key_type, k), plain(typ.value_type, x)] for k, x in v]
        case t.DecimalType():
            return format(v, "f")
    if isinstance(v, float) and not math.isfinite(v):
        return "NaN" if math.isnan(v) else "Infinity" if v > 0 else "-Infinity"
    if isinstance(v, datetime.datetime):
        if v.tzinfo:
            v = v.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return v.isoformat(" ", "microseconds")
    if isinstance(v, datetime.time):
        return v.isoformat("microseconds")
    if isinstance(v, (datetime.date, uuid.UUID)):
        return str(v)
    if isinstance(typ, t.UUIDType):
        return str(uuid.UUID(bytes=v))
    return v.hex() if isinstance(v, bytes) else v


def literal(typ, v):
    """A value as SQL."""
    name = {"string": "VARCHAR", "long": "BIGINT", "int": "INTEGER", "date": "DATE", "timestamp": "TIMESTAMP"}.get(str(typ))
    text = format(v, "f") if isinstance(v, decimal.Decimal) else str(v)
    return "CAST('{}' AS {})".format(text.replace("'", "''"), name or str(typ))


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


FILTERED = (t.StringType, t.LongType, t.IntegerType, t.DateType, t.DecimalType)


class Teller:
    def __init__(self, table, rng):
        self.table, self.rng = table, rng

    def filter(self):
        """A random condition, as PyIceberg has it and as SQL."""
        fields = [f for f in self.table.schema().fields if isinstance(f.field_type, FILTERED)]
        if not fields:
            f = self.rng.choice([f for f in self.table.schema().fields if f.field_type.is_primitive] or [None])
            return (e.IsNull(f.name), quoted(f.name) + " IS NULL") if f else (e.AlwaysTrue(), "true")
        f = self.rng.choice(fields)
        name = quoted(f.name)
        known = [v for v in self.table.scan(selected_fields=(f.name,)).to_arrow()[f.name].to_pylist() if v is not None]
        if not known or self.rng.random() < 0.2:
            return self.rng.choice([(e.IsNull(f.name), name + " IS NULL"), (e.NotNull(f.name), name + " IS NOT NULL")])
        v = self.rng.choice(known)
        is_, op = self.rng.choice([(e.EqualTo, "="), (e.NotEqualTo, "<>"), (e.LessThan, "<"), (e.GreaterThanOrEqual, ">=")])
        sql = f"{name} {op} {literal(f.field_type, v)}"
        if op == "<>":  # to PyIceberg NULL is unlike any value
            return e.And(is_(f.name, v), e.NotNull(f.name)), sql
        return is_(f.name, v), sql

    def checks(self, world):
        ns, name = world.name.split(".")
        table = f"{ns}.{quoted(name)}"
        self.check(world, "all", f"SELECT * FROM {table}", self.table.scan())
        for i in range(3):
            f, sql = self.filter()
            self.check(world, f"filter{i}", f"SELECT * FROM {table} WHERE {sql}", self.table.scan(row_filter=f))
        for i, snapshot in enumerate(world.past):
            self.check(world, f"past{i}", f"SELECT * FROM {table} VERSION AS OF {snapshot}", self.table.scan(snapshot_id=snapshot))
        f = self.table.schema().fields[self.rng.randrange(len(self.table.schema().fields))]
        key = next((f for f in self.table.schema().fields if f.field_id == 1), f)
        if key.field_type.is_primitive and not isinstance(key.field_type, (t.FloatType, t.DoubleType)):
            counts = collections.Counter(self.table.scan(selected_fields=(key.name,)).to_arrow()[key.name].to_pylist())
            pairs = sum(n * n for k, n in counts.items() if k is not None)
            sql = f"SELECT count(*) AS n FROM {table} a JOIN {table} b ON a.{quoted(key.name)} = b.{quoted(key.name)}"
            self.write(world, "join", sql, [{"name": "n", "type": "bigint"}], [[pairs]])

    def check(self, world, what, sql, scan):
        try:
            rows = scan.to_arrow().to_pylist()
        except Exception as x:  # noqa: BLE001
            return self.write(world, what, sql, [], [], unread=f"{type(x).__name__}: {x}")
        fields = scan.projection().fields
        columns = [{"name": f.name, "type": spark(f.field_type)} for f in fields]
        self.write(world, what, sql, columns, [[plain(f.field_type, r[f.name]) for f in fields] for r in rows])

    def write(self, world, what, sql, columns, rows, **more):
        line = {"id": f"{world.name}-{what}", "sql": sql, "columns": columns, "rows": rows, "story": world.story, "failed": world.failed}
        print(json.dumps(line | more))
