package lake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// readMeta reads a metadata table's columns of the rows that the filter leaves; without names, all columns.
func readMeta(t testing.TB, c *Catalog, table *catalog.Table, filter catalog.Filter, names ...string) ([]map[string]any, *catalog.TableLayout, error) {
	t.Helper()
	var ids []catalog.FieldID
	for _, f := range table.Schema.Fields {
		if len(names) == 0 || slices.Contains(names, f.Name) {
			ids = append(ids, f.ID)
		}
	}
	layout, err := c.Survey(t.Context(), table, filter)
	if err != nil {
		return nil, nil, err
	}
	if layout, err = c.Prepare(t.Context(), table, ids, layout, t.TempDir()); err != nil {
		return nil, nil, err
	}
	var rows []map[string]any
	err = layout.Files(t.Context(), func(f catalog.DataFile) error {
		rows = parquetRows(t, f.Ref.Local)
		if f.Rows != int64(len(rows)) || layout.Counts.Rows != f.Rows || layout.Groups[0].Rows != f.Rows {
			t.Errorf("%s has %d rows, not %d", table.Ident, len(rows), f.Rows)
		}
		return nil
	})
	return rows, layout, err
}

// parquetRows reads rows as JSON tells them, numbers as their text.
func parquetRows(t testing.TB, path string) []map[string]any {
	t.Helper()
	f, err := pqfile.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 1000}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	batches, err := r.GetRecordReader(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer batches.Release()
	var rows []map[string]any
	for batches.Next() {
		text, err := array.RecordToStructArray(batches.RecordBatch()).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var some []map[string]any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&some); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, some...)
	}
	return rows
}

