package manifest

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hamba/avro/v2/ocf"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/transform"
)

type fields = map[string]any

// entrySchema is the schema of a manifest of format version 3 whose partitions have the fields.
func entrySchema(partition string) string {
	return `{"type": "record", "name": "manifest_entry", "fields": [
	{"name": "status", "type": "int", "field-id": 0},
	{"name": "snapshot_id", "type": ["null", "long"], "default": null, "field-id": 1},
	{"name": "sequence_number", "type": ["null", "long"], "default": null, "field-id": 3},
	{"name": "file_sequence_number", "type": ["null", "long"], "default": null, "field-id": 4},
	{"name": "data_file", "type": {"type": "record", "name": "r2", "fields": [
		{"name": "content", "type": "int", "default": 0, "field-id": 134},
		{"name": "file_path", "type": "string", "field-id": 100},
		{"name": "file_format", "type": "string", "field-id": 101},
		{"name": "partition", "type": {"type": "record", "name": "r102", "fields": [` + partition + `]}, "field-id": 102},
		{"name": "record_count", "type": "long", "field-id": 103},
		{"name": "file_size_in_bytes", "type": "long", "field-id": 104},
		{"name": "lower_bounds", "type": ["null", {"type": "array", "logicalType": "map", "items":
			{"type": "record", "name": "k126_v127", "fields": [{"name": "key", "type": "int", "field-id": 126}, {"name": "value", "type": "bytes", "field-id": 127}]}}],
			"default": null, "field-id": 125},
		{"name": "upper_bounds", "type": ["null", {"type": "array", "logicalType": "map", "items":
			{"type": "record", "name": "k129_v130", "fields": [{"name": "key", "type": "int", "field-id": 129}, {"name": "value", "type": "bytes", "field-id": 130}]}}],
			"default": null, "field-id": 128},
		{"name": "key_metadata", "type": ["null", "bytes"], "default": null, "field-id": 131},
		{"name": "equality_ids", "type": ["null", {"type": "array", "items": "int", "element-id": 136}], "default": null, "field-id": 135},
		{"name": "first_row_id", "type": ["null", "long"], "default": null, "field-id": 142},
		{"name": "referenced_data_file", "type": ["null", "string"], "default": null, "field-id": 143},
		{"name": "content_offset", "type": ["null", "long"], "default": null, "field-id": 144},
		{"name": "content_size_in_bytes", "type": ["null", "long"], "default": null, "field-id": 145}
	]}, "field-id": 2}]}`
}

func withoutIDs(schema string) string {
	return regexp.MustCompile(`, "(field|element)-id": \d+`).ReplaceAllString(schema, "")
}

// fileEntry is a manifest entry; more replaces or adds fields of its data file.
func fileEntry(status int, more fields) fields {
	file := fields{
		"content": 0, "file_path": "/f", "file_format": "PARQUET", "partition": fields{}, "record_count": int64(10), "file_size_in_bytes": int64(100),
		"lower_bounds": nil, "upper_bounds": nil, "key_metadata": nil, "equality_ids": nil, "first_row_id": nil, "referenced_data_file": nil,
		"content_offset": nil, "content_size_in_bytes": nil,
	}
	entry := fields{"status": status, "snapshot_id": nil, "sequence_number": nil, "file_sequence_number": nil, "data_file": file}
	for name, v := range more {
		if _, ok := entry[name]; ok {
			entry[name] = v
		} else {
			file[name] = v
		}
	}
	return entry
}

func long(v int64) fields { return fields{"long": v} }

