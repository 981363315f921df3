package property

import (
	"math"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// tuplesOf returns the partition tuples that a table's files have.
func (l *lab) tuplesOf(name string) [][]transform.Value {
	l.t.Helper()
	layout, err := l.catalog.Survey(l.t.Context(), l.load(name), catalog.Filter{})
	l.must(err)
	var out [][]transform.Value
	for _, g := range layout.Groups {
		out = append(out, g.Partition)
	}
	return out
}

// reads returns how many files of a query's only table are read.
func (l *lab) reads(query string) int {
	l.t.Helper()
	p, err := l.explain(auto, query)
	l.must(err)
	return p.Scans[0].Counts.Files - p.Scans[0].Counts.FilesPruned
}

// TestPRN1: a partition of a prefix says nothing of names that don't start with something longer.
func TestPRN1(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "p.t", columns: []string{"name string"}, spec: []string{"truncate[2] name"}}, []string{"('ab')", "('abc')", "('abd')", "(NULL)"})
	for _, where := range []string{
		"name NOT LIKE 'abc%'", "name NOT LIKE 'ab%'", "name NOT LIKE 'a%'", "NOT starts_with(name, 'abc')", "NOT (name LIKE 'abc%')",
		"name LIKE 'abc%'", "name LIKE 'ab'", "name <> 'ab'", "name NOT IN ('ab', 'abc')", "name > 'ab'", "name >= 'abc'", "name < 'abc'",
	} {
		l.agree("SELECT name FROM p.t WHERE " + where)
	}
}

// TestPRN2: partition values before 1970 are negative.
func TestPRN2(t *testing.T) {
	l := newLab(t)
	for name, fn := range map[string]string{"p.d": "day", "p.h": "hour", "p.m": "month", "p.y": "year", "p.i": "identity"} {
		l.table(definition{name: name, columns: []string{"ts timestamp"}, spec: []string{fn + " ts"}},
			[]string{"(TIMESTAMP '1969-12-25 10:00:00')", "(TIMESTAMP '1969-12-31 22:00:00')", "(TIMESTAMP '2024-01-02 00:00:00')"})
		for _, where := range []string{"ts < '1970-01-01'", "ts = '1969-12-25T10:00:00'", "ts <= '1969-12-31 22:00:00'", "ts > '1969-12-31'"} {
			l.agree("SELECT ts FROM " + name + " WHERE " + where)
		}
	}
	if got := l.tuplesOf("p.d"); len(got) != 3 || !holds(got, int32(-7)) {
		t.Errorf("the days are %v, wanted -7 among them", got)
	}
	if got := l.tuplesOf("p.h"); !holds(got, int32(-2)) {
		t.Errorf("the hours are %v, wanted -2 among them", got)
	}
	if n := l.reads("SELECT ts FROM p.d WHERE ts = '1969-12-25T10:00:00'"); n != 1 {
		t.Errorf("%d files of 3 are read for one day", n)
	}
}

func holds(tuples [][]transform.Value, v transform.Value) bool {
	for _, tuple := range tuples {
		if len(tuple) > 0 && tuple[0] == v {
			return true
		}
	}
	return false
}

// TestPRN3 runs the case in processes with other time zones.
func TestPRN3(t *testing.T) {
	if os.Getenv("TARN_TEST_ZONE") != "" {
		inZone(t)
		return
	}
	for _, zone := range []string{"UTC", "Asia/Kolkata", "America/Los_Angeles"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPRN3$")
		cmd.Env = append(os.Environ(), "TZ="+zone, "TARN_TEST_ZONE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", zone, err, out)
		}
	}
}

func inZone(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "p.t", columns: []string{"ts timestamp", "tz timestamptz"}, spec: []string{"day ts", "day tz"}},
		[]string{"(TIMESTAMP '2024-01-01 01:00:00', TIMESTAMPTZ '2024-01-01 01:00:00+05:30')"})
	if got := l.tuplesOf("p.t"); len(got) != 1 || got[0][0] != int32(19723) || got[0][1] != int32(19722) {
		t.Errorf("the days are %v, wanted 19723 and 19722", got)
	}
	for _, where := range []string{
		"ts = '2024-01-01T01:00:00'", "tz = '2024-01-01 01:00:00+05:30'", "tz = '2023-12-31 19:30:00+00'", "tz = '2023-12-31 19:30:00'",
		"tz < TIMESTAMPTZ '2024-01-01 00:00:00+00'", "system.days(tz) = DATE '2023-12-31'", "system.hours(tz) = 473347",
	} {
		for _, m := range []mode{auto, off} {
			if n := l.single(m, "SELECT count(*) FROM p.t WHERE "+where); n != "1" {
				t.Errorf("%v %s: %s rows", m, where, n)
			}
		}
	}
}

