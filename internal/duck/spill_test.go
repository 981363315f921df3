package duck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/transform"
)

// spillRows routes the rows of sql to their bins.
func spillRows(ctx context.Context, c *Conn, sql string, w *SpillWriter, r *Router) error {
	res, err := c.Query(ctx, sql)
	if err != nil {
		return err
	}
	defer res.Close()
	for {
		ch, err := res.Next(ctx)
		if errors.Is(err, io.EOF) {
			return w.Flush()
		}
		if err != nil {
			return err
		}
		bins, err := r.Route(ch)
		if err == nil {
			_, err = w.Add(ch, bins)
		} else {
			ch.Close()
		}
		if err != nil {
			return err
		}
	}
}

// bucketBins returns a router that sends each of n buckets of the first column to a bin of its own, and NULL to the last.
func bucketBins(t testing.TB, n int) *Router {
	t.Helper()
	bins := NewBins(n, 1)
	for i := range n {
		bins.Put([]transform.Value{int32(i)}, i)
	}
	bins.Put([]transform.Value{nil}, n-1)
	r, err := bins.Router([]RouteKey{{Transform: transform.Transform{Op: transform.Bucket, N: n}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// newSpill returns a spill, and checks at the test's end that it leaves no file.
func newSpill(t testing.TB, c *Conn, columns []ScanColumn, bins int) *Spill {
	t.Helper()
	dir := t.TempDir()
	s, err := c.NewSpill(filepath.Join(dir, "bin"), columns, bins)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	})
	return s
}

// spilledValues has, for each type, SQL of a value from a random number n, which is sometimes NULL.
var spilledValues = []struct{ typ, sql string }{
	{"boolean", "n % 2 = 0"}, {"int", "(n - 500)::INTEGER"}, {"long", "n * 1234567890123"}, {"float", "(['nan', '-0', '0', 'inf', n::VARCHAR]::FLOAT[])[n % 5 + 1]"},
	{"double", "(['nan', '-0', '0', '-inf', (n / 7)::VARCHAR]::DOUBLE[])[n % 5 + 1]"}, {"date", "DATE '1969-12-01' + n::INTEGER"}, {"time", "TIME '00:00:00' + to_microseconds(n * 77777777)"},
	{"timestamp", "TIMESTAMP '1960-01-01' + to_microseconds(n * 987654321012)"}, {"timestamptz", "TIMESTAMPTZ '1960-01-01 00:00:00+01' + to_microseconds(n)"},
	{"timestamp_ns", "make_timestamp_ns(n * 1000 - 3)"}, {"string", "repeat(n::VARCHAR, n % 9)"}, {"uuid", "md5(n::VARCHAR)::UUID"},
	{"binary", "unhex(left(md5(n::VARCHAR), 2 * (n % 17)::INTEGER))"}, {"fixed[3]", "unhex(left(md5(n::VARCHAR), 6))"}, {"decimal(4,2)", "((n - 500) / 10)::DECIMAL(4, 2)"},
	{"decimal(9,2)", "n::DECIMAL(9, 2) / 10"}, {"decimal(18,9)", "(n - 500)::DECIMAL(18, 9)"},
	{"decimal(38,3)", "([99999999999999999999999999999999999.999, -99999999999999999999999999999999999.999, n::DECIMAL(38, 3)])[n % 3 + 1]"},
}

// TestSpillKeepsEachType spills rows of each type, nested ones too, with random values and NULLs, and reads them back as
// they were.
func TestSpillKeepsEachType(t *testing.T) {
	random := seed.Rand(t)
	_, c := session(t, Options{Threads: 1})
	for _, v := range spilledValues {
		primitive, err := transform.ParseType(v.typ)
		if err != nil {
			t.Fatal(err)
		}
		keepsType(t, c, random, catalog.Type{Primitive: primitive}, v.sql)
	}
}

// nestings are types that have a value of typ in them, and SQL of their values.
func nestings(typ catalog.Type, sql string) map[string]catalog.Type {
	field := func(name string, t catalog.Type) catalog.Field { return catalog.Field{ID: 100, Name: name, Type: t} }
	nested := func(kind catalog.NestedKind, fields ...catalog.Field) catalog.Type {
		return catalog.Type{Nested: kind, Fields: fields}
	}
	list := nested(catalog.List, field("element", typ))
	return map[string]catalog.Type{
		sql: typ,
		"CASE n % 4 WHEN 0 THEN [] WHEN 1 THEN [" + sql + ", NULL] ELSE [" + sql + "] END":                                           list,
		"map_from_entries([(n, " + sql + "), (n + 1, NULL)])":                                                                        nested(catalog.Map, field("key", catalog.Type{Primitive: longType}), field("value", typ)),
		"{'element': " + sql + ", 'inner': CASE WHEN n % 3 > 0 THEN [NULL, " + sql + "] END}":                                        nested(catalog.Struct, field("element", typ), field("inner", list)),
		"[NULL, {'inner': [" + sql + "], 'element': NULL}, {'inner': NULL, 'element': " + sql + "}, {'inner': [], 'element': NULL}]": nested(catalog.List, field("element", nested(catalog.Struct, field("inner", list), field("element", typ)))),
	}
}

// keepsType spills and reads rows with a value of typ, bare and in nested types.
func keepsType(t *testing.T, c *Conn, random *rand.Rand, typ catalog.Type, sql string) {
	columns, list := []ScanColumn{{Field: primitive(1, "key", longType), As: "key"}}, []string{"n AS key"}
	for value, typ := range nestings(typ, sql) {
		name := fmt.Sprintf("c %d", len(columns))
		columns = append(columns, ScanColumn{Field: catalog.Field{ID: catalog.FieldID(len(columns) + 1), Name: name, Type: typ}, As: name})
		text, err := TypeSQL(typ)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("CAST(CASE WHEN (n + %d) %% 7 > 0 THEN %s END AS %s) AS %s", len(columns), value, text, quote.Name(name)))
	}
	rows, bins := 500+random.IntN(5000), 1+random.IntN(20)
	mustExec(t, c, fmt.Sprintf("CREATE OR REPLACE TABLE t AS SELECT %s FROM (SELECT CASE WHEN i %% 50 > 0 THEN (hash(i + %d) %% 1000)::BIGINT END AS n FROM range(%d) t(i))",
		strings.Join(list, ", "), random.IntN(1000), rows))
	s := newSpill(t, c, columns, bins)
	s.Hold(int64(random.IntN(3)) << (10 + random.IntN(10)))
	if err := spillRows(t.Context(), c, "TABLE t", s.Writer(1<<(12+random.IntN(12))), bucketBins(t, bins)); err != nil {
		t.Fatal(err)
	}
	var all []string
	for bin := range bins {
		sql, release := s.Read(bin)
		defer release()
		all = append(all, sql)
		wantRows(t, c, fmt.Sprintf("SELECT count(*) FROM (%s) WHERE coalesce(tarn_bucket(%d, key), %d) <> %d", sql, bins, bins-1, bin), "0")
		wantRows(t, c, "SELECT count(*) FROM ("+sql+")", fmt.Sprint(s.Rows(bin)))
	}
	text := strings.Join(all, " UNION ALL ")
	wantRows(t, c, "SELECT count(*) FROM ("+text+")", fmt.Sprint(rows))
	wantRows(t, c, "SELECT count(*) FROM (TABLE t EXCEPT ALL ("+text+"))", "0")
	// As text too, because 0 = -0 in SQL.
	wantRows(t, c, "SELECT count(*) FROM (SELECT COLUMNS(*)::VARCHAR FROM t EXCEPT ALL SELECT COLUMNS(*)::VARCHAR FROM ("+text+"))", "0")
}

// TestSpillReadsFewColumns reads some columns, in another order, and only the count.
func TestSpillReadsFewColumns(t *testing.T) {
	_, c := session(t, Options{Threads: 4})
	columns := []ScanColumn{
		{Field: primitive(1, "k", longType), As: "k"}, {Field: primitive(2, "A", stringType), As: "A"}, {Field: primitive(3, "a", longType), As: "a (3)"},
	}
	s := newSpill(t, c, columns, 2)
	const rows = `SELECT i AS k, CASE WHEN i % 3 > 0 THEN 'text ' || i END AS A, -i AS "a (3)" FROM range(100000) t(i)`
	if err := spillRows(t.Context(), c, rows, s.Writer(64<<10), bucketBins(t, 2)); err != nil {
		t.Fatal(err)
	}
	for bin := range 2 {
		sql, release := s.Read(bin)
		defer release()
		where := fmt.Sprintf(" FROM (%s) WHERE tarn_bucket(2, k) = %d", rows, bin)
		for _, list := range []string{"count(*)", `sum("a (3)")`, `max("a (3)"), max(k)`, "min(A), count(A), count(*)"} {
			wantRows(t, c, "SELECT "+list+" FROM ("+sql+")", mustRows(t, c, "SELECT "+list+where)...)
		}
	}
}

// TestSpillHoldsTheFirstRows holds what there is room for in memory, and writes the rest: each bin's rows come back in their order,
// whole and by parts, and its room is there again once it is dropped.
func TestSpillHoldsTheFirstRows(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	const all, rows = 1 << 20, 20000
	for _, room := range []int64{0, 50_000, all} {
		s := newSpill(t, c, []ScanColumn{{Field: primitive(1, "k", longType), As: "k"}}, 2)
		s.Hold(room)
		if err := spillRows(t.Context(), c, fmt.Sprintf("SELECT i FROM range(%d) t(i)", rows), s.Writer(32<<10), bucketBins(t, 2)); err != nil {
			t.Fatal(err)
		}
		held := room - s.room.Load()
		for bin := range 2 {
			want := mustRows(t, c, fmt.Sprintf("SELECT i FROM range(%d) t(i) WHERE tarn_bucket(2, i) = %d ORDER BY i", rows, bin))
			sql, release := s.Read(bin)
			defer release()
			wantRows(t, c, sql, want...)
			var parts []string
			for _, part := range s.Parts(bin, 10_000) {
				sql, release := s.ReadPart(bin, part)
				defer release()
				parts = append(parts, mustRows(t, c, sql)...)
			}
			if !slices.Equal(parts, want) {
				t.Errorf("with room for %d bytes, bin %d has %d rows by parts, not %d, or others", room, bin, len(parts), len(want))
			}
			_, err := os.Stat(s.path(bin))
			if hasFile := err == nil; hasFile != (room < all) {
				t.Errorf("with room for %d bytes, bin %d has a file: %v", room, bin, hasFile)
			}
			if err := s.Drop(bin); err != nil {
				t.Fatal(err)
			}
		}
		if held > room || room > 0 && held == 0 || s.room.Load() != room {
			t.Errorf("with room for %d bytes, %d were held, and there is room for %d afterwards", room, held, s.room.Load())
		}
	}
}

// TestSpillOfOtherTypes refuses rows that aren't of the spill's types.
func TestSpillOfOtherTypes(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	s := newSpill(t, c, []ScanColumn{{Field: primitive(1, "k", longType), As: "k"}, {Field: primitive(2, "v", stringType), As: "v"}}, 2)
	err := spillRows(t.Context(), c, "SELECT 1::BIGINT, 2::BIGINT", s.Writer(1), bucketBins(t, 2))
	wantError(t, err, errs.Internal, "BIGINT")
}

// TestSpillOnAFullDisk reports that as a lack of resources, with what to do.
func TestSpillOnAFullDisk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("the system has no full disk")
	}
	_, c := session(t, Options{Threads: 1})
	s := newSpill(t, c, []ScanColumn{{Field: primitive(1, "k", longType), As: "k"}}, 4)
	if err := os.Symlink(full, s.path(2)); err != nil {
		t.Fatal(err)
	}
	err := spillRows(t.Context(), c, "SELECT i FROM range(100000) t(i)", s.Writer(64<<10), bucketBins(t, 4))
	wantError(t, err, errs.Resource, s.path(2))
	if hint := errs.HintOf(err); !strings.Contains(hint, "disk space") {
		t.Errorf("the hint is %q", hint)
	}
}

