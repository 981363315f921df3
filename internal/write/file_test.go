package write

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/transform"
)

// write writes the rows of a query for a target and returns the files, which no table has.
func (l *lab) write(target *Target, query string, opts Options) *Job {
	l.t.Helper()
	j, err := l.tryWrite(context.Background(), target, query, opts)
	l.must(err)
	return j
}

func (l *lab) tryWrite(ctx context.Context, target *Target, query string, opts Options) (*Job, error) {
	rows, err := target.rowsOf(ctx, l.conn, query)
	if err != nil {
		return nil, err
	}
	j, err := Start(ctx, l.catalog, target, opts)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	w := j.Writer()
	defer w.Close()
	if err := l.conn.Stream(ctx, rows, w.Add); err != nil {
		return j, err
	}
	if err := w.Flush(); err != nil {
		return j, err
	}
	_, err = j.Finish(ctx)
	return j, err
}

// TestSortOrder sorts each file by the table's order, and records that, whatever the types, transforms, directions and places
// of NULL. Files that are cut at the target size don't overlap.
func TestSortOrder(t *testing.T) {
	l := newLab(t)
	random := seed.Rand(t)
	var columns, list []string
	for i, k := range kinds {
		columns = append(columns, fmt.Sprintf("c%d %s", i, k.typ))
		list = append(list, fmt.Sprintf("CASE WHEN (n + %d) %% 9 > 0 THEN %s END AS c%d", i, k.sql, i))
	}
	bases := []*catalog.Table{l.table(columns[:unfixed], []string{"bucket[2] c1"}, nil), l.table(columns, []string{"bucket[2] c1"}, nil)}
	for round := range 6 {
		table := *bases[round/2%2]
		columns := len(table.Schema.Fields)
		query := "SELECT " + strings.Join(list[:columns], ", ") + " FROM (SELECT (hash(range) % 1000)::BIGINT AS n FROM range(20000))"
		table.Order = catalog.SortOrder{ID: 7}
		table.Properties = map[string]string{"write.target-file-size-bytes": fmt.Sprint([]int{2_000, 1 << 30}[round%2])}
		for range 1 + random.IntN(3) {
			at := random.IntN(columns)
			f := catalog.SortField{Source: catalog.FieldID(at + 1), Descending: random.IntN(2) == 0, NullsLast: random.IntN(2) == 0}
			if specs := kinds[at].specs; len(specs) > 0 && random.IntN(2) == 0 {
				var err error
				f.Transform, err = transform.Parse(specs[random.IntN(len(specs))])
				l.must(err)
			}
			table.Order.Fields = append(table.Order.Fields, f)
		}
		target, err := NewTarget(&table)
		l.must(err)
		j := l.write(target, query, Options{Workers: 2, TempDir: t.TempDir()})
		if (len(j.files) > 6) != (round%2 == 0) {
			t.Errorf("there are %d files", len(j.files))
		}
		for _, f := range j.files {
			want, wrong := 7, l.unsorted(target, &table, f.Ref.Local)
			if wrong != "" {
				want = 0 // by zeros alone: DuckDB's dictionaries have one for both, so that those that were apart are mixed
			}
			byFloats := slices.ContainsFunc(table.Order.Fields, func(f catalog.SortField) bool { return target.isFloat(f.Source) })
			if id := orderID(f); id != want || wrong != "" && !byFloats {
				t.Errorf("%v: a file has sort order %d, and %s", table.Order, id, wrong)
			}
		}
		l.must(j.Discard(t.Context()))
	}
}

// unsorted compares each row's keys with those of the row before it, by the types' own order, and tells what isn't in order.
func (l *lab) unsorted(target *Target, table *catalog.Table, path string) string {
	l.t.Helper()
	var list []string
	for _, f := range table.Order.Fields {
		source := table.Schema.Fields[f.Source-1].Name
		list = append(list, fmt.Sprintf("CAST(%s AS VARCHAR)", transformSQL(f.Transform, source)))
		if target.isFloat(f.Source) {
			list[len(list)-1] = "CAST(" + source + " AS VARCHAR)"
		}
		if kind := table.Schema.Fields[f.Source-1].Type.Primitive.Kind; (kind == transform.Binary || kind == transform.Fixed) && f.Transform.Op != transform.Bucket {
			list[len(list)-1] = "lower(hex(" + transformSQL(f.Transform, source) + "))"
		}
	}
	rows, err := texts(context.Background(), l.conn, fmt.Sprintf("SELECT %s FROM read_parquet('%s')", strings.Join(list, ", "), path))
	l.must(err)
	for r := 1; r < len(rows); r++ {
		for i, f := range table.Order.Fields {
			c := compareKeys(l.t, table, f, rows[r-1][i], rows[r][i])
			if c > 0 {
				return fmt.Sprintf("row %d of %s is out of order by key %d", r, path, i)
			}
			if c < 0 {
				break
			}
		}
	}
	return ""
}

func orderID(f lake.NewDataFile) int {
	if f.File.SortOrderID == nil {
		return 0
	}
	return *f.File.SortOrderID
}

func compareKeys(t testing.TB, table *catalog.Table, f catalog.SortField, a, b *string) int {
	t.Helper()
	if a == nil || b == nil {
		c := 0
		switch {
		case a == nil && b != nil:
			c = -1
		case a != nil && b == nil:
			c = 1
		}
		if f.NullsLast {
			c = -c
		}
		return c
	}
	typ := f.Transform.ResultType(table.Schema.Fields[f.Source-1].Type.Primitive)
	var v [2]transform.Value
	for i, text := range []string{*a, *b} {
		var err error
		if v[i], err = transform.ParseValue(typ, text); err != nil {
			t.Fatal(err)
		}
	}
	c := transform.Compare(typ, v[0], v[1])
	if f.Descending {
		c = -c
	}
	return c
}