// TestPRN5: SQL's <> and NOT IN don't hold for NULL.
func TestPRN5(t *testing.T) {
	l := newLab(t)
	for _, spec := range [][]string{nil, {"identity x"}, {"bucket[4] x"}, {"truncate[10] x"}} {
		name := "p.t" + string(rune('a'+len(l.spaces)))
		l.spaces[name] = true
		l.table(definition{name: name, columns: []string{"x int"}, spec: spec}, []string{"(1)", "(5)", "(NULL)"})
		for where, want := range map[string]string{
			"x <> 5": "1", "x NOT IN (5, NULL)": "0", "NOT (x = 5)": "1", "x IS DISTINCT FROM 5": "2", "x NOT IN (5)": "1",
			"x = NULL": "0", "x IN (5, NULL)": "1", "x <> 5 OR x IS NULL": "2", "NOT (x IS NULL)": "2", "x IS NOT DISTINCT FROM NULL": "1",
		} {
			l.counts("SELECT count(*) FROM "+name+" WHERE "+where, want, "")
		}
	}
}

// TestPRN6: a file's bounds leave NaN out, which is above all numbers in DuckDB's SQL.
func TestPRN6(t *testing.T) {
	l := newLab(t)
	l.create(definition{name: "p.t", columns: []string{"d double", "f float"}})
	nan := math.NaN()
	l.foreign("p.t", nil, [][]float64{{3, nan, 3}, {3, nan, 3}})
	l.foreign("p.t", nil, [][]float64{{1, 2}, {math.Copysign(0, -1), 0}})
	l.exec("INSERT INTO p.t VALUES (3, 3), ('nan', 'nan'), (3, 3), (1, '-0.0'), (2, 0)")
	for _, col := range []string{"d", "f"} {
		for _, where := range []string{
			"isnan(%s)", "%s <> 3.0", "%s > 5", "%s >= 'nan'", "%s = 'nan'", "%s IN (7, 'nan')", "%s NOT IN (3)", "NOT (%s <= 5)", "%s = 0",
			"%s BETWEEN 4 AND 'nan'", "%s > 3", "%s < 2", "%s = -0.0",
		} {
			l.agree("SELECT d, f FROM p.t WHERE " + replace(where, col))
		}
		l.agree(replace("SELECT max(%s), min(%s) FROM p.t", col))
		l.agree(replace("SELECT count(*) FROM p.t x JOIN p.t y ON x.%s = y.%s", col))
	}
}

// TestBytesBehindBloomFilters: DuckDB asks the bloom filters that it writes for the text of bytes.
func TestBytesBehindBloomFilters(t *testing.T) {
	l := newLab(t)
	var rows []string
	for range 20 { // so that the column gets a dictionary, and with it a filter
		rows = append(rows, `('\x80'::BLOB, '\x80'::BLOB)`, `('a\x0Ab'::BLOB, ''::BLOB)`)
	}
	l.table(definition{name: "p.t", columns: []string{"a binary", "b binary"}, spec: []string{"bucket[4] a"}}, rows)
	l.table(definition{name: "p.u", columns: []string{"a binary", "b binary"}, spec: []string{"identity a"}}, rows[:2])
	for _, query := range []string{
		`SELECT count(*) FROM p.t WHERE b = '\x80'::BLOB`, `SELECT count(*) FROM p.t WHERE a IN ('a\x0Ab'::BLOB)`,
		"SELECT count(*) FROM p.t JOIN p.u USING (a)", "SELECT count(*) FROM p.t JOIN p.u ON t.b = u.b",
		"SELECT count(*) FROM p.u WHERE NOT EXISTS (SELECT 1 FROM p.t WHERE t.b = u.b)",
	} {
		l.agree(query)
	}
}

// TestPRN15: a date compared with text is compared as dates, and is no text to prune by.
func TestPRN15(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "p.t", columns: []string{"c2 string"}, spec: []string{"identity c2"}}, []string{"('2026-07-05')", "('2026-07-06')", "(NULL)"})
	for _, where := range []string{"c2 = DATE '2026-07-05'", "c2 = TIMESTAMP '2026-07-05 00:00:00'", "c2 < DATE '2026-07-06'", "c2 IN (DATE '2026-07-05')"} {
		query := "SELECT c2 FROM p.t WHERE " + where // some of them DuckDB refuses, as it does for its own tables
		for _, m := range []mode{auto, off} {
			if d := differ(l.judge(query), l.ask(m, query), false); d != "" {
				t.Errorf("%v %s: %s", m, query, d)
			}
		}
	}
	l.agree("SELECT c2 FROM p.t WHERE c2::DATE = DATE '2026-07-05'")
	l.agree("SELECT c2 FROM p.t WHERE c2 = (DATE '2026-07-05')::VARCHAR")
	l.table(definition{name: "p.u", columns: []string{"ts timestamp"}, spec: []string{"day ts"}},
		[]string{"(TIMESTAMP '2022-08-08 00:00:00')", "(TIMESTAMP '2022-08-08 23:59:59.999999')", "(TIMESTAMP '2022-08-09 00:00:00')"})
	if !holds(l.tuplesOf("p.u"), int32(19212)) {
		t.Errorf("the days are %v, wanted 19212 among them", l.tuplesOf("p.u"))
	}
	l.counts("SELECT count(*) FROM p.u WHERE CAST(ts AS date) = DATE '2022-08-08'", "2", "1")
	l.agree("SELECT ts FROM p.u WHERE ts = DATE '2022-08-08'")
	l.agree("SELECT ts FROM p.u WHERE ts::DATE >= DATE '2022-08-09'")
}

