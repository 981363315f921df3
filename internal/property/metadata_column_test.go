package property

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
)

// gives fails unless the engine gives these rows, written as golden text joined by blanks, in whatever order, group by
// group and whole, and these columns.
func (l *lab) gives(query string, columns []string, rows ...string) {
	l.t.Helper()
	for _, m := range []mode{small, off} {
		a := l.ask(m, query)
		if a.err != nil {
			l.t.Errorf("%v %s: %v", m, query, a.err)
			continue
		}
		var got []string
		for _, r := range a.rows {
			text := ""
			for i, v := range r {
				if i > 0 {
					text += " "
				}
				text += golden.Text(v)
			}
			got = append(got, text)
		}
		slices.Sort(got)
		slices.Sort(rows)
		if !slices.Equal(got, rows) {
			l.t.Errorf("%v %s gives\n%q, want\n%q", m, query, got, rows)
		}
		if !slices.Equal(a.columns, columns) {
			l.t.Errorf("%v %s has the columns %q, want %q", m, query, a.columns, columns)
		}
	}
}

// refused fails unless a query is refused with that kind of error.
func (l *lab) refused(query string, kind errs.Kind) {
	l.t.Helper()
	if a := l.ask(auto, query); a.err == nil || errs.KindOf(a.err) != kind {
		l.t.Errorf("%s: error %v, want %s", query, a.err, kind)
	}
}

func TestMetadataColumns(t *testing.T) {
	l := newLab(t)
	def := definition{columns: []string{"k int", "d date", "v int"}, spec: []string{"bucket[4] k", "identity d"}}
	rows := []string{"(1, DATE '2024-01-01', 10)", "(1, DATE '2024-01-01', 11)", "(2, DATE '2024-01-01', 20)", "(NULL, NULL, 30)"}
	def.name = "m.a"
	l.table(def, rows, []string{"(1, DATE '2024-01-01', 12)", "(3, DATE '2024-01-02', 13)"})
	def.name = "m.b"
	l.table(def, rows)

	var files []string
	layout, err := l.catalog.Survey(context.Background(), l.load("m.a"), catalog.Filter{})
	l.must(err)
	l.must(layout.Files(context.Background(), func(f catalog.DataFile) error {
		files = append(files, fmt.Sprintf("%q %d %d", f.Ref.Path, f.Rows, f.Rows-1))
		return nil
	}))
	l.gives("SELECT _file, count(*) AS n, max(_pos) FROM m.a GROUP BY _file",
		[]string{"_file VARCHAR", "n BIGINT", "max(_pos) BIGINT"}, files...)

	// Every row has its own place, which a join by it finds.
	l.gives("SELECT count(*) AS n, count(DISTINCT x.v) AS v FROM m.a x JOIN m.a y ON x._file = y._file AND x._pos = y._pos AND x.v = y.v",
		[]string{"n BIGINT", "v BIGINT"}, "6 6")
	l.gives("SELECT v, _spec_id, _partition.p1 FROM m.a WHERE v IN (12, 13, 30) ORDER BY _file",
		[]string{"v INTEGER", "_spec_id INTEGER", "p1 DATE"}, `12 0 "2024-01-01"`, `13 0 "2024-01-02"`, "30 0 NULL")
	l.gives("SELECT * FROM m.a WHERE _pos = 1 AND _spec_id = 0", []string{"k INTEGER", "d DATE", "v INTEGER"}, `1 "2024-01-01" 11`)

	// They don't stand in the way of running group by group.
	query := "SELECT b.*, a.v AS w FROM m.a JOIN m.b ON a.k = b.k AND a._pos = b._pos WHERE a.v < 12 AND a._file IS NOT NULL"
	l.gives(query, []string{"k INTEGER", "d DATE", "v INTEGER", "w INTEGER"}, `1 "2024-01-01" 10 10`, `1 "2024-01-01" 11 11`)
	if p, err := l.explain(auto, query); err != nil || len(p.Cores) != 1 {
		t.Errorf("%s has %d cores, %v", query, len(p.Cores), err)
	}
	l.gives("SELECT k, max(n) AS n FROM (SELECT k, _file, count(*) AS n, max(_pos) AS p FROM m.a GROUP BY k, _file) GROUP BY k",
		[]string{"k INTEGER", "n BIGINT"}, "1 2", "2 1", "3 1", "NULL 1")
	l.gives("SELECT v FROM m.a WHERE EXISTS (SELECT 1 FROM m.b WHERE b.k = a.k AND b._pos > a._pos)",
		[]string{"v INTEGER"}, "10", "12")
	l.gives("SELECT count(*) AS n FROM (SELECT _file AS f FROM m.a UNION SELECT _file FROM m.b)", []string{"n BIGINT"}, "6")

	l.refused("SELECT _row_id FROM m.a", errs.NotFound)
	l.refused("SELECT _pos FROM m.a JOIN m.b USING (k)", errs.Invalid)
	l.setSpec("m.b", []string{"bucket[8] k", "identity d"})
	l.append("m.b", "(7, DATE '2024-01-03', 70)")
	// The struct has the fields of both specs, each under its newest name.
	l.gives("SELECT v, _spec_id, _partition.p1_1 AS d, _partition.p1_0 IS NULL AS old FROM m.b WHERE v > 20",
		[]string{"v INTEGER", "_spec_id INTEGER", "d DATE", "old BOOLEAN"}, "30 0 NULL true", `70 1 "2024-01-03" false`)
}