func metaOf(t testing.TB, c *Catalog, table *catalog.Table, kind string) *catalog.Table {
	t.Helper()
	m, err := c.MetadataTable(t.Context(), table, kind)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sumOf sums a column of whole numbers.
func sumOf(t testing.TB, rows []map[string]any, column string) (sum int64) {
	t.Helper()
	for _, r := range rows {
		n, err := r[column].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// TestMetadataTablesOfGolden reads every metadata table of every table that other engines wrote. What they say of the
// same thing must agree, and what can't be read is refused as such.
func TestMetadataTablesOfGolden(t *testing.T) {
	read := 0
	for _, g := range goldenTables(t) {
		table, err := g.catalog.LoadTable(t.Context(), g.id, catalog.Version{})
		if err != nil {
			continue
		}
		rows := map[string][]map[string]any{}
		for _, kind := range MetadataTables() {
			var columns []string // all of them, but for tables that have those of another one
			switch kind {
			case "data_files", "delete_files", "all_files", "all_data_files", "all_delete_files", "all_entries", "all_manifests":
				columns = []string{"content", "record_count", "status", "length"}
			}
			got, _, err := readMeta(t, g.catalog, metaOf(t, g.catalog, table, kind), catalog.Filter{}, columns...)
			switch k := errs.KindOf(err); {
			case err == nil:
				rows[kind] = got
				read++
			case k != errs.Corrupt && k != errs.NotFound && k != errs.Unsupported || !strings.Contains(err.Error(), "/"):
				t.Errorf("%s.%s: %v (%v)", g.id, kind, err, k)
			}
		}
		layout, err := g.catalog.Survey(t.Context(), table, catalog.Filter{})
		if err != nil {
			continue
		}
		if n := len(rows["files"]); n != layout.Counts.Files+layout.Counts.DeleteFiles || n != len(rows["data_files"])+len(rows["delete_files"]) {
			t.Errorf("%s has %d files, %d data files and %d delete files, and the survey says %+v", g.id, n, len(rows["data_files"]), len(rows["delete_files"]), layout.Counts)
		}
		if got := sumOf(t, rows["partitions"], "record_count"); got != layout.Counts.Rows || got != sumOf(t, rows["data_files"], "record_count") {
			t.Errorf("%s has %d rows by its partitions, and the survey says %+v", g.id, got, layout.Counts)
		}
		positions := slices.DeleteFunc(rows["delete_files"], func(r map[string]any) bool { return r["content"] != json.Number("1") })
		if got, ok := rows["position_deletes"]; ok && int64(len(got)) != sumOf(t, positions, "record_count") {
			t.Errorf("%s has %d positions in its delete files, and their records are %v", g.id, len(got), positions)
		}
		if len(rows["entries"]) < len(rows["files"]) || len(rows["all_entries"]) < len(rows["entries"]) {
			t.Errorf("%s has %d files, %d entries and %d in all", g.id, len(rows["files"]), len(rows["entries"]), len(rows["all_entries"]))
		}
	}
	if read < 1000 {
		t.Errorf("only %d metadata tables could be read", read)
	}
}

func TestMetadataTablesWithoutSnapshot(t *testing.T) {
	c := newLake(t, "hadoop", t.TempDir())
	for _, spec := range [][]catalog.PartitionField{nil, {field(t, 1, "bucket[4]")}} {
		table := createTest(t, c, NewTable{Ident: catalog.Ident{"db", fmt.Sprint("t", len(spec))}, Schema: testSchema(), Spec: spec})
		for _, kind := range MetadataTables() {
			m := metaOf(t, c, table, kind)
			rows, _, err := readMeta(t, c, m, catalog.Filter{})
			want := 0
			if kind == "metadata_log_entries" {
				want = 1
			}
			if err != nil || len(rows) != want {
				t.Errorf("%s has %d rows, %v", m.Ident, len(rows), err)
			}
			hasPartition := slices.ContainsFunc(m.Schema.Fields, func(f catalog.Field) bool { return f.Name == "partition" })
			if hasPartition && len(spec) == 0 {
				t.Errorf("%s of an unpartitioned table has a column partition", m.Ident)
			}
		}
	}
}

func TestMetadataTableErrors(t *testing.T) {
	c := newLake(t, "hadoop", t.TempDir())
	table := createTest(t, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema()})
	if _, err := c.MetadataTable(t.Context(), table, "file"); errs.KindOf(err) != errs.NotFound || !strings.Contains(err.Error(), "db.t.file") {
		t.Error(err)
	}
	files := metaOf(t, c, table, "FILES")
	if files.Ident.String() != "db.t.files" {
		t.Error(files.Ident)
	}
	if _, err := c.MetadataTable(t.Context(), files, "files"); errs.KindOf(err) != errs.Unsupported {
		t.Error(err)
	}
	if _, err := c.Append(t.Context(), files, nil); errs.KindOf(err) != errs.Unsupported || !strings.Contains(err.Error(), "can only be read") {
		t.Error(err)
	}
}

// appendEntry commits a file that isn't there, with what its entry says of its columns.
func appendEntry(t testing.TB, c *Catalog, table *catalog.Table, bounds map[int][]byte) *catalog.Table {
	t.Helper()
	counts := map[int]int64{}
	for id := range bounds {
		counts[id] = int64(id)
	}
	file := NewDataFile{File: manifest.File{
		Path: "/none/1.parquet", Format: catalog.Parquet, Rows: 7, Bytes: 1000, ValueCounts: counts, Lower: bounds, Upper: bounds,
	}}
	if _, err := c.Append(t.Context(), table, []NewDataFile{file}); err != nil {
		t.Fatal(err)
	}
	return load(t, c, table.Ident)
}

func TestReadableMetricsOfHostileBounds(t *testing.T) {
	types := map[string]transform.Type{
		"bool": {Kind: transform.Boolean}, "int": {Kind: transform.Int}, "long": {Kind: transform.Long}, "float": {Kind: transform.Float},
		"double": {Kind: transform.Double}, "decimal": {Kind: transform.Decimal, Precision: 9, Scale: 2}, "date": {Kind: transform.Date},
		"time": {Kind: transform.Time}, "timestamp": {Kind: transform.Timestamp}, "timestamptz": {Kind: transform.TimestampTZ},
		"string": {Kind: transform.String}, "uuid": {Kind: transform.UUID}, "fixed": {Kind: transform.Fixed, Length: 4}, "binary": {Kind: transform.Binary},
	}
	c := newLake(t, "hadoop", t.TempDir())
	for i, c2 := range []struct {
		bound []byte
		holds string // the types for which it makes sense
	}{
		{[]byte{}, "string fixed binary"},
		{[]byte{0xff}, "bool decimal fixed binary"},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "long decimal timestamp timestamptz fixed binary double"},
		{bytes.Repeat([]byte{0x7f}, 16), "uuid string fixed binary"},
		{bytes.Repeat([]byte{0xfe}, 40), "fixed binary"},
	} {
		schema := &catalog.Schema{}
		bounds := map[int][]byte{}
		for at, name := range slices.Sorted(func(yield func(string) bool) {
			for n := range types {
				if !yield(n) {
					return
				}
			}
		}) {
			schema.Fields = append(schema.Fields, catalog.Field{ID: catalog.FieldID(at + 1), Name: name, Type: catalog.Type{Primitive: types[name]}})
			bounds[at+1] = c2.bound
		}
		table := createTest(t, c, NewTable{Ident: catalog.Ident{"db", fmt.Sprint("t", i)}, Schema: schema})
		table = appendEntry(t, c, table, bounds)
		rows, _, err := readMeta(t, c, metaOf(t, c, table, "files"), catalog.Filter{}, "readable_metrics")
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		for name, m := range rows[0]["readable_metrics"].(map[string]any) {
			lower := m.(map[string]any)["lower_bound"]
			if want := slices.Contains(strings.Fields(c2.holds), name); want != (lower != nil) {
				t.Errorf("the bound %x of %s is %v", c2.bound, name, lower)
			}
		}
	}
}

func TestReadableMetricsOfManyColumns(t *testing.T) {
	c := newLake(t, "hadoop", t.TempDir())
	schema := &catalog.Schema{}
	odd := []string{"", "x y", `"`, "a'b", "\U0001F600", "\uffff", "SELECT", "{}", "é", "a\nb"}
	bounds := map[int][]byte{}
	for i := range 300 {
		name := fmt.Sprintf("c%03d%s", i, odd[i%len(odd)])
		schema.Fields = append(schema.Fields, catalog.Field{ID: catalog.FieldID(i + 1), Name: name, Type: primitive(transform.Int)})
		bounds[i+1] = []byte{byte(i), byte(i >> 8), 0, 0}
	}
	table := appendEntry(t, c, createTest(t, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: schema}), bounds)
	rows, _, err := readMeta(t, c, metaOf(t, c, table, "entries"), catalog.Filter{})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	metrics := rows[0]["readable_metrics"].(map[string]any)
	for i, f := range schema.Fields {
		m, _ := metrics[f.Name].(map[string]any)
		if want := json.Number(fmt.Sprint(i)); m["upper_bound"] != want || m["value_count"] != json.Number(fmt.Sprint(i+1)) || m["nan_value_count"] != nil {
			t.Fatalf("column %q: %v", f.Name, m)
		}
	}
}

