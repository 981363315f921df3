"""Checks the tables of a SQL catalog from the rows of their files, by PyIceberg and PyArrow alone: partition tuples, counts,
bounds and split offsets of each file, and that a scan gives the rows that each NAME.parquet of a folder has. Prints what is
wrong, a line each."""

import collections
import datetime
import decimal
import math
import pathlib
import sys
import uuid

import pyarrow
import pyarrow.parquet as parquet
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import FileFormat, ManifestContent
from pyiceberg.table.deletion_vector import deletion_vectors_from_puffin_file
from pyiceberg.table.puffin import PuffinFile
from pyiceberg.types import (
    BinaryType, DoubleType, FixedType, FloatType, ListType, LongType, MapType, StringType, StructType, TimestampType,
    TimestamptzType, TimeType, DateType, UUIDType, DecimalType,
)

decimal.getcontext().prec = 76
EPOCH = datetime.datetime(1970, 1, 1)
CUT = 16  # code points or bytes that bounds are cut to


def stored(kind, v):
    """The value as PyIceberg's transforms and bounds have it: times as numbers."""
    if v is None:
        return None
    if isinstance(kind, (TimestampType, TimestamptzType)):
        v = v.replace(tzinfo=None) - EPOCH
        return (v.days * 86400 + v.seconds) * 1000000 + v.microseconds
    if isinstance(kind, DateType):
        return (v - EPOCH.date()).days
    if isinstance(kind, TimeType):
        return ((v.hour * 60 + v.minute) * 60 + v.second) * 1000000 + v.microsecond
    if isinstance(kind, UUIDType):
        return v if isinstance(v, uuid.UUID) else uuid.UUID(bytes=bytes(v))
    return v


def canonical(v):
    """One object for values that are the same: NaN is, and the zeros aren't."""
    if isinstance(v, float):
        return "nan" if math.isnan(v) else (v, math.copysign(1, v))
    if isinstance(v, dict):
        return tuple((k, canonical(x)) for k, x in v.items())
    if isinstance(v, (list, tuple)):
        return tuple(canonical(x) for x in v)
    if isinstance(v, (bytes, bytearray)):
        return bytes(v)
    if isinstance(v, uuid.UUID):
        return v.bytes
    return v


def leaves(kind, values, path, in_list, field_id, out):
    """Collects (id, path, type, values with NULLs, whether in a list or map) of the primitive fields of a column."""
    if isinstance(kind, StructType):
        for f in kind.fields:
            leaves(f.field_type, [None if v is None else v[f.name] for v in values], path + "." + f.name, in_list, f.field_id, out)
    elif isinstance(kind, ListType):
        inner = [x for v in values if v is not None for x in v]
        leaves(kind.element_type, inner, path + ".element", True, kind.element_id, out)
    elif isinstance(kind, MapType):
        pairs = [x for v in values if v is not None for x in v]
        leaves(kind.key_type, [k for k, _ in pairs], path + ".key", True, kind.key_id, out)
        leaves(kind.value_type, [x for _, x in pairs], path + ".value", True, kind.value_id, out)
    else:
        out.append((field_id, path, kind, [stored(kind, v) for v in values], in_list))


def order(v):
    """A key that orders values as the spec orders bounds."""
    if isinstance(v, float):
        return (v, math.copysign(1, v))
    if isinstance(v, str):
        return v.encode()
    if isinstance(v, uuid.UUID):
        return v.bytes
    return v


def bound(kind, b):
    return uuid.UUID(bytes=b) if isinstance(kind, UUIDType) else from_bytes(kind, b)


def check_bounds(kind, values, lower, upper):
    if not values:
        return "bounds of no values" if lower is not None or upper is not None else None
    low, high = min(values, key=order), max(values, key=order)
    if lower is None:
        return "no lower bound"
    lower = bound(kind, lower)
    is_text = isinstance(kind, (StringType, BinaryType, FixedType))
    if is_text:
        if lower != low[:CUT]:
            return f"lower bound {lower!r} of {low!r}"
    elif isinstance(kind, (FloatType, DoubleType)) and low == 0:
        if math.copysign(1, lower) != -1 or lower != 0:
            return f"lower bound {lower!r} of a zero"
    elif lower != low:
        return f"lower bound {lower!r} of {low!r}"
    if upper is None:
        top = chr(0x10FFFF) if isinstance(kind, StringType) else b"\xff"
        fits = is_text and len(high) > CUT and high[:CUT] == top * CUT
        return None if fits else f"no upper bound of {high!r}"
    upper = bound(kind, upper)
    if is_text:
        if order(upper) < order(high) or len(upper) > CUT or len(high) <= CUT and upper != high:
            return f"upper bound {upper!r} of {high!r}"
    elif isinstance(kind, (FloatType, DoubleType)) and high == 0:
        if math.copysign(1, upper) != 1 or upper != 0:
            return f"upper bound {upper!r} of a zero"
    elif upper != high:
        return f"upper bound {upper!r} of {high!r}"
    return None


