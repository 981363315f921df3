"""Position deletes, which PyIceberg reads but doesn't write: the delete file and its manifest are made here."""

import uuid

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import (
    DataFile, DataFileContent, FileFormat, ManifestContent, ManifestEntry, ManifestEntryStatus, ManifestWriterV2, write_manifest_list,
)
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.update import AddSnapshotUpdate, AssertRefSnapshotId, SetSnapshotRefUpdate

SCHEMA = pa.schema([
    pa.field("file_path", pa.string(), False, {"PARQUET:field_id": "2147483546"}),
    pa.field("pos", pa.int64(), False, {"PARQUET:field_id": "2147483545"}),
])


class DeleteManifestWriter(ManifestWriterV2):
    def content(self):
        return ManifestContent.DELETES

    @property
    def _meta(self):
        return super()._meta | {"content": "deletes"}


def delete_positions(table, rng):
    """Deletes random rows of a random file. Returns how, or None if the table has no such deletes."""
    tasks = sorted(table.scan().plan_files(), key=lambda task: task.file.file_path) if table.current_snapshot() else []
    if table.format_version != 2 or not tasks:
        return None
    file = rng.choice(tasks).file
    rows = sorted(rng.sample(range(file.record_count), rng.randint(1, file.record_count)))
    path = f"{table.location()}/data/deletes-{uuid.uuid4()}.parquet"
    with table.io.new_output(path).create() as out:
        pq.write_table(pa.table([[file.file_path] * len(rows), rows], schema=SCHEMA), out)
    delete = DataFile.from_args(
        _table_format_version=2, content=DataFileContent.POSITION_DELETES, file_path=path, file_format=FileFormat.PARQUET,
        partition=file.partition, record_count=len(rows), file_size_in_bytes=len(table.io.new_input(path)), spec_id=file.spec_id,
    )
    commit(table, file.spec_id, delete)
    return file.file_path.rsplit("/", 1)[1], rows


def commit(table, spec_id, delete):
    snapshot_id, parent, at = table.metadata.new_snapshot_id(), table.current_snapshot(), f"{table.location()}/metadata/{uuid.uuid4()}"
    writer = DeleteManifestWriter(table.specs()[spec_id], table.schema(), table.io.new_output(at + "-m.avro"), snapshot_id, "deflate")
    with writer:
        writer.add_entry(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=snapshot_id, data_file=delete))
    sequence = table.metadata.next_sequence_number()
    with write_manifest_list(2, table.io.new_output(at + "-list.avro"), snapshot_id, parent.snapshot_id, sequence, "deflate") as out:
        out.add_manifests([*parent.manifests(table.io), writer.to_manifest_file()])
    snapshot = Snapshot(
        snapshot_id=snapshot_id, parent_snapshot_id=parent.snapshot_id, sequence_number=sequence, manifest_list=at + "-list.avro",
        summary=Summary(Operation.DELETE), schema_id=table.schema().schema_id, timestamp_ms=parent.timestamp_ms + 1,
    )
    with table.transaction() as tx:
        tx._apply(
            (AddSnapshotUpdate(snapshot=snapshot), SetSnapshotRefUpdate(snapshot_id=snapshot_id, ref_name="main", type="branch")),
            (AssertRefSnapshotId(ref="main", snapshot_id=parent.snapshot_id),),
        )
