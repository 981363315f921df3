"""Writes random tables by PyIceberg into a SQL catalog, in a namespace "rnd", and tells, as JSON lines in the form of golden
checks, what PyIceberg reads of them. Arguments: the catalog's URI, its warehouse, a seed, how many tables.

What PyIceberg gets wrong by the spec is avoided:
- It reads NULL lists and maps as empty once their element or value is a struct that has changed: such columns hold no NULL.
- It reads a renamed field as NULL in lists and maps within others: these stay as they are.
- It compares NaN by its own rules: filters are on columns that have none.
- It can't read a partition tuple whose source column is gone or promoted: sources of any spec stay as they are.
"""

import random
import sys
import warnings

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import parse_transform
from pyiceberg.types import BinaryType, DecimalType, DoubleType, FloatType, IntegerType, ListType, LongType, MapType, NestedField, StructType

from tables_delete import delete_positions
from tables_tell import Teller
from tables_values import INNER, NAMES, PRIMITIVES, random_type, row_of, to_arrow

def nested_structs(schema):
    """Paths of the structs in a schema that may change, which those in keys of maps can't."""
    def walk(path, typ, repeated):
        if isinstance(typ, StructType):
            yield path, typ
            for f in typ.fields:
                yield from walk((*path, f.name), f.field_type, repeated)
        elif isinstance(typ, ListType) and not repeated:
            yield from walk((*path, "element"), typ.element_type, True)
        elif isinstance(typ, MapType) and not repeated:
            yield from walk((*path, "value"), typ.value_type, True)

    yield from walk((), schema.as_struct(), False)


