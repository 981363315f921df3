package property

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

func tuple(v ...transform.Value) []transform.Value { return v }

// lie is a table with a file whose rows don't belong under its tuple.
type lie struct {
	what   string
	typ    string
	spec   string
	honest []string          // rows of both tables, in the right files
	tuple  []transform.Value // of the lying file: of a group that both tables have
	lost   []transform.Value // of a group that only the lying table has
	row    string            // whose own group is another, which both have
}

var lies = []lie{
	{"bucket of text", "string", "bucket[4] k", []string{"'a'", "'b'", "'c'", "'d'", "'iceberg'"}, tuple(int32(2)), tuple(int32(77)), "'iceberg'"},
	{"bucket of long", "long", "bucket[16] k", []string{"34", "-1", "-34"}, tuple(int32(8)), tuple(int32(0)), "34"},
	{"identity of text", "string", "identity k", []string{"'a'", "'b'"}, tuple("a"), tuple("z"), "'b'"},
	{"identity of int", "int", "identity k", []string{"1", "2"}, tuple(int32(1)), tuple(int32(9)), "2"},
	{"identity of uuid", "uuid", "identity k", []string{"'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"},
		tuple([16]byte{}), tuple([16]byte{7}), "'ffffffff-ffff-ffff-ffff-ffffffffffff'"},
	{"identity of bytes", "binary", "identity k", []string{`'\x80'::BLOB`, `'a'::BLOB`}, tuple([]byte("a")), tuple([]byte("z")), `'\x80'::BLOB`},
	{"prefix", "string", "truncate[1] k", []string{"'a1'", "'b1'", "'b2'"}, tuple("a"), tuple("z"), "'b1'"},
	{"truncate of int", "int", "truncate[10] k", []string{"1", "11", "-1"}, tuple(int32(0)), tuple(int32(50)), "11"},
	{"day", "timestamp", "day k", []string{"'1969-12-31 12:00:00'", "'1970-01-01 12:00:00'"}, tuple(int32(0)), tuple(int32(100)), "'1969-12-31 12:00:00'"},
	{"month", "date", "month k", []string{"'1969-12-31'", "'1970-01-01'"}, tuple(int32(-1)), tuple(int32(9)), "'1970-01-01'"},
	{"hour", "timestamptz", "hour k", []string{"'1969-12-31 23:30:00+00'", "'1970-01-01 00:30:00+00'"}, tuple(int32(0)), tuple(int32(50)),
		"'1969-12-31 23:30:00+00'"},
	{"the NULL group", "long", "bucket[16] k", []string{"34", "NULL"}, tuple(nil), nil, "34"},
	{"NULL in a bucket", "long", "bucket[16] k", []string{"34", "NULL"}, tuple(int32(3)), nil, "NULL"},
	{"NULL in a text", "string", "identity k", []string{"'a'", "NULL"}, tuple("a"), nil, "NULL"},
}

// tables makes the lying table and an honest one of the same layout, and returns the lying file.
func (c lie) tables(l *lab, space string, under []transform.Value) string {
	bare := map[string]string{"write.metadata.metrics.default": "none"}
	var rows []string
	for _, k := range c.honest {
		rows = append(rows, "("+k+", 1)")
	}
	for _, name := range []string{".liar", ".honest"} {
		l.table(definition{name: space + name, columns: []string{"k " + c.typ, "v int"}, spec: []string{c.spec}, props: bare}, rows)
	}
	return l.misplace(space+".liar", under, "("+c.row+", 2)")
}