func TestReadableMetricsOfNamesThatDifferInCase(t *testing.T) {
	var got []string
	for _, f := range readableMetrics([]catalog.Field{
		{ID: 1, Name: "b", Type: primitive(transform.Int)}, {ID: 2, Name: "a", Type: primitive(transform.Int)}, {ID: 3, Name: "B", Type: primitive(transform.Int)},
	}, nil).Type.Fields {
		got = append(got, f.Name)
	}
	if want := "B_3 a b_1"; strings.Join(got, " ") != want {
		t.Errorf("the columns are %q, want %s", got, want)
	}
}

func TestMetadataTableFilters(t *testing.T) {
	c := goldenHadoop(t)
	table, err := c.LoadTable(t.Context(), catalog.Ident{"dels", "eq_part"}, catalog.Version{})
	if err != nil {
		t.Fatal(err)
	}
	files := metaOf(t, c, table, "files")
	all, whole, err := readMeta(t, c, files, catalog.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		column string
		pred   transform.Predicate
		prunes bool // whole manifests
	}{
		{"content", isTest(transform.EQ, int32(0)), true},
		{"content", isTest(transform.EQ, int32(2)), true},
		{"content", isTest(transform.GE, int32(0)), false},
		{"spec_id", isTest(transform.NE, int32(0)), true},
		{"record_count", isTest(transform.GT, int64(2)), false},
		{"sort_order_id", isTest(transform.IsNull), false},
		{"file_path", isTest(transform.StartsWith, "file:/warehouse/dels/eq_part/data/"), false},
	} {
		at := slices.IndexFunc(files.Schema.Fields, func(x catalog.Field) bool { return x.Name == f.column })
		typ := files.Schema.Fields[at].Type.Primitive
		filter := catalog.Filter{Op: catalog.Test, Field: files.Schema.Fields[at].ID, Type: typ, Pred: f.pred}
		got, layout, err := readMeta(t, c, files, filter)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(slices.Clone(all), func(r map[string]any) bool { return !f.pred.Eval(typ, jsonValue(t, typ, r[f.column])) })
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s %+v: %d rows, want %d", f.column, f.pred, len(got), len(want))
		}
		if prunes := layout.Counts.ManifestsPruned > 0; prunes != f.prunes || layout.Counts.Manifests != whole.Counts.Manifests {
			t.Errorf("%s %+v: %+v", f.column, f.pred, layout.Counts)
		}
	}
}

