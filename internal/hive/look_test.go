package hive

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/datafile"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/faultfs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/transform"
)

// tree is a folder whose files have columns and no rows.
type tree struct {
	t   *testing.T
	dir string
}

func (r tree) file(path string, columns ...schema.Node) {
	r.t.Helper()
	full := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		r.t.Fatal(err)
	}
	f, err := os.Create(full)
	if err != nil {
		r.t.Fatal(err)
	}
	root := schema.MustGroup(schema.NewGroupNode("root", parquet.Repetitions.Required, columns, -1))
	if err := pqfile.NewParquetWriter(f, root).Close(); err != nil {
		r.t.Fatal(err)
	}
}

func (r tree) bytes(path string) {
	r.t.Helper()
	full := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte("no Parquet"), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r tree) look(folder string, types map[string]catalog.Type) (string, error) {
	l, err := Look(r.t.Context(), datafile.Reader{Files: fileio.Disk{}, Footers: &datafile.Footers{}}, filepath.Join(r.dir, folder), types)
	if err != nil {
		return "", err
	}
	return typesText(l.Columns) + " by " + strings.Join(l.Levels, ", "), nil
}

func typesText(fields []catalog.Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		typ := f.Type.Primitive.String()
		if f.Type.Nested != catalog.NotNested {
			typ = [...]string{"", "struct", "list", "map"}[f.Type.Nested] + "<" + typesText(f.Type.Fields) + ">"
		}
		parts[i] = f.Name + " " + typ
		if f.Required {
			parts[i] += "!"
		}
	}
	return strings.Join(parts, ", ")
}

var optional, required, repeated = parquet.Repetitions.Optional, parquet.Repetitions.Required, parquet.Repetitions.Repeated

func pqInt(name string) schema.Node  { return schema.NewInt32Node(name, optional, -1) }
func pqLong(name string) schema.Node { return schema.NewInt64Node(name, required, -1) }

func logical(name string, t schema.LogicalType, physical parquet.Type, length int) schema.Node {
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, optional, t, physical, length, -1))
}

func pqString(name string) schema.Node {
	return logical(name, schema.StringLogicalType{}, parquet.Types.ByteArray, -1)
}

func pqDecimal(name string, precision, scale int32) schema.Node {
	return logical(name, schema.NewDecimalLogicalType(precision, scale), parquet.Types.Int64, -1)
}

func pqTime(name string, zoned bool, unit schema.TimeUnitType) schema.Node {
	return logical(name, schema.NewTimestampLogicalType(zoned, unit), parquet.Types.Int64, -1)
}

func group(name string, kind schema.ConvertedType, r parquet.Repetition, fields ...schema.Node) schema.Node {
	return schema.Must(schema.NewGroupNodeConverted(name, r, fields, kind, -1))
}

func pqStruct(name string, fields ...schema.Node) schema.Node {
	return group(name, schema.ConvertedTypes.None, optional, fields...)
}