// shapes are queries by which a row in a wrong group would be missed, with the lying table x and the honest table y.
var shapes = map[string]string{
	"inner":       "SELECT x.v, y.v FROM %x x JOIN %y y ON x.k = y.k",
	"inner turn":  "SELECT x.v, y.v FROM %y y JOIN %x x ON x.k = y.k",
	"left":        "SELECT x.v, y.v FROM %x x LEFT JOIN %y y ON x.k = y.k",
	"left turn":   "SELECT x.v, y.v FROM %y y LEFT JOIN %x x ON x.k = y.k",
	"right":       "SELECT x.v, y.v FROM %x x RIGHT JOIN %y y ON x.k = y.k",
	"right turn":  "SELECT x.v, y.v FROM %y y RIGHT JOIN %x x ON x.k = y.k",
	"full":        "SELECT x.v, y.v FROM %x x FULL JOIN %y y ON x.k = y.k",
	"full turn":   "SELECT x.v, y.v FROM %y y FULL JOIN %x x USING (k)",
	"semi":        "SELECT x.v FROM %x x WHERE EXISTS (SELECT 1 FROM %y y WHERE x.k = y.k)",
	"semi turn":   "SELECT y.v FROM %y y WHERE y.k IN (SELECT x.k FROM %x x)",
	"anti":        "SELECT x.v FROM %x x WHERE NOT EXISTS (SELECT 1 FROM %y y WHERE x.k = y.k)",
	"anti turn":   "SELECT y.v FROM %y y ANTI JOIN %x x ON x.k = y.k",
	"group by":    "SELECT x.k, count(*) FROM %x x GROUP BY x.k",
	"distinct":    "SELECT DISTINCT x.k FROM %x x",
	"window":      "SELECT v, count(*) OVER (PARTITION BY k) FROM %x",
	"join, group": "SELECT x.k, count(*) FROM %x x JOIN %y y USING (k) GROUP BY x.k",
	"count":       "SELECT count(*) FROM %x x JOIN %y y ON x.k = y.k",
	"count left":  "SELECT count(*) FROM %x x LEFT JOIN %y y ON x.k = y.k",
	"filtered":    "SELECT x.v, y.v FROM %x x JOIN %y y ON x.k = y.k WHERE x.v < 3",
}

// fewShapes do for most lies.
var fewShapes = []string{"inner", "full turn", "group by"}

// TestLyingFiles: a row in a file of another group ends the query with the file's name, unless the file is left unread,
// which EXPLAIN says.
func TestLyingFiles(t *testing.T) {
	l := newLab(t)
	for i, c := range lies {
		space := "l" + string(rune('a'+i))
		file := c.tables(l, space, c.tuple)
		for shape := range shapes {
			if i == 1 || slices.Contains(fewShapes, shape) {
				l.askLiar(c, space, shape, file, true)
			}
		}
	}
}

// TestLyingFilesAlone: the lying file's group is one that the other table doesn't have.
func TestLyingFilesAlone(t *testing.T) {
	l := newLab(t)
	for i, c := range []lie{lies[2], lies[8]} {
		space := "l" + string(rune('a'+i))
		file := c.tables(l, space, c.lost)
		for shape := range shapes {
			l.askLiar(c, space, shape, file, false)
		}
	}
}

// TestUncheckedLyingFiles: with the check off, what the files say is taken for true.
func TestUncheckedLyingFiles(t *testing.T) {
	l := newLab(t)
	lies[1].tables(l, "l", lies[1].tuple)
	const query = "SELECT x.v, y.v FROM l.liar x JOIN l.honest y ON x.k = y.k"
	if a := l.ask(auto, query); errs.KindOf(a.err) != errs.Corrupt {
		t.Errorf("with the check on: %v", a.err)
	}
	unchecked := l.ask(mode{"SET tarn.verify_layout = off", "SET tarn.pack_bytes = 0"}, query)
	l.must(unchecked.err)
	if honest := l.judge(query); len(unchecked.rows) != len(honest.rows)-1 {
		t.Errorf("%d rows, wanted all of %d but the misplaced one", len(unchecked.rows), len(honest.rows))
	}
}

// askLiar asks one query of a lying table. present says that the honest table has the lying file's group.
func (l *lab) askLiar(c lie, space, shape, file string, present bool) {
	l.t.Helper()
	query := strings.NewReplacer("%x", space+".liar", "%y", space+".honest").Replace(shapes[shape])
	want := l.judge(query)
	l.must(want.err)
	if slices.Contains(fewShapes, shape) {
		if d := differ(want, l.ask(off, query), false); d != "" {
			l.t.Errorf("%s, %s: %v: %s", c.what, shape, off, d)
		}
	}
	p, err := l.explain(small, query)
	l.must(err)
	if len(p.Cores) != 1 || len(p.Whole) > 0 {
		l.t.Errorf("%s, %s: it doesn't run by groups: %s", c.what, shape, p.reasons())
		return
	}
	if p.Cores[0].Dropped.Files > 0 {
		if present && !strings.Contains(c.what, "NULL") {
			l.t.Errorf("%s, %s: %d files are dropped", c.what, shape, p.Cores[0].Dropped.Files)
		}
		return
	}
	switch got := l.ask(small, query); {
	case got.err == nil:
		l.t.Errorf("%s, %s: the lie isn't seen: %s", c.what, shape, differ(want, got, false))
	case errs.KindOf(got.err) != errs.Corrupt || !strings.Contains(got.err.Error(), file) || errs.HintOf(got.err) == "":
		l.t.Errorf("%s, %s: an error that isn't Corrupt about %s, with what to do: %v", c.what, shape, file, got.err)
	}
}

