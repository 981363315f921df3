"""Loads the tables of a SQL catalog by PyIceberg and tells, as JSON, how they are defined: columns, specs, sort orders."""

import json
import sys

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import ListType, MapType, StructType


def inner(t):
    if isinstance(t, StructType):
        return list(t.fields)
    if isinstance(t, ListType):
        return [t.element_field]
    if isinstance(t, MapType):
        return [t.key_field, t.value_field]
    return []


def field(f):
    fields = inner(f.field_type)
    kind = type(f.field_type).__name__.removesuffix("Type").lower() if fields else str(f.field_type)
    return f"{f.field_id} {f.name} {kind}" + (" required" if f.required else "") + (f" {f.doc!r}" if f.doc else ""), [field(g) for g in fields]


def flat(f, depth=0):
    text, fields = field(f)

    def walk(entry, depth):
        yield "  " * depth + entry[0]
        for e in entry[1]:
            yield from walk(e, depth + 1)

    return list(walk((text, fields), depth))


def tell(table):
    m = table.metadata
    return {
        "version": m.format_version,
        "last_column": m.last_column_id,
        "last_partition": m.last_partition_id,
        "schemas": {str(s.schema_id): [line for f in s.fields for line in flat(f)] for s in m.schemas},
        "schema": m.current_schema_id,
        "identifier": sorted(table.schema().identifier_field_ids),
        "specs": {str(s.spec_id): [f"{f.field_id} {f.name} {f.transform} {f.source_id}" for f in s.fields] for s in m.partition_specs},
        "spec": m.default_spec_id,
        "orders": {str(o.order_id): [f"{f.transform} {f.source_id} {f.direction.value} {f.null_order.value}" for f in o.fields] for o in m.sort_orders},
        "order": m.default_sort_order_id,
        "properties": dict(m.properties),
        "refs": {name: f"{r.snapshot_ref_type.value} {r.snapshot_id} {r.max_ref_age_ms} {r.max_snapshot_age_ms} {r.min_snapshots_to_keep}" for name, r in m.refs.items()},
    }


def main():
    uri, warehouse, namespace = sys.argv[1:]
    catalog = SqlCatalog("lake", uri=uri, warehouse=warehouse)
    json.dump({ident[-1]: tell(catalog.load_table(ident)) for ident in catalog.list_tables(namespace)}, sys.stdout)


main()
