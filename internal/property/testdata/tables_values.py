"""Random types and values of Iceberg's, and rows as Arrow tables."""

import datetime
import decimal
import math
import uuid

import pyarrow as pa
from pyiceberg import types as t

# Names of columns; # makes them differ.
NAMES = ["c#", "C#", "é #", 'q"#', "a b#", "select#", "💰#", "_#"]

PRIMITIVES = [
    t.BooleanType(), t.IntegerType(), t.LongType(), t.FloatType(), t.DoubleType(), t.DecimalType(9, 2), t.DecimalType(18, 4),
    t.DecimalType(33, 10), t.DateType(), t.TimeType(), t.TimestampType(), t.TimestamptzType(), t.StringType(), t.UUIDType(),
    t.FixedType(3), t.BinaryType(),
]
INNER = [p for p in PRIMITIVES if not isinstance(p, t.UUIDType)]  # PyArrow makes no uuids within other values
KEYS = [t.IntegerType(), t.LongType(), t.StringType(), t.DateType(), t.DecimalType(9, 2)]


def random_type(rng, depth, primitives=PRIMITIVES):
    """A type that nests at most so deep. IDs are placeholders: the table gives its own."""
    if depth == 0 or rng.random() < 0.6:
        return rng.choice(primitives)
    match rng.randrange(3):
        case 0:
            return random_struct(rng, depth)
        case 1:
            return t.ListType(next_id(), random_type(rng, depth - 1, INNER), element_required=False)
    return t.MapType(next_id(), rng.choice(KEYS), next_id(), random_type(rng, depth - 1, INNER), value_required=False)


def random_struct(rng, depth):
    names = [rng.choice(["x", "y y", "Z", "ü"]) + str(i) for i in range(rng.randint(1, 3))]
    return t.StructType(*[t.NestedField(next_id(), n, random_type(rng, depth - 1, INNER), required=False) for n in names])


last_id = 10000


def next_id():
    global last_id
    last_id += 1
    return last_id


def has_struct(typ):
    """Whether a list or map holds structs somewhere."""
    match typ:
        case t.StructType():
            return True
        case t.ListType():
            return has_struct(typ.element_type)
        case t.MapType():
            return has_struct(typ.value_type)
    return False


def row_of(rng, schema):
    return {f.name: value_of(rng, f.field_type, not f.required) for f in schema.fields}


def value_of(rng, typ, optional):
    if optional and rng.random() < 0.2 and not (isinstance(typ, (t.ListType, t.MapType)) and has_struct(typ)):
        return None
    match typ:
        case t.StructType():
            return {f.name: value_of(rng, f.field_type, not f.required) for f in typ.fields}
        case t.ListType():
            return [value_of(rng, typ.element_type, True) for _ in range(rng.randint(0, 3))]
        case t.MapType():
            keys = {value_of(rng, typ.key_type, False) for _ in range(rng.randint(0, 3))}
            return [(k, value_of(rng, typ.value_type, True)) for k in keys]
    return primitive(rng, typ)


def primitive(rng, typ):
    day = datetime.timedelta(days=rng.choice([-1, 0, 365, rng.randint(-80000, 80000)]))
    moment = datetime.datetime(1970, 1, 1) + day + datetime.timedelta(microseconds=rng.choice([0, 1, rng.randrange(86400 * 10**6)]))
    match typ:
        case t.BooleanType():
            return rng.random() < 0.5
        case t.IntegerType():
            return rng.choice([0, -1, rng.randint(-9, 9), rng.randint(-(2**31), 2**31 - 1)])
        case t.LongType():
            return rng.choice([0, -1, rng.randint(-9, 9), rng.randint(-(2**63), 2**63 - 1)])
        case t.FloatType():
            return rng.choice([0.0, -0.5, 1.25, math.inf, rng.randint(-(2**20), 2**20) / 8])
        case t.DoubleType():
            return rng.choice([0.0, -0.1, 1e300, -math.inf, math.nan, rng.random()])
        case t.DecimalType():
            return decimal.Decimal(rng.choice([rng.randint(-999, 999), rng.randrange(10**typ.precision)])).scaleb(-typ.scale)
        case t.DateType():
            return moment.date()
        case t.TimeType():
            return moment.time()
        case t.TimestampType():
            return moment
        case t.TimestamptzType():
            return moment.replace(tzinfo=datetime.timezone.utc)
        case t.StringType():
            return rng.choice(["", "a", "ab", "éa", "💰💰", "null", "it's", "__HIVE_DEFAULT_PARTITION__", "a/b=c%"])
        case t.UUIDType():
            return uuid.UUID(int=rng.choice([0, rng.getrandbits(128)])).bytes
        case t.FixedType():
            return bytes(rng.randrange(256) for _ in range(len(typ)))
        case t.BinaryType():
            return bytes(rng.randrange(256) for _ in range(rng.randint(0, 4)))
    raise TypeError(typ)


def to_arrow(table, rows):
    return pa.Table.from_pylist(rows, schema=table.schema().as_arrow())