// writeAvro writes a file and returns its path.
func writeAvro(t *testing.T, schema string, records ...fields) string {
	t.Helper()
	var out bytes.Buffer
	w, err := ocf.NewEncoder(schema, &out, ocf.WithCodec(ocf.Deflate), ocf.WithSchemaMarshaler(ocf.FullSchemaMarshaler))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.avro")
	if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// visitAll returns what see returns of each entry.
func visitAll[T any](t *testing.T, m Info, specs map[catalog.SpecID]catalog.PartitionSpec, see func(*Entry) T) ([]T, error) {
	t.Helper()
	var out []T
	err := NewReader(fileio.Disk{}, specs).Visit(t.Context(), &m, StatColumns{All: true}, func(e *Entry) error {
		out = append(out, see(e))
		return nil
	})
	return out, err
}

func manifestAt(path string) Info {
	m := newManifest()
	m.Path = path
	return m
}

var unpartitioned = map[catalog.SpecID]catalog.PartitionSpec{0: {}}

// oneField is a spec of one field with the ID 1000.
func oneField(t *testing.T, fn string, source transform.Type) map[catalog.SpecID]catalog.PartitionSpec {
	t.Helper()
	parsed, err := transform.Parse(fn)
	if err != nil {
		t.Fatal(err)
	}
	return map[catalog.SpecID]catalog.PartitionSpec{0: {Fields: []catalog.PartitionField{
		{ID: 1000, Name: "p", Sources: []catalog.FieldID{1}, Transform: parsed, SourceType: source},
	}}}
}

func TestInheritance(t *testing.T) {
	id := int64(7)
	path := writeAvro(t, entrySchema(""),
		fileEntry(1, fields{"file_path": "/added"}),
		fileEntry(0, fields{"file_path": "/old", "sequence_number": long(3), "snapshot_id": long(2), "first_row_id": long(5)}),
		fileEntry(2, fields{"file_path": "/gone", "snapshot_id": long(7), "sequence_number": long(3), "file_sequence_number": long(2)}),
		fileEntry(0, fields{"file_path": "/upgraded", "sequence_number": long(4), "file_sequence_number": long(4)}),
		fileEntry(1, fields{"file_path": "/rewritten", "sequence_number": long(2)}))
	m := manifestAt(path)
	m.Sequence, m.SnapshotID = 9, &id
	see := func(e *Entry) string {
		return fmt.Sprint(e.Path, " ", e.Status, *e.SnapshotID, " ", e.Sequence, " ", e.FileSequence, " ", given(e.FirstRowID))
	}
	got, err := visitAll(t, m, unpartitioned, see)
	want := []string{"/added 1 7 9 9 none", "/old 0 2 3 -1 5", "/gone 2 7 3 2 none", "/upgraded 0 7 4 4 none", "/rewritten 1 7 2 9 none"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	first := int64(100)
	m.FirstRowID = &first
	got, err = visitAll(t, m, unpartitioned, func(e *Entry) string { return given(e.FirstRowID) })
	if want := []string{"100", "5", "none", "110", "120"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("row IDs %q, %v, want %q", got, err, want)
	}
}

// TestEntriesThatMakeNoSense are Corrupt, and the error names the manifest and what is wrong.
func TestEntriesThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		name  string
		entry fields
		want  string
	}{
		{"no path", fileEntry(1, fields{"file_path": ""}), "no file path"},
		{"status", fileEntry(3, nil), "status 3"},
		{"negative rows", fileEntry(1, fields{"record_count": int64(-1)}), "-1 rows"},
		{"deletes among data", fileEntry(1, fields{"content": 1}), "content 1"},
		{"unknown content", fileEntry(1, fields{"content": 9}), "content 9"},
		{"existing without a sequence number", fileEntry(0, nil), "no sequence number"},
	} {
		m := manifestAt(writeAvro(t, entrySchema(""), c.entry))
		m.Sequence = 4
		_, err := visitAll(t, m, unpartitioned, func(*Entry) bool { return true })
		if errs.KindOf(err) != errs.Corrupt || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), m.Path) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	path := writeAvro(t, entrySchema(""), fileEntry(1, nil))
	for name, change := range map[string]func(*Info){
		"1 live entries, but the manifest list says 2": func(m *Info) { m.AddedFiles, m.ExistingFiles = 1, 1 },
		"partition spec 5": func(m *Info) { m.Spec = 5 },
		"cut short":        func(m *Info) { m.Length = 1 << 20 },
	} {
		m := manifestAt(path)
		change(&m)
		if _, err := visitAll(t, m, unpartitioned, func(*Entry) bool { return true }); errs.KindOf(err) != errs.Corrupt || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
	m := manifestAt(path)
	m.KeyMetadata = []byte{1}
	if _, err := visitAll(t, m, unpartitioned, func(*Entry) bool { return true }); errs.KindOf(err) != errs.Unsupported {
		t.Errorf("an encrypted manifest: %v", err)
	}
}