// TestLyingFilesOfDynamicFilters: the look at a table's rows checks them, since by their values the other table's files are left
// out, and then the lying file with its group: nobody would read it again. The lie may be about a column that the filter isn't of.
func TestLyingFilesOfDynamicFilters(t *testing.T) {
	l := newLab(t)
	forced := mode{"SET tarn.dynamic_filter = 'force'", "SET tarn.broadcast_bytes = 0"}
	for i, c := range lies {
		if c.tuple[0] == nil {
			continue // the honest table's values leave the file out, as any condition on the key would
		}
		space := "l" + string(rune('a'+i))
		file := c.tables(l, space, c.tuple)
		query := strings.ReplaceAll("SELECT x.v, y.v FROM s.honest y JOIN s.liar x ON x.k = y.k WHERE x.v = 2", "s.", space+".")
		l.askForced(c.what, query, forced, file, c.row != "NULL")
		l.table(definition{name: space + ".other", columns: []string{"v int"}}, []string{"(1)", "(2)"})
		query = strings.ReplaceAll("SELECT y.v FROM s.liar x JOIN s.other o ON o.v = x.v JOIN s.honest y ON x.k = y.k WHERE x.v = 2 AND y.v = 1", "s.", space+".")
		l.askForced(c.what+" beside the filter's column", query, append(slices.Clone(forced), small...), file, false)
	}
}

// askForced asks a query of a lying file with spj on and off. Its rows must be right, or else, and if mustSee, the file is named.
func (l *lab) askForced(what, query string, m mode, file string, mustSee bool) {
	l.t.Helper()
	want := l.judge(query)
	l.must(want.err)
	got := l.ask(m, query)
	switch {
	case got.err == nil:
		if d := differ(want, got, false); d != "" || mustSee {
			l.t.Errorf("%s: the lie isn't seen: %s", what, d)
		}
	case errs.KindOf(got.err) != errs.Corrupt || !strings.Contains(got.err.Error(), file) || !strings.Contains(errs.HintOf(got.err), "tarn.spj"):
		l.t.Errorf("%s: an error that isn't Corrupt about %s, with what to do: %v", what, file, got.err)
	}
	if d := differ(want, l.ask(append(slices.Clone(m), off...), query), false); d != "" {
		l.t.Errorf("%s, with spj off: %s", what, d)
	}
}

// TestDynamicFiltersOfLiars: with spj off no plan trusts where rows lie, and a filter would: by the values of the large table, which
// has the misplaced row's key alone, the lying file would be left out. Its own look, which comes first, has found the lie.
func TestDynamicFiltersOfLiars(t *testing.T) {
	l := newLab(t)
	for i, c := range []lie{lies[0], lies[1], lies[3]} {
		space := "l" + string(rune('a'+i))
		c.tables(l, space, c.tuple)
		var rows []string
		for n := range 5000 {
			rows = append(rows, fmt.Sprintf("(%s, %d)", c.row, n))
		}
		l.table(definition{name: space + ".large", columns: []string{"k " + c.typ, "v int"}, spec: []string{c.spec}}, rows)
		query := strings.ReplaceAll("SELECT x.v, count(*) FROM s.large y JOIN s.liar x ON x.k = y.k GROUP BY x.v", "s.", space+".")
		want := l.judge(query)
		l.must(want.err)
		if d := differ(want, l.ask(mode{"SET tarn.spj = 'off'", "SET tarn.dynamic_filter = 'force'"}, query), false); d != "" {
			t.Errorf("%s: %s", c.what, d)
		}
	}
}