def check_file(table, file, faults):
    path = file.file_path.removeprefix("file://")
    schema, rows = table.schema(), parquet.read_table(path)
    meta = parquet.ParquetFile(path).metadata

    def fault(text):
        faults.append(f"{table.name()[-1]}: {pathlib.Path(path).name}: {text}")

    if file.record_count != rows.num_rows:
        fault(f"{file.record_count} rows are recorded of {rows.num_rows}")
    if file.file_size_in_bytes != pathlib.Path(path).stat().st_size:
        fault("the size is wrong")
    starts = sorted(min(x for x in (meta.row_group(g).column(0).dictionary_page_offset, meta.row_group(g).column(0).data_page_offset)
                        if x) for g in range(meta.num_row_groups))
    if list(file.split_offsets or []) != starts:
        fault(f"split offsets {file.split_offsets}, wanted {starts}")
    found = []
    for f in schema.fields:
        leaves(f.field_type, rows.column(f.name).to_pylist(), f.name, False, f.field_id, found)
    by_id = {x[0]: x for x in found}
    spec = table.specs()[file.spec_id]
    for i, f in enumerate(spec.fields):
        _, _, kind, values, _ = by_id[f.source_id]
        # PyIceberg's own transforms have no floats of one width in tuples.
        wanted = {canonical(f.transform.transform(kind)(v)) for v in values}
        have = canonical(stored(f.transform.result_type(kind), file.partition[i]) if not isinstance(file.partition[i], int) else file.partition[i])
        if wanted != {have}:
            fault(f"the partition value {have!r} of {f.name}, where rows have {sorted(map(repr, wanted))[:3]}")
    for field_id, path_, kind, values, in_list in found:
        is_float = isinstance(kind, (FloatType, DoubleType))
        plain = [v for v in values if v is not None]
        nans = [v for v in plain if is_float and math.isnan(v)]
        count, nulls = file.value_counts.get(field_id), file.null_value_counts.get(field_id)
        if not in_list and (count != len(values) or nulls != len(values) - len(plain)):
            fault(f"{path_}: {count} values and {nulls} NULLs are recorded, of {len(values)} and {len(values) - len(plain)}")
        if in_list and count - nulls != len(plain):
            fault(f"{path_}: {count} values and {nulls} NULLs are recorded, of {len(plain)} without NULLs")
        if is_float and file.nan_value_counts.get(field_id) != len(nans):
            fault(f"{path_}: {file.nan_value_counts.get(field_id)} NaN are recorded of {len(nans)}")
        if not is_float and field_id in file.nan_value_counts:
            fault(f"{path_}: NaN of a {kind}")
        if not file.column_sizes.get(field_id):
            fault(f"{path_}: no size")
        lower, upper = file.lower_bounds.get(field_id), file.upper_bounds.get(field_id)
        if in_list:
            wrong = "bounds in a list" if lower is not None or upper is not None else None
        else:
            wrong = check_bounds(kind, [v for v in plain if not (is_float and math.isnan(v))], lower, upper)
        if wrong:
            fault(f"{path_}: {wrong}")


PATH, POSITION = 2147483546, 2147483545  # the field IDs of position delete files


def check_positions(table, file, deletes, faults):
    """Checks the file of position deletes of one data file, which has all rows of it that are deleted."""
    path = deletes.file_path.removeprefix("file://")

    def fault(text):
        faults.append(f"{table.name()[-1]}: {pathlib.Path(path).name}: {text}")

    if deletes.file_size_in_bytes != pathlib.Path(path).stat().st_size:
        fault("the size is wrong")
    if deletes.spec_id != file.spec_id or deletes.partition != file.partition:
        fault("it isn't in its data file's partition")
    rows = parquet.read_table(path)
    ids = [int(f.metadata[b"PARQUET:field_id"]) for f in rows.schema]
    positions = rows.column("pos").to_pylist()
    if rows.column_names != ["file_path", "pos"] or ids != [PATH, POSITION] or any(f.nullable for f in rows.schema):
        fault(f"its columns are {rows.schema}")
    if set(rows.column("file_path").to_pylist()) != {file.file_path} or positions != sorted(set(positions)) or len(positions) != deletes.record_count:
        fault(f"its rows are of other files, out of order, or not {deletes.record_count}")
    whole = file.file_path.encode()
    if deletes.lower_bounds[PATH] != whole or deletes.upper_bounds[PATH] != whole:
        fault(f"its paths are between {deletes.lower_bounds[PATH]} and {deletes.upper_bounds[PATH]}")
    bounds = [from_bytes(LongType(), b[POSITION]) for b in (deletes.lower_bounds, deletes.upper_bounds)]
    if bounds != [positions[0], positions[-1]]:
        fault(f"its positions are between {bounds}")
    for field in (PATH, POSITION):
        if deletes.value_counts[field] != len(positions) or deletes.null_value_counts[field] != 0 or not deletes.column_sizes[field]:
            fault(f"its counts are {deletes.value_counts}, {deletes.null_value_counts} and {deletes.column_sizes}")