// TestPRN17: months are counted by the calendar.
func TestPRN17(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "p.t", columns: []string{"d date"}, spec: []string{"month d"}}, []string{"(DATE '2025-12-12')", "(DATE '2025-11-30')", "(NULL)"})
	l.counts("SELECT count(*) FROM p.t WHERE d = '2025-12-12'", "1", "0")
	l.counts("SELECT count(*) FROM p.t WHERE d >= DATE '2025-12-01'", "1", "0")
	if !holds(l.tuplesOf("p.t"), int32(671)) {
		t.Errorf("the months are %v, wanted 671 among them", l.tuplesOf("p.t"))
	}
	if n := l.reads("SELECT d FROM p.t WHERE d = '2025-12-12'"); n != 1 {
		t.Errorf("%d files of 3 are read for one month", n)
	}
}

// TestLimitBelowJoin: no filter of a join may reach the rows that ORDER BY with LIMIT picks from.
func TestLimitBelowJoin(t *testing.T) {
	l := newLab(t)
	var rows []string
	for i := range 5000 {
		rows = append(rows, "("+strconv.Itoa(i*7919%1000)+", "+strconv.Itoa(i)+")")
	}
	l.table(definition{name: "p.t", columns: []string{"a long", "v int"}}, rows)
	l.table(definition{name: "p.u", columns: []string{"a long"}}, []string{"(990)", "(991)"})
	for range 20 { // whether the join's other side is ready first is a matter of luck
		for _, query := range []string{
			"SELECT count(*) FROM p.u JOIN (SELECT a, v FROM p.t ORDER BY a, v LIMIT 500) s ON u.a = s.a",
			"SELECT count(*) FROM (SELECT a, v FROM p.t ORDER BY a, v LIMIT 500) s WHERE a IN (SELECT a FROM p.u)",
			"SELECT count(s.v) FROM p.u LEFT JOIN (SELECT a, v FROM p.t ORDER BY a, v LIMIT 500) s ON u.a = s.a",
		} {
			if n := l.single(auto, query); n != "0" {
				t.Fatalf("%s\ngives %s", query, n)
			}
		}
	}
}

// TestPromotedColumn: files that hold a column in the narrower type that it once had are read, filtered and joined.
func TestPromotedColumn(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "p.t", columns: []string{"a int", "v int"}, spec: []string{"identity a"}}, []string{"(-10, 4)", "(-10, 4)"})
	l.promote("p.t", "a")
	l.append("p.t", "(NULL, 0)", "(-10, -2)", "(34, 2)", "(10, 2)", "(10, 2)", "(7, 0)", "(NULL, 5)", "(5000000000, 3)", "(10, -1)", "(7, 1)")
	l.table(definition{name: "p.u", columns: []string{"a long", "v int"}, spec: []string{"identity a"}}, []string{"(7, 1)", "(5000000000, 9)", "(12, 1)"})
	for _, query := range []string{
		"SELECT x.v, y.v FROM p.t x JOIN p.t y ON x.a = y.a WHERE x.a NOT IN (1e1, 34)",
		"SELECT x.v, y.v FROM (SELECT a, v FROM p.t UNION ALL SELECT a, v FROM p.t) x JOIN p.t y ON x.a = y.a WHERE y.v < 4",
		"SELECT count(*), sum(t.v) FROM p.t JOIN p.u ON t.a = u.a WHERE u.v <> 2", "SELECT count(*) FROM p.t LEFT JOIN p.u ON t.a = u.a AND u.v = 1",
		"SELECT a FROM p.t WHERE a > 4000000000", "SELECT a FROM p.t WHERE a IN (7, 5000000000)", "SELECT a FROM p.t WHERE a < -3000000000 OR a = 7",
	} {
		l.agree(query)
	}
	l.grouped("SELECT t.v, u.v FROM p.t JOIN p.u ON t.a = u.a", "a")
}