// TestFiles looks at how files are named, cut and compressed.
func TestFiles(t *testing.T) {
	l := newLab(t)
	table := l.table([]string{"k long", "v string"}, []string{"identity k"}, map[string]string{
		"write.target-file-size-bytes": "100000", "write.parquet.compression-codec": "snappy", "write.parquet.row-group-limit": "4096",
		"write.data.path": "file://" + l.folder + "/elsewhere",
	})
	query := "SELECT range % 2, hash(range)::VARCHAR || hash(range + 1)::VARCHAR FROM range(40000)"
	table = l.append(table, query, Options{})
	files := l.files(table)
	l.same(table, query)
	name := regexp.MustCompile(`/elsewhere/p0=[01]/00000-\d+-[0-9a-f-]{36}-000\d\d\.parquet$`)
	seen := map[string]bool{}
	for _, f := range files {
		if !name.MatchString(f.Ref.Path) || seen[filepath.Base(f.Ref.Path)] {
			t.Errorf("a file is called %s", f.Ref.Path)
		}
		seen[filepath.Base(f.Ref.Path)] = true
		if f.Ref.Bytes < 20_000 || f.Ref.Bytes > 200_000 {
			t.Errorf("a file has %d bytes, of 100,000 that are wanted", f.Ref.Bytes)
		}
		path := strings.TrimPrefix(f.Ref.Path, "file://")
		if got := l.one("SELECT string_agg(DISTINCT compression, ',') FROM parquet_metadata('" + path + "')"); got != "SNAPPY" {
			t.Errorf("a file is compressed by %s", got)
		}
		if got := l.one("SELECT max(row_group_num_rows) <= 4096 FROM parquet_metadata('" + path + "')"); got != "true" {
			t.Errorf("row groups are too large")
		}
	}
	if len(files) < 8 {
		t.Errorf("there are %d files", len(files))
	}
}

// TestEmptyText writes rows of the empty text and of NULL to partitions of their own (EVP-9).
func TestEmptyText(t *testing.T) {
	l := newLab(t)
	table := l.table([]string{"s string"}, []string{"identity s"}, nil)
	const query = "FROM (VALUES (NULL::VARCHAR), ('null'), (''), ('__HIVE_DEFAULT_PARTITION__'), ('')) AS v(s)"
	table = l.append(table, query, Options{})
	got := map[string]int64{}
	for _, f := range l.files(table) {
		got[fmt.Sprintf("%#v", f.Partition[0])] += f.Rows
	}
	want := map[string]int64{"<nil>": 1, `"null"`: 1, `""`: 2, `"__HIVE_DEFAULT_PARTITION__"`: 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the tuples are %v, wanted %v", got, want)
	}
	l.same(table, query)
}

// TestDefaults gives columns that aren't mentioned their write defaults, and NULL without one (SCH-13).
func TestDefaults(t *testing.T) {
	l := newLab(t)
	table := l.table([]string{"k long", "d int", "n string", "b binary"}, nil, nil)
	changed := *table
	schema := *table.Schema
	schema.Fields = append([]catalog.Field{}, schema.Fields...)
	schema.Fields[1].WriteDefault, schema.Fields[1].HasWriteDefault = int32(7), true
	schema.Fields[1].Required = true
	schema.Fields[2].InitialDefault, schema.Fields[2].HasDefault = "old", true
	schema.Fields[3].WriteDefault, schema.Fields[3].HasWriteDefault = []byte{0, 0xFF}, true
	changed.Schema = &schema
	target, err := NewTarget(&changed)
	l.must(err)
	sql, err := target.RowsSQL("SELECT 1", must(l.conn.Describe(t.Context(), "SELECT 1")), []string{"K"})
	l.must(err)
	if got := l.one("SELECT concat_ws('|', c0, c1, c2 IS NULL, hex(c3)) FROM (" + sql + ")"); got != "1|7|true|00FF" {
		t.Errorf("the row is %s", got)
	}
	schema.Fields[1].HasWriteDefault = false
	if _, err := target.RowsSQL("SELECT 1", must(l.conn.Describe(t.Context(), "SELECT 1")), []string{"k"}); errs.KindOf(err) != errs.Invalid {
		t.Errorf("without a value that is required: %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestCanceled stops a job at random times; what is left of it are at most files that Discard removes.
func TestCanceled(t *testing.T) {
	l := newLab(t)
	table := l.table([]string{"k long", "v string"}, []string{"bucket[50] k"}, nil)
	target, err := NewTarget(table)
	l.must(err)
	for n := range 8 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n*n)*20*time.Millisecond)
		temp := t.TempDir()
		j, err := l.tryWrite(ctx, target, "SELECT range, hash(range)::VARCHAR FROM range(500000)", Options{TempDir: temp})
		cancel()
		if err != nil && errs.KindOf(err) != errs.Canceled && errs.KindOf(err) != errs.Resource {
			t.Errorf("%v", err)
		}
		if j != nil {
			l.must(j.Discard(t.Context()))
		}
		if entries, err := os.ReadDir(temp); err != nil || len(entries) > 0 {
			t.Errorf("left are %v, %v", entries, err)
		}
	}
	l.noFiles(table)
}