// TestSpillLosesItsFile ends the statement that reads it.
func TestSpillLosesItsFile(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	s := newSpill(t, c, []ScanColumn{{Field: primitive(1, "k", longType), As: "k"}}, 1)
	if err := spillRows(t.Context(), c, "SELECT i FROM range(10000) t(i)", s.Writer(1<<20), bucketBins(t, 1)); err != nil {
		t.Fatal(err)
	}
	sql, release := s.Read(0)
	if err := os.Truncate(s.path(0), 100); err != nil {
		t.Fatal(err)
	}
	if _, err := rowsOf(t.Context(), c, sql); err == nil {
		t.Error("a file cut short was read")
	}
	if err := os.Remove(s.path(0)); err != nil {
		t.Fatal(err)
	}
	_, err := rowsOf(t.Context(), c, sql)
	wantError(t, err, errs.Invalid, "no such file")
	release()
	_, err = rowsOf(t.Context(), c, sql)
	wantError(t, err, errs.Internal, "not registered")
}

// TestSpillHoldsNothing counts what is registered after statements that end early.
func TestSpillHoldsNothing(t *testing.T) {
	_, c := session(t, Options{Threads: 2})
	s := newSpill(t, c, []ScanColumn{{Field: primitive(1, "k", longType), As: "k"}}, 1)
	if err := spillRows(t.Context(), c, "SELECT i FROM range(100000) t(i)", s.Writer(1<<16), bucketBins(t, 1)); err != nil {
		t.Fatal(err)
	}
	sql, release := s.Read(0)
	for _, query := range []string{sql + " LIMIT 1", "SELECT error('x') FROM (" + sql + ")", "SELECT a.k FROM (" + sql + ") a JOIN (" + sql + ") b USING (k) LIMIT 1"} {
		_, _ = rowsOf(t.Context(), c, query)
	}
	mustExec(t, c, "SELECT 1")
	release()
	count := 0
	for _, m := range []interface{ Range(func(any, any) bool) }{&spills, &scans} {
		m.Range(func(any, any) bool { count++; return true })
	}
	if count > 0 {
		t.Errorf("%d are still known", count)
	}
}