func jsonValue(t testing.TB, typ transform.Type, v any) transform.Value {
	t.Helper()
	if v == nil {
		return nil
	}
	out, err := transform.ParseValue(typ, fmt.Sprint(v))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPartitionsOfSpecs has files of three specs, each with a tuple of NULLs alone.
func TestPartitionsOfSpecs(t *testing.T) {
	table := &catalog.Table{Schema: testSchema(), Specs: map[catalog.SpecID]catalog.PartitionSpec{}}
	for id := range 3 {
		spec := catalog.PartitionSpec{ID: catalog.SpecID(id)}
		for i := range id + 1 {
			f := field(t, catalog.FieldID(i+1), "identity")
			f.ID, f.Name, f.SourceType = catalog.PartitionFieldID(1000+i), table.Schema.Fields[i].Name, table.Schema.Fields[i].Type.Primitive
			spec.Fields = append(spec.Fields, f)
		}
		table.Specs[spec.ID] = spec
	}
	s := &metaScan{metaTable: &metaTable{of: table, union: catalog.PartitionType(table), places: catalog.PartitionPlaces(table)}}
	keys := map[string]bool{}
	for id := range 3 {
		e := &manifest.Entry{File: manifest.File{Spec: catalog.SpecID(id), Partition: make([]transform.Value, id+1)}}
		tuple, err := s.place(e)
		if err != nil {
			t.Fatal(err)
		}
		keys[string(s.partitionKey(&entryRow{e, tuple}))] = true
	}
	if len(keys) != 3 {
		t.Errorf("there are %d partitions", len(keys))
	}
}

func TestBoundText(t *testing.T) {
	for _, c := range []struct {
		typ  transform.Type
		v    transform.Value
		want string
	}{
		{transform.Type{Kind: transform.Float}, float32(1), "1.0"},
		{transform.Type{Kind: transform.Double}, 1e7, "1.0E7"},
		{transform.Type{Kind: transform.Double}, 1234567.25, "1234567.25"},
		{transform.Type{Kind: transform.Double}, -0.00015, "-1.5E-4"},
		{transform.Type{Kind: transform.Decimal, Precision: 9, Scale: 2}, big.NewInt(-5), "-0.05"},
		{transform.Type{Kind: transform.Decimal, Precision: 9, Scale: 9}, big.NewInt(12), "1.2E-8"},
		{transform.Type{Kind: transform.Decimal, Precision: 9, Scale: 6}, big.NewInt(1), "0.000001"},
		{transform.Type{Kind: transform.Decimal, Precision: 9, Scale: 7}, big.NewInt(0), "0E-7"},
		{transform.Type{Kind: transform.Time}, int64(3_600_000_000), "01:00"},
		{transform.Type{Kind: transform.Time}, int64(1_500), "00:00:00.001500"},
		{transform.Type{Kind: transform.Timestamp}, int64(1_000_000), "1970-01-01T00:00:01"},
		{transform.Type{Kind: transform.TimestampTZ}, int64(-1_000), "1969-12-31T23:59:59.999Z"},
		{transform.Type{Kind: transform.Binary}, []byte{1, 2, 255}, "AQL/"},
		{transform.Type{Kind: transform.Boolean}, true, "true"},
		{transform.Type{Kind: transform.Date}, int32(-1), "1969-12-31"},
		{transform.Type{Kind: transform.String}, "", ""},
	} {
		f := catalog.PartitionField{SourceType: c.typ}
		bound, err := transform.EncodeBound(c.typ, c.v)
		if err != nil {
			t.Fatal(err)
		}
		if bound == nil {
			bound = []byte{}
		}
		if got := boundText(f, bound); got != c.want {
			t.Errorf("%v of %s is written %v, want %s", c.v, c.typ, got, c.want)
		}
	}
}

func TestTellApart(t *testing.T) {
	fields := []catalog.Field{{ID: 1, Name: "id"}, {ID: 2, Name: "ID"}, {ID: 3, Name: "id_1"}, {ID: 4, Name: "v"}}
	tellApart(fields, func(i int) int { return int(fields[i].ID) })
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	if want := []string{"id_1_", "ID_2", "id_1", "v"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

func TestCheckFormat(t *testing.T) {
	for text, want := range map[string]string{
		`{"format-version": 2, "table-uuid": "x"}`: "",
		`{"format-version": 1, "view-uuid": "x"}`:  "unsupported: it is a view",
		`{"format-version": 4}`:                    "unsupported: the table is of format version 4",
		`{"format-version": 0}`:                    "corrupt: it has no format-version",
		`{"format-version"`:                        "corrupt: ",
	} {
		kind, message, _ := strings.Cut(want, ": ")
		err := checkFormat([]byte(text), "v1.metadata.json")
		if want == "" && err != nil || want != "" && (errs.KindOf(err).String() != kind || !strings.Contains(fmt.Sprint(err), message)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