def check_vectors(table, tasks, faults):
    """Checks the Puffin files of a table against their entries, and returns how many vectors there are."""
    entries = collections.defaultdict(list)
    for m in table.current_snapshot().manifests(table.io):
        if m.content == ManifestContent.DELETES:
            for e in m.fetch_manifest_entry(table.io):
                if e.data_file.file_format == FileFormat.PUFFIN:
                    entries[e.data_file.file_path].append(e.data_file)
    rows = {t.file.file_path: t.file.record_count for t in tasks}
    for path, vectors in entries.items():
        data = pathlib.Path(path.removeprefix("file://")).read_bytes()
        puffin = PuffinFile(data)
        found = {v.referenced_data_file: v.to_vector().to_pylist() for v in deletion_vectors_from_puffin_file(puffin)}
        said = [int(b.properties["cardinality"]) for b in puffin.footer.blobs]
        if not sorted(said) == sorted(len(set(v)) for v in found.values()) == sorted(v.record_count for v in vectors):
            faults.append(f"{path}: vectors of {said} rows are {found}, and have the entries {vectors}")
        if any(v.file_size_in_bytes != len(data) for v in vectors) or any(max(v) >= rows[f] for f, v in found.items()):
            faults.append(f"{path}: a size is wrong, or a vector is of rows that aren't there")
    return sum(len(v) for v in entries.values())


def bag(rows, names, null_maps=True):
    """Counts rows. PyIceberg makes NULL maps empty ones when it scans, and DuckDB's dictionaries have one zero for both."""
    def value(v):
        v = canonical(v + 0.0 if isinstance(v, float) else v)
        return () if v is None and not null_maps else v
    return collections.Counter(tuple(value(r[n]) for n in names) for r in rows)


def check_rows(name, what, wanted, got, faults, **how):
    """Compares rows, and each column by itself to tell where they differ."""
    names = got.column_names
    wanted, got = wanted.rename_columns(names).to_pylist(), got.to_pylist()
    if bag(wanted, names, **how) == bag(got, names, **how):
        return
    apart = [(n, list((bag(wanted, [n], **how) - bag(got, [n], **how)).items())[:2], list((bag(got, [n], **how) - bag(wanted, [n], **how)).items())[:2]) for n in names]
    faults.append(f"{name}: {what} gives other rows: {[x for x in apart if x[1] or x[2]]}")


def main():
    uri, warehouse, folder = sys.argv[1:]
    catalog = SqlCatalog("lake", uri=uri, warehouse=warehouse)
    faults, files, vectors = [], 0, 0
    for path in sorted(pathlib.Path(folder).glob("*.parquet")):
        table = catalog.load_table(("t", path.stem))
        foreign = "schema.name-mapping.default" in table.properties  # its files are others', which Tarn added
        tasks, names = list(table.scan().plan_files()), [f.name for f in table.schema().fields]
        for task in tasks:
            files += 1
            if not foreign:
                check_file(table, task.file, faults)
            positions = [d for d in task.delete_files if d.file_format == FileFormat.PARQUET]
            if len(positions) > 1:
                faults.append(f"{path.stem}: a file has the deletes {positions}")
            for deletes in positions:
                check_positions(table, task.file, deletes, faults)
        vectors += check_vectors(table, tasks, faults)
        wanted = parquet.read_table(path)
        if not foreign and not any(t.delete_files for t in tasks):
            raw = pyarrow.concat_tables(parquet.read_table(t.file.file_path.removeprefix("file://"), columns=names) for t in tasks)
            check_rows(path.stem, "a file", wanted, raw, faults)
        check_rows(path.stem, "a scan", wanted, table.scan().to_arrow(), faults, null_maps=False)
    for f in faults:
        print(f)
    print(f"checked {files} files and {vectors} vectors")


main()