// TestTypes takes columns for the Iceberg types that stand for them.
func TestTypes(t *testing.T) {
	r := tree{t, t.TempDir()}
	primitive := func(name string, p parquet.Type, length int) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNode(name, optional, p, -1, int32(length)))
	}
	r.file("all/a.parquet",
		pqInt("i"), pqLong("l"), primitive("f", parquet.Types.Float, -1), primitive("d", parquet.Types.Double, -1), primitive("b", parquet.Types.Boolean, -1),
		primitive("bin", parquet.Types.ByteArray, -1), primitive("fix", parquet.Types.FixedLenByteArray, 3), pqString("s"), pqDecimal("dec", 9, 2),
		logical("tiny", schema.NewIntLogicalType(8, true), parquet.Types.Int32, -1), logical("dt", schema.DateLogicalType{}, parquet.Types.Int32, -1),
		logical("t", schema.NewTimeLogicalType(true, schema.TimeUnitMicros), parquet.Types.Int64, -1), pqTime("ts", false, schema.TimeUnitMicros),
		pqTime("tz", true, schema.TimeUnitMillis), pqTime("ns", false, schema.TimeUnitNanos), primitive("i96", parquet.Types.Int96, -1),
		logical("u", schema.UUIDLogicalType{}, parquet.Types.FixedLenByteArray, 16), logical("j", schema.JSONLogicalType{}, parquet.Types.ByteArray, -1),
		pqStruct("st", pqInt("x"), group("y", schema.ConvertedTypes.List, optional, group("list", schema.ConvertedTypes.None, repeated, pqString("item")))),
		group("m", schema.ConvertedTypes.Map, optional, group("key_value", schema.ConvertedTypes.None, repeated, schema.NewByteArrayNode("k", required, -1), pqInt("v"))),
	)
	const want = "i int, l long, f float, d double, b boolean, bin binary, fix fixed[3], s string, dec decimal(9, 2), tiny int, dt date, t time, ts timestamp, " +
		"tz timestamptz, ns timestamp_ns, i96 timestamptz, u uuid, j string, st struct<x int, y list<element string>>, m map<key binary!, value int> by "
	if got, err := r.look("all", nil); got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	for name, column := range map[string]schema.Node{
		"unsigned": logical("c", schema.NewIntLogicalType(32, false), parquet.Types.Int32, -1),
		"bson":     logical("c", schema.BSONLogicalType{}, parquet.Types.ByteArray, -1),
		"nanos":    logical("c", schema.NewTimeLogicalType(true, schema.TimeUnitNanos), parquet.Types.Int64, -1),
		"within":   pqStruct("c", logical("inner", schema.NullLogicalType{}, parquet.Types.Int32, -1)),
		"repeated": schema.NewInt32Node("c", repeated, -1),
	} {
		r.file(name+"/a.parquet", pqInt("fine"), column)
		if got, err := r.look(name, nil); errs.KindOf(err) != errs.Unsupported || !strings.Contains(fmt.Sprint(err), name+"/a.parquet") || !strings.Contains(fmt.Sprint(err), "field c") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// TestUnion makes one table's columns of those of several files.
func TestUnion(t *testing.T) {
	r := tree{t, t.TempDir()}
	r.file("wide/1.parquet", pqInt("a"), pqDecimal("d", 9, 2), pqStruct("s", pqInt("x")))
	r.file("wide/2.parquet", pqDecimal("d", 12, 2), pqLong("a"), pqStruct("s", pqString("y"), pqLong("x")), pqString("late"))
	r.file("wide/3.parquet", pqInt("a"), pqDecimal("d", 4, 2))
	const want = "a long, d decimal(12, 2), s struct<x long, y string>, late string by "
	if got, err := r.look("wide", nil); got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	for name, columns := range map[string][]schema.Node{
		"type":   {pqString("a")},
		"scale":  {pqDecimal("d", 12, 3)},
		"nested": {pqStruct("s", pqString("x"))},
		"kind":   {pqInt("s")},
		"case":   {pqInt("A")},
		"inner":  {pqStruct("s", pqInt("X"))},
		"date":   {pqTime("t", false, schema.TimeUnitMicros)},
	} {
		r.file(name+"/1.parquet", pqInt("a"), pqDecimal("d", 9, 2), pqStruct("s", pqInt("x")), logical("t", schema.DateLogicalType{}, parquet.Types.Int32, -1))
		r.file(name+"/2.parquet", columns...)
		if got, err := r.look(name, nil); errs.KindOf(err) != errs.Invalid || !strings.Contains(fmt.Sprint(err), name+"/2.parquet") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	r.file("twice/1.parquet", pqInt("a"), pqInt("A"))
	if got, err := r.look("twice", nil); errs.KindOf(err) != errs.Unsupported {
		t.Errorf("two columns whose names differ in case: %s, %v", got, err)
	}
}

// TestLevels tells the types of columns that only folders have.
func TestLevels(t *testing.T) {
	r := tree{t, t.TempDir()}
	for name, want := range map[string]string{
		"1 -5 0":                       "int",
		"1 3000000000":                 "long",
		"1 99999999999999999999":       "string",
		"01 02":                        "string",
		"+1":                           "string",
		"1 __HIVE_DEFAULT_PARTITION__": "int",
		"__HIVE_DEFAULT_PARTITION__":   "string",
		"2024-01-31 1969-12-31":        "date",
		"2024-02-30":                   "string",
		"2024-01-31 1":                 "string",
		"true":                         "string",
		"1.5":                          "string",
	} {
		for i, text := range strings.Fields(name) {
			r.file(fmt.Sprintf("%s/c=%s/%d.parquet", name, text, i), pqInt("i"))
		}
		if got, err := r.look(name, nil); got != "i int, c "+want+" by c" {
			t.Errorf("%s: got %s (%v), want %s", name, got, err, want)
		}
	}
	r.file("own/a%20b=x/_c=01/f.parquet", pqLong("_c"), pqInt("i"))
	for _, hidden := range []string{"own/_SUCCESS", "own/.f.crc", "own/a%20b=x/_temporary/x", "own/a%20b=x/.hive-staging/x"} {
		r.bytes(hidden)
	}
	if err := os.MkdirAll(filepath.Join(r.dir, "own", "z=1", "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := r.look("own", nil); got != "_c long, i int, a b string by a b, _c" {
		t.Errorf("got %s, %v", got, err)
	}
	long := map[string]catalog.Type{"a b": {Primitive: transform.Type{Kind: transform.Binary}}}
	if got, err := r.look("own", long); got != "_c long, i int, a b binary by a b, _c" {
		t.Errorf("got %s, %v", got, err)
	}
	for column, kind := range map[string]errs.Kind{"_c": errs.Invalid, "i": errs.NotFound, "A b": errs.NotFound} {
		if got, err := r.look("own", map[string]catalog.Type{column: {}}); errs.KindOf(err) != kind {
			t.Errorf("a type for %s: %s, %v", column, got, err)
		}
	}
}

// TestNoTable refuses folders that aren't those of one table.
func TestNoTable(t *testing.T) {
	r := tree{t, t.TempDir()}
	for name, tc := range map[string]struct {
		files []string
		kind  errs.Kind
		text  string
	}{
		"less":    {[]string{"a=1/b=2/1.parquet", "a=2/2.parquet"}, errs.Invalid, "a=2/2.parquet"},
		"more":    {[]string{"a=1/1.parquet", "a=2/b=2/2.parquet"}, errs.Invalid, "a=2/b=2/2.parquet"},
		"turned":  {[]string{"a=1/b=2/1.parquet", "b=1/a=2/2.parquet"}, errs.Invalid, "b=1/a=2/2.parquet"},
		"letters": {[]string{"a=1/1.parquet", "b=1/2.parquet"}, errs.Invalid, "b=1/2.parquet"},
		"column":  {[]string{"I=1/1.parquet"}, errs.Invalid, `"I"`},
		"twice":   {[]string{"a=1/A=2/1.parquet"}, errs.Invalid, "A=2"},
		"escape":  {[]string{"a=%zz/1.parquet"}, errs.Invalid, "%zz"},
		"none":    {nil, errs.NotFound, "none"},
		"other":   {[]string{"a=1/1.parquet", "a=1/x!.csv"}, errs.Corrupt, "x.csv"},
		"delta":   {[]string{"1.parquet", "_delta_log/0!.json"}, errs.Unsupported, "Delta Lake"},
		"hudi":    {[]string{"a=1/.hoodie_partition_metadata!", "a=1/1.parquet"}, errs.Unsupported, "a=1/.hoodie_partition_metadata"},
		"acid":    {[]string{"a=1/delta_0000001_0000001_0000/bucket_00000.parquet"}, errs.Unsupported, "transactional"},
		"iceberg": {[]string{"data/1.parquet", "metadata/v1!.metadata.json"}, errs.Invalid, "v1.metadata.json"},
	} {
		if err := os.MkdirAll(filepath.Join(r.dir, name, "c=1"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, f := range tc.files {
			if strings.Contains(f, "!") {
				r.bytes(name + "/" + strings.ReplaceAll(f, "!", ""))
			} else {
				r.file(name+"/"+f, pqInt("i"))
			}
		}
		got, err := r.look(name, nil)
		if errs.KindOf(err) != tc.kind || !strings.Contains(fmt.Sprint(err), tc.text) {
			t.Errorf("%s: %s, %v, want %v with %s", name, got, err, tc.kind, tc.text)
		}
	}
	r.file("like/base_2024/1.parquet", pqInt("i"))
	if got, err := r.look("like", nil); got != "i int by " {
		t.Errorf("a folder that is called like one of a transactional table: %s, %v", got, err)
	}
	if _, err := r.look("gone", nil); errs.KindOf(err) != errs.NotFound {
		t.Errorf("a folder that isn't there: %v", err)
	}
}

// TestWalkTellsFilesFromFolders has names that end as files' do be folders, links and nothing.
func TestWalkTellsFilesFromFolders(t *testing.T) {
	r := tree{t, t.TempDir()}
	r.file("f.parquet", pqInt("a"))
	r.file("folder.parquet/part-0", pqInt("b"))
	r.file("locked.parquet/part-0", pqInt("c"))
	r.file("within/f.parquet", pqInt("a"))
	r.file("table/low/data/f.parquet", pqInt("a"))
	r.bytes("table/low/metadata/v1.metadata.json")
	link := func(to, at string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(r.dir, filepath.Dir(at)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(r.dir, at)); err != nil {
			t.Fatal(err)
		}
	}
	link("f.parquet", "link.parquet")
	link("folder.parquet", "deep.parquet")
	link("../f.parquet", "links/f.parquet")
	link("../within", "linked/x=1")
	link("../within", "hidden/_x")
	r.file("hidden/f.parquet", pqInt("a"))
	link("nowhere", "gone/f.parquet")
	if err := os.Chmod(filepath.Join(r.dir, "locked.parquet"), 0); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{
		"f.parquet": "a int by ", "link.parquet": "a int by ", "folder.parquet": "b int by ", "deep.parquet": "b int by ", "links": "a int by ", "hidden": "a int by ",
	} {
		if got, err := r.look(from, nil); err != nil || got != want {
			t.Errorf("%s: %s, %v", from, got, err)
		}
	}
	for from, want := range map[string]struct {
		kind errs.Kind
		text string
	}{
		"none.parquet": {errs.NotFound, "none.parquet"}, "f.parquet/x.parquet": {errs.NotFound, "f.parquet/x.parquet"}, "gone": {errs.NotFound, "gone/f.parquet"},
		"linked": {errs.Unsupported, "linked/x=1: it is a symbolic link to a folder"}, "table": {errs.Invalid, "the Iceberg table in " + r.dir + "/table/low,"},
		"locked.parquet": {errs.Invalid, "locked.parquet: permission denied"},
	} {
		if from == "locked.parquet" && os.Geteuid() == 0 { // whom nothing is denied
			continue
		}
		if _, err := r.look(from, nil); errs.KindOf(err) != want.kind || !strings.Contains(fmt.Sprint(err), want.text) {
			t.Errorf("%s: %v", from, err)
		}
	}
	files := faultfs.New(fileio.Disk{})
	for k := 1; ; k++ {
		files.Fail(k, false)
		visited := 0
		err := Walk{Files: files, Visit: func(File) error { visited++; return nil }}.Run(t.Context(), filepath.Join(r.dir, "f.parquet"))
		if files.Fired() == "" {
			break
		}
		if err == nil || visited > 0 {
			t.Errorf("after the failed call %s: %v, and %d files", files.Fired(), err, visited)
		}
	}
}