class World:
    """One random table and its story."""

    def __init__(self, catalog, rng, name):
        self.catalog, self.rng, self.name, self.story, self.failed = catalog, rng, name, [], 0
        self.fresh, self.sources, self.past = 0, set(), []
        fields = [NestedField(1, "k", rng.choice([LongType(), IntegerType(), random_type(rng, 0, INNER)]), required=False)]
        for _ in range(rng.randint(2, 6)):
            fields.append(NestedField(len(fields) + 1, self.new_name(), random_type(rng, 3), required=rng.random() < 0.15))
        schema = Schema(*fields)
        spec = PartitionSpec()
        if rng.random() < 0.8:
            transform = self.transform(fields[0].field_type)
            spec = PartitionSpec(PartitionField(1, 1000, parse_transform(transform), "p"))
            self.sources.add("k")
        version = rng.choice([1, 2, 2])
        self.tell(f"create {schema} partitioned by {spec}, format version {version}")
        self.table = catalog.create_table(name, schema, partition_spec=spec, properties={"format-version": str(version)})

    def tell(self, text):
        self.story.append(text)

    def new_name(self):
        self.fresh += 1
        return self.rng.choice(NAMES).replace("#", str(self.fresh))

    def transform(self, typ):
        fits = ["bucket[4]", "bucket[16]", "identity", "void"]
        fits += [f"truncate[{w}]" for w in (1, 5)] + ["year", "month", "day", "hour"]
        fits = [t for t in fits if parse_transform(t).can_transform(typ)]
        if isinstance(typ, BinaryType):  # PyIceberg doesn't truncate the binary that it makes
            fits = [t for t in fits if not t.startswith("truncate")]
        if isinstance(typ, DoubleType):  # PyIceberg 0.12 rounds the doubles of partition tuples to floats when it reads them
            fits = ["void"]
        return self.rng.choice(fits)

    def columns(self, test=lambda f: True):
        found = [f for f in self.table.schema().fields if test(f)]
        return self.rng.choice(found) if found else None

    def primitive(self):
        return self.columns(lambda f: f.field_type.is_primitive)

    # What happens to a table. Each returns what to tell of it, None when there was nothing to do.

    def append(self):
        rows = self.rows()
        self.table.append(to_arrow(self.table, rows))
        return rows

    def rows(self):
        return [row_of(self.rng, self.table.schema()) for _ in range(self.rng.randint(1, 7))]

    def add_column(self):
        path, _ = self.rng.choice(list(nested_structs(self.table.schema())))
        full = (*path, self.new_name())
        typ = random_type(self.rng, 2, INNER if path else PRIMITIVES)
        with self.table.update_schema() as u:
            u.add_column(full, typ)
        return full, typ

    def rename_column(self):
        path, f = self.field()
        name = self.new_name()
        with self.table.update_schema() as u:
            u.rename_column(path, name)
        self.sources = {name if (s,) == path else s for s in self.sources}
        return path, name

    def drop_column(self):
        path, _ = self.field()
        if path[0] in self.sources or path == ("k",):
            return None
        siblings = dict(nested_structs(self.table.schema()))[path[:-1]].fields
        if len(siblings) < 2:
            return None
        with self.table.update_schema() as u:
            u.delete_column(path)
        if self.rng.random() < 0.5:  # another column of the name
            with self.table.update_schema() as u:
                u.add_column(path, random_type(self.rng, 0, INNER))
            return path, "and added anew"
        return path

    def move_column(self):
        path, _ = self.field()
        with self.table.update_schema() as u:
            u.move_first(path)
        return path

    def promote(self):
        path, f = self.field(lambda f: isinstance(f.field_type, (IntegerType, FloatType, DecimalType)))
        if path is None or path[0] in self.sources:
            return None
        wider = LongType() if isinstance(f.field_type, IntegerType) else DoubleType()
        if isinstance(f.field_type, DecimalType):
            wider = DecimalType(min(38, f.field_type.precision + 5), f.field_type.scale)
        with self.table.update_schema() as u:
            u.update_column(path, wider)
        return path, wider

    def relax(self):
        f = self.columns(lambda f: f.required)
        if f is None:
            return None
        with self.table.update_schema() as u:
            u.make_column_optional(f.name)
        return f.name

    def field(self, test=lambda f: True):
        """A field at some depth, with its path."""
        found = [((*path, f.name), f) for path, s in nested_structs(self.table.schema()) for f in s.fields if test(f)]
        return self.rng.choice(found) if found else (None, None)

    def add_partition_field(self):
        f = self.primitive()
        transform = self.transform(f.field_type) if f else "void"
        taken = {self.table.schema().find_field(p.source_id).name for p in self.table.spec().fields if not str(p.transform).startswith("bucket")}
        if transform == "void" or f.name in taken and not transform.startswith("bucket"):  # some pairs are refused by the next write
            return None
        with self.table.update_spec() as u:
            u.add_field(f.name, transform, f"p{len(self.story)}")
        self.sources.add(f.name)
        return f.name, transform

    def remove_partition_field(self):
        fields = self.table.spec().fields
        if not fields:
            return None
        gone = self.rng.choice(fields).name
        with self.table.update_spec() as u:
            u.remove_field(gone)
        return gone

    def delete(self):
        f = Teller(self.table, self.rng).filter()
        self.table.delete(f[0])
        return f[1]

    def overwrite(self):
        f = Teller(self.table, self.rng).filter()
        rows = self.rows()
        self.table.overwrite(to_arrow(self.table, rows), overwrite_filter=f[0])
        return f[1], rows

    def delete_positions(self):
        return delete_positions(self.table, self.rng)

    def remember(self):
        """Keeps the snapshot for time travel."""
        snapshot = self.table.current_snapshot()
        if snapshot is None:
            return None
        self.past.append(snapshot.snapshot_id)
        return snapshot.snapshot_id

    def rename_table(self):
        name = self.name + "_new"
        self.catalog.rename_table(self.name, name)
        self.name, self.table = name, self.catalog.load_table(name)
        return name

    STEPS = [append] * 7 + [add_column, rename_column, drop_column, move_column, promote] * 2 + [
        relax, add_partition_field, add_partition_field, remove_partition_field, delete, delete, overwrite,
        delete_positions, delete_positions, delete_positions, remember, remember, rename_table]

    def live(self):
        self.step(World.append)
        for _ in range(self.rng.randint(5, 16)):
            self.step(self.rng.choice(World.STEPS))
        self.step(World.append)

    def step(self, do):
        """One step. What PyIceberg refuses is told, too: it has no consequence."""
        try:
            what = do(self)
        except Exception as e:  # noqa: BLE001
            self.failed += 1
            what = f"failed: {type(e).__name__}: {e}"
            self.table = self.catalog.load_table(self.name)
        if what is not None:
            self.tell(f"{do.__name__} {what}")


def main():
    uri, warehouse, seed, count = sys.argv[1:]
    warnings.simplefilter("ignore")
    catalog = SqlCatalog("lake", uri=uri, warehouse=warehouse)
    catalog.create_namespace("rnd")
    for i in range(int(count)):
        rng = random.Random(f"{seed} {i}")
        world = World(catalog, rng, f"rnd.t{i}")
        world.live()
        Teller(catalog.load_table(world.name), rng).checks(world)


main()