// TestPartitionsAsTheyAreWritten reads values of one meaning from each form that writers give them.
func TestPartitionsAsTheyAreWritten(t *testing.T) {
	of := func(k transform.Kind) transform.Type { return transform.Type{Kind: k} }
	dec := transform.Type{Kind: transform.Decimal, Precision: 9, Scale: 2}
	for _, c := range []struct {
		name, fn string
		source   transform.Type
		avro     string
		value    any
		want     transform.Value
	}{
		{"TRF-6 date", "day", of(transform.Timestamp), `{"type": "int", "logicalType": "date"}`, fields{"int.date": 17486}, int32(17486)},
		{"TRF-6 int", "day", of(transform.Timestamp), `"int"`, fields{"int": 17486}, int32(17486)},
		{"long promoted from int", "identity", of(transform.Long), `"int"`, fields{"int": 5}, int64(5)},
		{"fixed decimal", "identity", dec, `{"type": "fixed", "name": "d", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}`,
			fields{"d": [4]byte{0xff, 0xff, 0xfa, 0x74}}, big.NewInt(-1420)},
		{"decimal in bytes", "identity", dec, `{"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}`,
			fields{"bytes.decimal": big.NewRat(1420, 100)}, big.NewInt(1420)},
		{"uuid", "identity", of(transform.UUID), `{"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"}`, fields{"u": [16]byte{1, 2}}, [16]byte{1, 2}},
		{"empty string", "identity", of(transform.String), `"string"`, fields{"string": ""}, ""},
		{"NULL", "bucket[4]", of(transform.Long), `"int"`, nil, nil},
		{"EVP-1 a dropped column", "bucket[4]", of(transform.None), `"int"`, fields{"int": 3}, int32(3)},
		{"EVP-6 void", "void", of(transform.String), `"int"`, fields{"int": 3}, nil},
	} {
		schema := entrySchema(`{"name": "p", "type": ["null", ` + c.avro + `], "default": null, "field-id": 1000}`)
		for _, schema := range []string{schema, withoutIDs(schema)} {
			m := manifestAt(writeAvro(t, schema, fileEntry(1, fields{"partition": fields{"p": c.value}})))
			got, err := visitAll(t, m, oneField(t, c.fn, c.source), func(e *Entry) transform.Value { return e.Partition[0] })
			if err != nil || !reflect.DeepEqual(got, []transform.Value{c.want}) {
				t.Errorf("%s: got %v, %v, want %v", c.name, got, err, c.want)
			}
		}
	}
}

