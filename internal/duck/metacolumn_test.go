package duck

import (
	"fmt"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

func pointer(n int64) *int64 { return &n }

// metadataTable has a partition field of each of two specs.
var metadataTable = &catalog.Table{FormatVersion: 3, Schema: &catalog.Schema{Fields: []catalog.Field{primitive(1, "c", stringType)}}, Specs: map[catalog.SpecID]catalog.PartitionSpec{
	0: {ID: 0, Fields: []catalog.PartitionField{{ID: 1000, Name: "r e", Sources: []catalog.FieldID{1}, SourceType: stringType}}},
	1: {ID: 1, Fields: []catalog.PartitionField{{ID: 1001, Name: "b", Sources: []catalog.FieldID{1}, SourceType: stringType,
		Transform: transform.Transform{Op: transform.Bucket, N: 4}}}},
}}

func metadataScan(t *testing.T, files []ScanFile, ids ...catalog.FieldID) Scan {
	s := Scan{Files: files}
	for _, id := range ids {
		f, ok := catalog.MetadataColumn(metadataTable, id)
		if !ok {
			t.Fatalf("no metadata column has the ID %d", id)
		}
		s.Columns = append(s.Columns, ScanColumn{f, f.Name})
	}
	return s
}

func TestScanMetadataColumns(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	key := primitive(1, "_pos", longType) // a column of the user's may have that name
	a := writeFile(t, c, "it's.parquet", "SELECT i AS _pos FROM range(3) t(i)", key)
	a.Partition, a.FirstRowID, a.Sequence = []transform.Value{"eu", nil}, pointer(100), 7
	b := writeFile(t, c, "b.parquet", "SELECT i AS _pos FROM range(2) t(i)", key)
	b.Spec, b.Partition, b.Sequence = 1, []transform.Value{nil, int32(3)}, 8
	s := metadataScan(t, []ScanFile{a, b}, catalog.PathID, catalog.PosID, catalog.SpecFieldID, catalog.PartitionID, catalog.RowID, catalog.LastUpdatedID)
	wantRows(t, c, "SELECT * REPLACE (_partition::VARCHAR AS _partition) FROM ("+mustScan(t, s)+") ORDER BY ALL",
		"s3://lake/b.parquet|0|1|{'r e': NULL, 'b': 3}|(null)|(null)", "s3://lake/b.parquet|1|1|{'r e': NULL, 'b': 3}|(null)|(null)",
		"s3://lake/it's.parquet|0|0|{'r e': eu, 'b': NULL}|100|7", "s3://lake/it's.parquet|1|0|{'r e': eu, 'b': NULL}|101|7",
		"s3://lake/it's.parquet|2|0|{'r e': eu, 'b': NULL}|102|7")
	columns, err := c.Describe(t.Context(), mustScan(t, s))
	want := `[{_file VARCHAR} {_pos BIGINT} {_spec_id INTEGER} {_partition STRUCT("r e" VARCHAR, b INTEGER)} {_row_id BIGINT} {_last_updated_sequence_number BIGINT}]`
	if err != nil || fmt.Sprint(columns) != want {
		t.Errorf("%v, %v", columns, err)
	}
	s.Columns = append(s.Columns, ScanColumn{key, "own"})
	s.Deletes = registerDeletes(t, db, atPositions(1), FileDeletes{})
	wantRows(t, c, "SELECT own, _row_id FROM ("+mustScan(t, s)+") WHERE _file LIKE '%it''s%' AND _pos > 0", "2|102")
	wantRows(t, c, "SELECT own FROM ("+mustScan(t, s)+") WHERE _spec_id = 1 AND _partition.b = 3 AND _pos = 1", "1")
	_, err = ScanSQL(Scan{Files: []ScanFile{a}, Columns: columnsOf(primitive(catalog.PosID-1, "_deleted", longType))})
	wantError(t, err, errs.Unsupported, "_deleted")
	if columns, err := c.Describe(t.Context(), mustScan(t, metadataScan(t, nil, catalog.PartitionID))); err != nil || columns[0].Type != `STRUCT("r e" VARCHAR, b INTEGER)` {
		t.Errorf("%v, %v", columns, err)
	}
}

// A position is that in the file, whatever is filtered, over many row groups.
func TestScanPositionsUnderFilters(t *testing.T) {
	_, c := session(t, Options{Threads: 2})
	key := primitive(1, "k", longType)
	file := writeFile(t, c, "a.parquet", "SELECT i AS k FROM range(20000) t(i)", key)
	file.FirstRowID = pointer(1_000_000)
	s := metadataScan(t, []ScanFile{file}, catalog.PosID, catalog.RowID)
	s.Columns = append(s.Columns, ScanColumn{key, "k"})
	text := mustScan(t, s)
	for _, where := range []string{"true", "k > 15000", "_pos BETWEEN 5000 AND 5010", "_pos = 19999", "_row_id = 1012345", "k % 1000 = 7", "_pos IN (1, 7000, 12001)"} {
		want := mustRows(t, c, "SELECT count(*) FROM (SELECT i AS k, i AS _pos, i + 1000000 AS _row_id FROM range(20000) t(i)) WHERE "+where)[0]
		wantRows(t, c, "SELECT count(*), coalesce(bool_and(k = _pos AND _row_id = k + 1000000), true) FROM ("+text+") WHERE "+where, want+"|true")
	}
	wantRows(t, c, "SELECT k, _pos FROM ("+text+") ORDER BY k DESC LIMIT 2", "19999|19999", "19998|19998")
	wantRows(t, c, "SELECT count(*) FROM ("+text+") x JOIN range(6000, 6010) r(i) ON x._pos = r.i WHERE x.k = x._pos", "10")
}

// Row IDs and sequence numbers that a file has win, row by row.
func TestScanStoredLineage(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	key := primitive(1, "k", longType)
	id, _ := catalog.MetadataColumn(metadataTable, catalog.RowID)
	updated, _ := catalog.MetadataColumn(metadataTable, catalog.LastUpdatedID)
	file := writeFile(t, c, "a.parquet", "FROM (VALUES (1::BIGINT, 500::BIGINT, NULL::BIGINT), (2, NULL, 3), (3, NULL, NULL)) v(k, _row_id, _last_updated_sequence_number)", key, id, updated)
	file.FirstRowID, file.Sequence = pointer(10), 9
	other := file
	other.FirstRowID = nil
	named := plainFile(t, c, "SELECT 4::BIGINT AS k, 77::BIGINT AS _row_id", key)
	named.FirstRowID, named.Sequence = pointer(20), 5
	s := metadataScan(t, []ScanFile{shaped(file, key)}, catalog.RowID, catalog.LastUpdatedID)
	wantRows(t, c, mustScan(t, s), "500|9", "11|3", "12|9")
	s.Files = []ScanFile{other}
	wantRows(t, c, mustScan(t, s), "500|(null)", "(null)|3", "(null)|(null)")
	s.Files = []ScanFile{named}
	wantRows(t, c, mustScan(t, s), "20|5")
}

// What a change is stands with its file; the same file may be there as added and as deleted.
func TestScanChanges(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	key := primitive(1, "k", longType)
	file := writeFile(t, c, "a.parquet", "SELECT 1::BIGINT AS k", key)
	as := func(kind string, ordinal int32, snapshot int64) ScanFile {
		f := file
		f.Constants = map[catalog.FieldID]transform.Value{catalog.ChangeTypeID: kind, catalog.ChangeOrdinalID: ordinal, catalog.CommitSnapshotID: snapshot}
		return f
	}
	s := metadataScan(t, []ScanFile{as("INSERT", 0, 1<<60), as("DELETE", 1, 5)}, catalog.ChangeOrdinalID, catalog.ChangeTypeID, catalog.CommitSnapshotID)
	s.Columns = append(s.Columns, ScanColumn{key, "k"})
	wantRows(t, c, "FROM ("+mustScan(t, s)+") ORDER BY ALL", "0|INSERT|1152921504606846976|1", "1|DELETE|5|1")
	if parts := s.parts(); len(parts) != 1 {
		t.Errorf("%d parts", len(parts))
	}
}