// Tables of format version 3 know their rows; those that were written before don't have IDs.
func TestRowLineageColumns(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "m.r", columns: []string{"k int"}}, []string{"(1)", "(2)"})
	l.refused("SELECT _row_id FROM m.r", errs.NotFound)
	l.refused("SELECT _file FROM m.r.files", errs.NotFound)
	l.evolve("m.r", func(meta map[string]any) { meta["format-version"], meta["next-row-id"] = 3, 0 })
	l.gives("SELECT k, _row_id, _last_updated_sequence_number IS NULL AS none FROM m.r",
		[]string{"k INTEGER", "_row_id BIGINT", "none BOOLEAN"}, "1 NULL true", "2 NULL true")
}

// A column of the table hides a metadata column of its name.
func TestHiddenMetadataColumn(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "m.h", columns: []string{"_file string", "_Pos int", "k int"}}, []string{"('mine', 7, 1)"})
	l.gives("SELECT *, _file, _pos, _spec_id FROM m.h",
		[]string{"_file VARCHAR", "_Pos INTEGER", "k INTEGER", "_file VARCHAR", "_Pos INTEGER", "_spec_id INTEGER"}, `"mine" 7 1 "mine" 7 0`)
}

// Columns whose names differ only in case, as a case-sensitive engine's ALTER TABLE makes them.
func TestCaseColumns(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"c.t", "c.u"} {
		l.table(definition{name: name, columns: []string{"a int", "x int", "v int"}, spec: []string{"bucket[4] a"}},
			[]string{"(1, 10, 100)", "(2, 20, 200)"}, []string{"(3, 1, 300)"})
	}
	l.setSchema("c.t", func(_, schema map[string]any) { schema["fields"].([]any)[1].(map[string]any)["name"] = "A" })
	both := []string{"a INTEGER", "A INTEGER", "v INTEGER"}
	all := []string{"1 10 100", "2 20 200", "3 1 300"}
	l.gives("SELECT * FROM c.t", both, all...)
	l.gives("SELECT q.* FROM (SELECT * FROM c.t) q WHERE q.a < 5 AND q.A > 0", both, all...)
	l.gives("SELECT * FROM c.t WHERE a = 1 UNION ALL SELECT * FROM c.t WHERE A = 1", both, "1 10 100", "3 1 300")
	l.gives("WITH q AS (SELECT A, a FROM c.t) SELECT A, t.a FROM q JOIN c.u t USING (a) WHERE q.A > 5",
		[]string{"A INTEGER", "a INTEGER"}, "10 1", "20 2")
	l.gives(`SELECT "A" + 1 AS b, upper('x' || A) FROM c.t ORDER BY "A" LIMIT 1`, []string{"b INTEGER", "upper(('x' || A)) VARCHAR"}, `2 "X1"`)
	l.gives("SELECT a, A FROM c.t ORDER BY A DESC LIMIT 1", []string{"a INTEGER", "A INTEGER"}, "2 20")
	l.gives("SELECT max(a), min(A), count(A) FROM c.t", []string{"max(a) INTEGER", "min(A) INTEGER", "count(A) BIGINT"}, "3 1 3")
	l.gives("SELECT u.v FROM c.t JOIN c.u ON t.A = u.a", []string{"v INTEGER"}, "100")
	l.gives("SELECT t.A, count(*) AS n FROM c.t JOIN c.u ON t.a = u.a GROUP BY t.A", []string{"A INTEGER", "n BIGINT"}, "10 1", "20 1", "1 1")
	l.gives("SELECT * EXCLUDE (A) FROM c.t WHERE a IN (SELECT A FROM c.t)", []string{"a INTEGER", "v INTEGER"}, "1 100")
	l.gives("SELECT * FROM c.t AS z(p, q) WHERE q = 1", []string{"p INTEGER", "q INTEGER", "v INTEGER"}, "3 1 300")
	l.gives("SELECT A, _pos FROM c.t WHERE A = 20", []string{"A INTEGER", "_pos BIGINT"}, "20 1")
	query := "SELECT t.*, u.v AS w FROM c.t JOIN c.u ON t.a = u.a"
	l.gives(query, []string{"a INTEGER", "A INTEGER", "v INTEGER", "w INTEGER"}, "1 10 100 100", "2 20 200 200", "3 1 300 300")
	if p, err := l.explain(auto, query); err != nil || len(p.Cores) != 1 {
		t.Errorf("%s has %d cores, %v", query, len(p.Cores), err)
	}
	l.setSchema("c.u", func(_, schema map[string]any) {
		field := func(id int, name string, typ any) any {
			return map[string]any{"id": id, "name": name, "required": false, "type": typ}
		}
		inner := map[string]any{"type": "struct", "fields": []any{field(11, "f", "int"), field(12, "F", "int")}}
		schema["fields"] = append(schema["fields"].([]any), field(10, "st", inner))
	})
	l.gives("SELECT v, count(*) AS n FROM c.u WHERE a = 1 GROUP BY v", []string{"v INTEGER", "n BIGINT"}, "100 1")
	l.refused("SELECT * FROM c.u", errs.Unsupported)
	l.refused("SELECT st FROM c.u", errs.Unsupported)
	l.refused("SELECT q.Ab FROM (SELECT a AS ab, A AS AB FROM c.t) q", errs.Invalid)
}