func TestPartitionsThatMakeNoSense(t *testing.T) {
	dec := transform.Type{Kind: transform.Decimal, Precision: 9, Scale: 3}
	for _, c := range []struct {
		name, fn    string
		source      transform.Type
		field, want string
		value       any
		kind        errs.Kind
	}{
		{"missing", "identity", transform.Type{Kind: transform.Long}, `{"name": "q", "type": ["null", "int"], "field-id": 1001}`, `1000 "p"`, nil, errs.Corrupt},
		{"type", "identity", transform.Type{Kind: transform.Long}, `{"name": "p", "type": ["null", "string"], "field-id": 1000}`, "not a long", fields{"string": "x"}, errs.Corrupt},
		{"bucket", "bucket[4]", transform.Type{Kind: transform.Long}, `{"name": "p", "type": ["null", "int"], "field-id": 1000}`, "value 4", fields{"int": 4}, errs.Corrupt},
		{"scale", "identity", dec, `{"name": "p", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}], "field-id": 1000}`,
			"scale 2, not 3", nil, errs.Corrupt},
		{"date promoted", "identity", transform.Type{Kind: transform.Timestamp}, `{"name": "p", "type": ["null", {"type": "int", "logicalType": "date"}], "field-id": 1000}`,
			"promoted from date", fields{"int.date": 1}, errs.Unsupported},
	} {
		name := "p"
		if strings.Contains(c.field, `"q"`) {
			name = "q"
		}
		m := manifestAt(writeAvro(t, entrySchema(c.field), fileEntry(1, fields{"partition": fields{name: c.value}})))
		_, err := visitAll(t, m, oneField(t, c.fn, c.source), func(*Entry) bool { return true })
		if errs.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// TestOneFieldIDInTwoSpecs is EVP-4: a writer gave one field ID to fields of two types.
func TestOneFieldIDInTwoSpecs(t *testing.T) {
	specs := oneField(t, "bucket[4]", transform.Type{Kind: transform.String})
	other := oneField(t, "truncate[2]", transform.Type{Kind: transform.String})[0]
	other.ID = 1
	specs[1] = other
	for id, c := range map[catalog.SpecID]struct {
		avro  string
		value any
		want  transform.Value
	}{0: {"int", fields{"int": 2}, int32(2)}, 1: {"string", fields{"string": "eu"}, "eu"}} {
		m := manifestAt(writeAvro(t, entrySchema(`{"name": "p", "type": ["null", "`+c.avro+`"], "field-id": 1000}`), fileEntry(1, fields{"partition": fields{"p": c.value}})))
		m.Spec = id
		got, err := visitAll(t, m, specs, func(e *Entry) transform.Value { return e.Partition[0] })
		if err != nil || !reflect.DeepEqual(got, []transform.Value{c.want}) {
			t.Errorf("spec %d: got %v, %v", id, got, err)
		}
	}
}

const listV1 = `{"type": "record", "name": "manifest_file", "fields": [
	{"name": "manifest_path", "type": "string", "field-id": 500}, {"name": "manifest_length", "type": "long", "field-id": 501},
	{"name": "partition_spec_id", "type": "int", "field-id": 502}, {"name": "added_snapshot_id", "type": ["null", "long"], "field-id": 503},
	{"name": "added_data_files_count", "type": ["null", "int"], "field-id": 504},
	{"name": "existing_data_files_count", "type": ["null", "int"], "field-id": 505},
	{"name": "deleted_data_files_count", "type": ["null", "int"], "field-id": 506},
	{"name": "partitions", "type": ["null", {"type": "array", "items": {"type": "record", "name": "r508", "fields": [
		{"name": "contains_null", "type": "boolean", "field-id": 509}, {"name": "lower_bound", "type": ["null", "bytes"], "field-id": 510},
		{"name": "upper_bound", "type": ["null", "bytes"], "field-id": 511}]}, "element-id": 508}], "field-id": 507}]}`

// TestOldManifestLists is BAK-6: what a list of format version 1 lacks has its default, with IDs in the schema and without.
func TestOldManifestLists(t *testing.T) {
	for _, schema := range []string{listV1, withoutIDs(listV1)} {
		path := writeAvro(t, schema, fields{
			"manifest_path": "/m", "manifest_length": int64(5), "partition_spec_id": 0, "added_snapshot_id": nil,
			"added_data_files_count": nil, "existing_data_files_count": fields{"int": 2}, "deleted_data_files_count": nil,
			"partitions": fields{"array": []fields{{"contains_null": true, "lower_bound": fields{"bytes": []byte{}}, "upper_bound": nil}}},
		})
		list, err := ReadList(t.Context(), fileio.Disk{}, path)
		want := newManifest()
		want.Path, want.Length, want.ExistingFiles = "/m", 5, 2
		want.Partitions = []FieldSummary{{ContainsNull: true, Lower: []byte{}}}
		if err != nil || !reflect.DeepEqual(list, []Info{want}) {
			t.Errorf("got %+v, %v, want %+v", list, err, want)
		}
		if _, known := list[0].Live(); known {
			t.Error("a missing count is known")
		}
	}
}

// TestOldManifests is BAK-6 and the rest of format version 1: fields that are gone by now, and no sequence numbers.
func TestOldManifests(t *testing.T) {
	const schema = `{"type": "record", "name": "manifest_entry", "fields": [
		{"name": "status", "type": "int", "field-id": 0}, {"name": "snapshot_id", "type": "long", "field-id": 1},
		{"name": "data_file", "type": {"type": "record", "name": "r2", "fields": [
			{"name": "file_path", "type": "string", "field-id": 100}, {"name": "file_format", "type": "string", "field-id": 101},
			{"name": "partition", "type": {"type": "record", "name": "r102", "fields": []}, "field-id": 102},
			{"name": "record_count", "type": "long", "field-id": 103}, {"name": "file_size_in_bytes", "type": "long", "field-id": 104},
			{"name": "block_size_in_bytes", "type": "long", "field-id": 105},
			{"name": "sort_columns", "type": ["null", {"type": "array", "items": "int", "element-id": 160}], "field-id": 107}
		]}, "field-id": 2}]}`
	for _, schema := range []string{schema, withoutIDs(schema)} {
		m := manifestAt(writeAvro(t, schema, fields{"status": 0, "snapshot_id": int64(3), "data_file": fields{
			"file_path": "/f", "file_format": "parquet", "partition": fields{}, "record_count": int64(4), "file_size_in_bytes": int64(5),
			"block_size_in_bytes": int64(64), "sort_columns": nil,
		}}))
		m.Sequence = 6 // as an upgraded table's list may say of it
		got, err := visitAll(t, m, unpartitioned, func(e *Entry) string {
			return fmt.Sprint(e.Path, " ", *e.SnapshotID, " ", e.Sequence, " ", e.FileSequence, " ", e.Content, " ", e.Rows, " ", e.Bytes, " ", e.Gives(132))
		})
		if want := []string{"/f 3 0 0 0 4 5 false"}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func TestAvroNames(t *testing.T) {
	for name, want := range map[string]string{"id_bucket": "id_bucket", "with space": "with_x20space", "a.b": "a_x2Eb", "9a": "_9a", "é": "_xE9"} {
		if got := AvroName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

// given writes what a pointer points to, or none.
func given[T any](p *T) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprint(*p)
}

// TestDeleteFields are the fields that entries of delete manifests alone have, and what they are where they are null.
func TestDeleteFields(t *testing.T) {
	bound := func(v string) fields { return fields{"array": []fields{{"key": 7, "value": []byte(v)}}} }
	for _, c := range []struct {
		file fields
		want string
	}{
		{fields{"content": 1}, "1 parquet [] \"\" none none \"\" \"\""},
		{fields{"content": 2, "equality_ids": fields{"array": []int{5, 2, 5}}}, "2 parquet [5 2 5] \"\" none none \"\" \"\""},
		{fields{"content": 1, "lower_bounds": bound("/f"), "upper_bounds": bound("/g")}, "1 parquet [] \"\" none none \"/f\" \"/g\""},
		{fields{"content": 1, "file_format": "PUFFIN", "referenced_data_file": fields{"string": "/f"}, "content_offset": long(4), "content_size_in_bytes": long(46)},
			"1 puffin [] \"/f\" 4 46 \"\" \"\""},
	} {
		m := manifestAt(writeAvro(t, entrySchema(""), fileEntry(1, c.file)))
		m.Content = PositionDeletes
		got, err := visitAll(t, m, unpartitioned, func(e *Entry) string {
			return fmt.Sprintf("%d %s %v %q %s %s %q %q", e.Content, e.Format, e.EqualityIDs, e.Referenced, given(e.Offset), given(e.Length), e.Lower[7], e.Upper[7])
		})
		if err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("got %q, %v, want %s", got, err, c.want)
		}
	}
}
