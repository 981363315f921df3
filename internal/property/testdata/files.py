"""Tells, as JSON, what PyIceberg's metadata table files says of the tables of a SQL catalog: one object for each file."""

import json
import sys

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table.inspect import InspectTable

whole = InspectTable._get_files_schema


def without_values(self):
    """PyIceberg 0.12 fails at values of uuids in an Arrow table; what it computes of bounds and partitions is compared elsewhere."""
    return pa.schema([f for f in whole(self) if f.name not in ("partition", "readable_metrics")])


InspectTable._get_files_schema = without_values


def numbers(pairs):
    return {str(k): v for k, v in pairs or []}


def bounds(pairs):
    return {str(k): v.hex() for k, v in pairs or []}


def tell(row):
    return {
        "content": row["content"],
        "path": row["file_path"],
        "format": str(row["file_format"]).upper().removeprefix("FILEFORMAT."),
        "spec": row["spec_id"],
        "rows": row["record_count"],
        "bytes": row["file_size_in_bytes"],
        "sizes": numbers(row["column_sizes"]),
        "values": numbers(row["value_counts"]),
        "nulls": numbers(row["null_value_counts"]),
        "nans": numbers(row["nan_value_counts"]),
        "lower": bounds(row["lower_bounds"]),
        "upper": bounds(row["upper_bounds"]),
        "splits": row["split_offsets"] or [],
        "equality": row["equality_ids"] or [],
        "order": row["sort_order_id"] or 0,
    }


def main():
    uri, warehouse, namespace = sys.argv[1:]
    catalog = SqlCatalog("lake", uri=uri, warehouse=warehouse)
    out = {}
    for ident in catalog.list_tables(namespace):
        files = [tell(row) for row in catalog.load_table(ident).inspect.files().to_pylist()]
        out[ident[-1]] = sorted(files, key=lambda f: f["path"])
    json.dump(out, sys.stdout)


main()
