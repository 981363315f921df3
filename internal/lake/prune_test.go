package lake

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/internal/survey"
	"github.com/tarndb/tarn/transform"
)

// columnValues reads the primitive columns of a file by another reader than the engine's, as Values. A column that the
// file lacks has its partition's value or its default; one whose type this reader doesn't know is left out.
func columnValues(t testing.TB, f catalog.DataFile, columns []catalog.Field) map[catalog.FieldID][]transform.Value {
	t.Helper()
	r, err := pqfile.OpenParquetFile(f.Ref.Local, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	reader, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := reader.ReadTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	root := r.MetaData().Schema.Root()
	values := map[catalog.FieldID][]transform.Value{}
	for _, c := range columns {
		absent := c.InitialDefault
		if constant, ok := f.Constants[c.ID]; ok {
			absent = constant
		}
		values[c.ID] = slices.Repeat([]transform.Value{absent}, int(r.NumRows()))
		for at := range root.NumFields() {
			isColumn := root.Field(at).FieldID() == int32(c.ID)
			if f.ByName {
				own, ok := f.Shape.Field(c.ID)
				isColumn = ok && own.Name == root.Field(at).Name()
			}
			if _, isConstant := f.Constants[c.ID]; !isColumn || isConstant {
				continue
			}
			if read, ok := arrowValues(table.Column(at), c.Type.Primitive); ok {
				values[c.ID] = read
			} else {
				delete(values, c.ID)
			}
		}
	}
	return values
}

func arrowValues(column *arrow.Column, typ transform.Type) ([]transform.Value, bool) {
	var values []transform.Value
	for _, chunk := range column.Data().Chunks() {
		for i := range chunk.Len() {
			v, ok := arrowValue(chunk, i, typ)
			if !ok {
				return nil, false
			}
			values = append(values, v)
		}
	}
	return values, true
}

func arrowValue(a arrow.Array, i int, t transform.Type) (transform.Value, bool) {
	if a.IsNull(i) {
		return nil, true
	}
	switch a := a.(type) {
	case *array.Int32:
		return manifest.FitValue(t, a.Value(i))
	case *array.Int64:
		return manifest.FitValue(t, a.Value(i))
	case *array.Float32:
		return manifest.FitValue(t, a.Value(i))
	case *array.Float64:
		return manifest.FitValue(t, a.Value(i))
	case *array.String:
		return manifest.FitValue(t, a.Value(i))
	case *array.Binary:
		return manifest.FitValue(t, a.Value(i))
	case *array.FixedSizeBinary:
		return manifest.FitValue(t, a.Value(i))
	case *array.Boolean:
		return manifest.FitValue(t, a.Value(i))
	case *array.Date32:
		return manifest.FitValue(t, int32(a.Value(i)))
	case *array.Timestamp:
		return manifest.FitValue(t, int64(a.Value(i)))
	case *array.Time64:
		return manifest.FitValue(t, int64(a.Value(i)))
	case *array.Decimal128:
		return manifest.FitValue(t, a.Value(i).BigInt())
	}
	return nil, false
}

// TestPruningLosesNoRow asks many filters of every golden table and looks into every file that is left out.
func TestPruningLosesNoRow(t *testing.T) {
	rng := seed.Rand(t)
	var asked, pruned, files int
	for _, g := range goldenTables(t) {
		table, layout, err := readGolden(t, g)
		if err != nil || table.Snapshot == nil || g.id[0] == "broken" {
			continue
		}
		columns := slices.DeleteFunc(slices.Clone(table.Schema.Fields), func(f catalog.Field) bool { return f.Type.Nested != catalog.NotNested })
		all := rowsByColumn(t, layout, columns)
		for _, column := range columns {
			rows := all[column.ID]
			for range 3 {
				filter, ok := randomFilter(rng, rows, column)
				if !ok {
					break
				}
				got, err := g.catalog.Survey(t.Context(), table, filter)
				if err != nil {
					t.Fatal(err)
				}
				checkLeftOut(t, g.id.String(), got, filter, rows)
				asked++
				pruned += got.Counts.FilesPruned
				files += got.Counts.Files
			}
		}
	}
	t.Logf("%d filters left out %d of %d files", asked, pruned, files)
	if asked < 1000 || pruned < files/5 {
		t.Errorf("%d filters left out %d of %d files: too few to mean anything", asked, pruned, files)
	}
}

// rowsByColumn returns all values of the table: of each column, by file.
func rowsByColumn(t testing.TB, layout *catalog.TableLayout, columns []catalog.Field) map[catalog.FieldID]map[string][]transform.Value {
	t.Helper()
	rows := map[catalog.FieldID]map[string][]transform.Value{}
	err := layout.Files(t.Context(), func(f catalog.DataFile) error {
		for id, values := range columnValues(t, f, columns) {
			if rows[id] == nil {
				rows[id] = map[string][]transform.Value{}
			}
			rows[id][f.Ref.Path] = values
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func checkLeftOut(t *testing.T, name string, got *catalog.TableLayout, filter catalog.Filter, rows map[string][]transform.Value) {
	t.Helper()
	kept := map[string]bool{}
	if err := got.Files(t.Context(), func(f catalog.DataFile) error { kept[f.Ref.Path] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	c := got.Counts
	if c.Files-c.FilesPruned != len(kept) {
		t.Errorf("%s: %+v, but %d files are kept", name, c, len(kept))
	}
	for path, values := range rows {
		for _, v := range values {
			if !kept[path] && satisfies(filter, v) {
				t.Errorf("%s: %s is left out, but its value %v satisfies %s", name, path, v, show(filter))
				break
			}
		}
	}
}

// satisfies evaluates a filter of one column, as SQL would.
func satisfies(f catalog.Filter, v transform.Value) bool {
	switch f.Op {
	case catalog.AlwaysTrue:
		return true
	case catalog.And:
		for _, term := range f.Terms {
			if !satisfies(term, v) {
				return false
			}
		}
		return true
	case catalog.Or:
		for _, term := range f.Terms {
			if satisfies(term, v) {
				return true
			}
		}
		return false
	}
	return f.Op == catalog.Test && f.Pred.Eval(f.Type, v)
}

func show(f catalog.Filter) string { return fmt.Sprintf("%+v", f) }

func isNaN(v transform.Value) bool {
	double, _ := v.(float64)
	float, _ := v.(float32)
	return double != double || float != float
}

// randomFilter makes a filter from values that are in the table and values next to them.
func randomFilter(rng *rand.Rand, rows map[string][]transform.Value, column catalog.Field) (catalog.Filter, bool) {
	var pool []transform.Value
	for _, values := range rows {
		for _, v := range values {
			if v != nil && !isNaN(v) {
				pool = append(pool, v)
			}
		}
	}
	if len(pool) == 0 {
		return catalog.Filter{}, false
	}
	pick := func() transform.Value { return near(rng, pool[rng.IntN(len(pool))]) }
	test := func() catalog.Filter {
		p := transform.Predicate{Op: transform.PredicateOp(rng.IntN(int(transform.NotStartsWith) + 1))}
		text := column.Type.Primitive.Kind == transform.String || column.Type.Primitive.Kind == transform.Binary
		switch {
		case p.Op <= transform.NotNaN:
		case p.Op == transform.In || p.Op == transform.NotIn:
			for range 1 + rng.IntN(3) {
				p.Values = append(p.Values, pick())
			}
		case p.Op < transform.In || text:
			p.Values = []transform.Value{pick()}
		default:
			p = transform.Predicate{Op: transform.EQ, Values: []transform.Value{pick()}}
		}
		return catalog.Filter{Op: catalog.Test, Field: column.ID, Type: column.Type.Primitive, Pred: p}
	}
	switch rng.IntN(4) {
	case 0:
		return catalog.AllOf(test(), test()), true
	case 1:
		return catalog.AnyOf(test(), test()), true
	}
	return test(), true
}

func near(rng *rand.Rand, v transform.Value) transform.Value {
	step := int64(rng.IntN(3) - 1)
	switch v := v.(type) {
	case int32:
		if n := int64(v) + step; n == int64(int32(n)) {
			return int32(n)
		}
	case int64:
		if v < math.MaxInt64 && v > math.MinInt64 {
			return v + step
		}
	case *big.Int:
		return new(big.Int).Add(v, big.NewInt(step))
	case string:
		if r := []rune(v); rng.IntN(3) == 0 && len(r) > 0 {
			return string(r[:rng.IntN(len(r)+1)])
		}
	case []byte:
		if rng.IntN(3) == 0 {
			return v[:rng.IntN(len(v)+1)]
		}
	}
	return v
}

func isTest(op transform.PredicateOp, values ...transform.Value) transform.Predicate {
	return transform.Predicate{Op: op, Values: values}
}

// TestEmptyStringInSummaries is defect D1: iceberg-go writes a null bound for the empty string, also where other values
// follow, and a manifest must not be skipped for it.
func TestEmptyStringInSummaries(t *testing.T) {
	str := transform.Type{Kind: transform.String}
	spec := iceberg.NewPartitionSpec(iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1000, Name: "name", Transform: iceberg.IdentityTransform{}})
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "name", Type: iceberg.PrimitiveTypes.String})
	for _, values := range [][]any{{"", "abc"}, {""}, {nil, ""}, {nil, "", "abc"}} {
		m := defectiveManifest(t, spec, schema, values)
		if m.Partitions[0].Lower != nil {
			t.Error("iceberg-go has been mended: D1 is gone")
		}
		for _, v := range values {
			pred := isTest(transform.IsNull)
			if v != nil {
				pred = isTest(transform.EQ, v)
			}
			if !survey.SummaryFacts(m.Partitions[0], str).MayHold(str, pred) {
				t.Errorf("a manifest of %q is skipped for %v", values, pred)
			}
		}
	}
}

// defectiveManifest has iceberg-go write a manifest with a file for each partition value, and a list of it, which is read.
func defectiveManifest(t *testing.T, spec iceberg.PartitionSpec, schema *iceberg.Schema, values []any) manifest.Info {
	t.Helper()
	var buf bytes.Buffer
	w, err := iceberg.NewManifestWriter(2, &buf, spec, schema, 1)
	if err != nil {
		t.Fatal(err)
	}
	id := int64(1)
	for i, v := range values {
		b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, fmt.Sprintf("/f%d", i), iceberg.ParquetFile, map[int]any{1000: v}, nil, nil, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &id, nil, nil, b.Build())); err != nil {
			t.Fatal(err)
		}
	}
	m, err := w.ToManifestFile("/m.avro", int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var list bytes.Buffer
	seq := int64(1)
	if err := iceberg.WriteManifestList(2, &list, id, nil, &seq, 0, []iceberg.ManifestFile{m}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "list.avro")
	if err := os.WriteFile(path, list.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	read, err := manifest.ReadList(t.Context(), fileio.Disk{}, path)
	if err != nil {
		t.Fatal(err)
	}
	return read[0]
}

func TestSummariesOfOwnManifests(t *testing.T) {
	str := transform.Type{Kind: transform.String}
	spec := catalog.PartitionSpec{Fields: []catalog.PartitionField{{ID: 1000, Sources: []catalog.FieldID{1}, SourceType: str}}}
	s := writtenSummary(t, spec, [][]transform.Value{{"b"}, {nil}, {""}, {"ab"}})
	if !s.ContainsNull || *s.ContainsNaN || s.Lower == nil || len(s.Lower) != 0 || string(s.Upper) != "b" {
		t.Errorf("got %+v", s)
	}
	float := catalog.PartitionSpec{Fields: []catalog.PartitionField{{ID: 1000, Sources: []catalog.FieldID{1}, SourceType: transform.Type{Kind: transform.Double}}}}
	if s := writtenSummary(t, float, [][]transform.Value{{math.NaN()}}); !*s.ContainsNaN || s.Lower != nil || s.ContainsNull {
		t.Errorf("NaN gets into the bounds: %+v", s)
	}
}

// writtenSummary returns what a manifest list that we wrote says of the only partition field of files of the tuples.
func writtenSummary(t *testing.T, spec catalog.PartitionSpec, tuples [][]transform.Value) manifest.FieldSummary {
	t.Helper()
	id := int64(7)
	w, err := manifest.NewWriter(manifest.Header{Version: 2, Spec: spec}, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, tuple := range tuples {
		e := &manifest.Entry{Status: manifest.Added, SnapshotID: &id, Sequence: manifest.NoSequence, FileSequence: manifest.NoSequence}
		e.File = manifest.File{Path: "/f", Format: catalog.Parquet, Partition: tuple}
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	_, m, err := w.Finish("/m")
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := manifest.List{Version: 2, SnapshotID: id, Sequence: 1}.Encode([]manifest.Info{m})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "list.avro")
	if err := os.WriteFile(path, list, 0o666); err != nil {
		t.Fatal(err)
	}
	read, err := manifest.ReadList(t.Context(), fileio.Disk{}, path)
	if err != nil {
		t.Fatal(err)
	}
	return read[0].Partitions[0]
}

// TestParallelSurveys makes the race detector look at what surveys share.
func TestParallelSurveys(t *testing.T) {
	c := goldenHadoop(t)
	table, err := c.LoadTable(t.Context(), catalog.Ident{"shop", "many_files"}, catalog.Version{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for range 8 {
		go func() {
			layout, err := c.Survey(t.Context(), table, catalog.Filter{})
			if err == nil {
				_, err = c.Prepare(t.Context(), table, []catalog.FieldID{1}, layout, "")
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Survey(stopped, table, catalog.Filter{}); err == nil {
		t.Error("a cancelled survey succeeds")
	}
}

// TestPRN12: what a manifest list says of a manifest's partitions must leave none of them out. A writer that says that there
// are no values makes every reader skip the manifest.
func TestPRN12(t *testing.T) {
	date, double, long := transform.Type{Kind: transform.Date}, transform.Type{Kind: transform.Double}, transform.Type{Kind: transform.Long}
	day, bucket := transform.Transform{Op: transform.Day}, transform.Transform{Op: transform.Bucket, N: 16}
	for _, c := range []struct {
		name         string
		typ          transform.Type
		fn           transform.Transform
		tuples       [][]transform.Value
		null, nan    bool
		lower, upper []byte
	}{
		{"days", date, day, [][]transform.Value{{int32(19722)}, {int32(19723)}}, false, false, []byte{0x0a, 0x4d, 0, 0}, []byte{0x0b, 0x4d, 0, 0}},
		{"only NULL", date, day, [][]transform.Value{{nil}}, true, false, nil, nil},
		{"NaN", double, transform.Transform{}, [][]transform.Value{{math.NaN()}, {1.0}}, false, true, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{"only NaN", double, transform.Transform{}, [][]transform.Value{{math.NaN()}}, false, true, nil, nil},
		{"buckets", long, bucket, [][]transform.Value{{int32(3)}, {int32(15)}}, false, false, []byte{3, 0, 0, 0}, []byte{15, 0, 0, 0}},
	} {
		spec := catalog.PartitionSpec{Fields: []catalog.PartitionField{{ID: 1000, Sources: []catalog.FieldID{1}, SourceType: c.typ, Transform: c.fn}}}
		s := writtenSummary(t, spec, c.tuples)
		if s.ContainsNull != c.null || *s.ContainsNaN != c.nan || !bytes.Equal(s.Lower, c.lower) || !bytes.Equal(s.Upper, c.upper) {
			t.Errorf("%s: null %v, NaN %v, %x to %x", c.name, s.ContainsNull, *s.ContainsNaN, s.Lower, s.Upper)
		}
		for _, tuple := range c.tuples { // what is written mustn't leave out what is there
			pred := isTest(transform.IsNull)
			switch v := tuple[0]; {
			case isNaN(v):
				pred = isTest(transform.IsNaN)
			case v != nil:
				pred = isTest(transform.EQ, v)
			}
			typ := c.fn.ResultType(c.typ)
			if !survey.SummaryFacts(s, typ).MayHold(typ, pred) {
				t.Errorf("%s: a manifest is skipped that has %v", c.name, tuple[0])
			}
		}
	}
}
