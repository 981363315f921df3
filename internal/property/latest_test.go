package property

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/seed"
)

const (
	defaultLatestRounds = 3
	latestPerRound      = 10
)

type latestColumn struct {
	name, typ string
	values    []string
}

// latestColumns are the columns that rows are ordered by and picked with, and values of each: many are equal, NULL, or the
// odd ones of their types.
var latestColumns = []latestColumn{
	{"v", "int", []string{"NULL", "0", "7", "-2147483648"}},
	{"l", "long", []string{"NULL", "3", "-9223372036854775808", "9223372036854775807"}},
	{"x", "double", []string{"NULL", "ZERO", "ZERO", "'nan'", "'-inf'", "1.5"}},
	{"f", "float", []string{"NULL", "ZERO", "ZERO", "'nan'", "'inf'", "-2.5"}},
	{"n", "decimal(38,2)", []string{"NULL", "0.01", "123456789012345678901234567890.11", "123456789012345678901234567890.12", "-1"}},
	{"s", "string", []string{"NULL", "''", "'a'", "'a' || chr(0) || 'b'", "'Z'", "'ä and a few more letters'"}},
	{"y", "binary", []string{"NULL", "''", "'\\x00'", "'\\xFF\\x00'", "'\\xFF'"}},
	{"d", "date", []string{"NULL", "'1969-12-31'", "'2024-02-29'"}},
	{"ts", "timestamp", []string{"NULL", "'1969-12-31 23:59:59.999999'", "'2024-02-29 01:02:03.000004'"}},
	{"tz", "timestamptz", []string{"NULL", "'1969-12-31 23:59:59.999999Z'", "'2024-02-29 01:02:03.000004Z'"}},
	{"b", "boolean", []string{"NULL", "true", "false"}},
	{"u", "uuid", []string{"NULL", "'00000000-0000-0000-0000-000000000001'", "'ffffffff-0000-0000-0000-000000000001'"}},
}

// latestWorld is a table of rows to be ranked, and one to join.
type latestWorld struct {
	name, other string
	negative    bool // its zeros are negative
}

func newLatestWorld(l *lab, rng *rand.Rand, space string) *latestWorld {
	w := &latestWorld{space + ".t", space + ".u", chance(rng, 2)}
	columns := []string{"k long", "g string", "id long"}
	for _, c := range latestColumns {
		columns = append(columns, c.name+" "+c.typ)
	}
	zero := "0.0" // or the other, not both: DuckDB's Parquet writer makes one of the two zeros of a file
	if w.negative {
		zero = "'-0.0'"
	}
	id := 0
	var batches [][]string
	for range 1 + rng.IntN(3) {
		var rows []string
		for range rng.IntN(60) + 1 {
			row := []string{pick(rng, []string{"NULL", "1", "2", "3", "4", "5"}), pick(rng, []string{"NULL", "'p'", "'q'"}), fmt.Sprint(id)}
			for _, c := range latestColumns {
				row = append(row, pick(rng, c.values))
			}
			rows, id = append(rows, "("+strings.ReplaceAll(strings.Join(row, ", "), "ZERO", zero)+")"), id+1
		}
		batches = append(batches, rows)
	}
	spec := pick(rng, [][]string{{"bucket[4] k"}, {"identity k"}, {"bucket[3] k", "identity g"}})
	l.table(definition{name: w.name, columns: columns, spec: spec}, batches...)
	l.table(definition{name: w.other, columns: []string{"k long", "h int"}, spec: spec[:1]}, []string{"(NULL, 1)", "(1, 2)", "(3, 3)", "(3, 4)", "(9, 5)"})
	return w
}

// window is a random row_number(), by itself and as rank(), which numbers all the rows 1 that row_number() may. Its keys are
// named k and g above.
func (w *latestWorld) window(rng *rand.Rand, prefix string) (number, rank, keys string) {
	keys = pick(rng, []string{"k", "k, g", "k", "k, s", "k, n", "k, x"})
	columns := latestColumns
	if w.negative { // DuckDB sorts by zeros without their sign, and gives them out so
		keys = strings.Replace(keys, "x", "v", 1)
		columns = slices.DeleteFunc(slices.Clone(columns), func(c latestColumn) bool { return c.name == "x" || c.name == "f" })
	}
	var by []string
	for range 1 + rng.IntN(2) {
		c := prefix + pick(rng, columns).name
		if chance(rng, 8) {
			c = pick(rng, []string{"abs(" + prefix + "v::long)", prefix + "l % 3", "1", "{'a': " + prefix + "v, 'b': " + prefix + "s}"})
		}
		by = append(by, c+pick(rng, []string{"", " ASC", " DESC", " DESC"})+pick(rng, []string{"", "", " NULLS FIRST", " NULLS LAST"}))
	}
	over := " OVER (PARTITION BY " + prefix + strings.ReplaceAll(keys, ", ", ", "+prefix) + " ORDER BY " + strings.Join(by, ", ") + ")"
	return "row_number()" + over, "rank()" + over, keys
}

// shown are the outputs of a query: of zeros the sign too.
const shown = "k, g, id, v, l, x, x = 0 AND signbit(x) AS nx, f, f = 0 AND signbit(f) AS nf, n, s, y, d, ts, tz, b, u"

// query is a random query for first rows; ranked is the same with rank().
func (w *latestWorld) query(rng *rand.Rand) (query, ranked, keys string) {
	number, rank, keys := w.window(rng, "")
	first := pick(rng, []string{"# = 1", "# <= 1", "# < 2", "1 = #", "2 > #"})
	where := pick(rng, []string{"", "", " WHERE v IS NOT NULL", " WHERE l > 0"})
	outer := pick(rng, []string{"", "", " AND b", " AND x >= 0", " AND k = 3"})
	var text string
	switch rng.IntN(8) {
	case 0:
		text = "SELECT " + shown + " FROM " + w.name + where + " QUALIFY " + strings.ReplaceAll(first, "#", "NUMBER")
	case 1:
		text = "SELECT " + shown + " FROM (SELECT * FROM " + w.name + where + " QUALIFY " + strings.ReplaceAll(first, "#", "NUMBER") + ") WHERE true" + outer
	case 2:
		text = "SELECT " + shown + ", rn FROM (SELECT *, NUMBER AS rn FROM " + w.name + where + ") WHERE " + strings.ReplaceAll(first, "#", "rn") + outer
	case 3:
		text = "WITH r AS (SELECT *, NUMBER AS rn FROM " + w.name + where + ") SELECT k, g, id, s FROM r WHERE " + strings.ReplaceAll(first, "#", "rn") + outer
	case 4:
		text = "SELECT k, g, id, s, st, li, st.a FROM (SELECT *, {'a': v, 'b': s} AS st, [d, NULL] AS li, NUMBER AS rn FROM " + w.name + where +
			") WHERE " + strings.ReplaceAll(first, "#", "rn") + outer
	case 5: // nested columns below
		text = "SELECT k, g, id, s, st, li, m FROM (SELECT *, {'a': v, 'b': [s]} AS st, [{'c': y}] AS li, MAP {'k': d} AS m FROM " + w.name + where +
			") QUALIFY " + strings.ReplaceAll(first, "#", "NUMBER")
	case 6:
		text = "SELECT r.k, g, id, s, h FROM (SELECT *, NUMBER AS rn FROM " + w.name + where + ") r " + pick(rng, []string{"", "LEFT", "RIGHT", "FULL"}) +
			" JOIN " + w.other + " AS o ON r.k = o.k WHERE " + strings.ReplaceAll(first, "#", "r.rn")
	default:
		text = "SELECT r.k, g, id, s, h FROM " + w.other + " AS o " + pick(rng, []string{"", "LEFT"}) + " JOIN (SELECT *, NUMBER AS rn FROM " + w.name + where +
			") r ON r.k = o.k AND " + strings.ReplaceAll(first, "#", "r.rn")
	}
	return strings.ReplaceAll(text, "NUMBER", number), strings.ReplaceAll(text, "NUMBER", rank), keys
}

// TestRandomLatestRows asks for the first rows of random partitions, group by group and whole. With equals in the order the
// answer may be one of several: all of its rows must be among those that rank() numbers 1, and once more by id the rows must
// be those that plain DuckDB gives. TARN_LATEST_ROUNDS sets the number of tables, and TARN_SEED the first one's seed.
func TestRandomLatestRows(t *testing.T) {
	seed := seed.Of(t)
	l := newLab(t)
	reduced, asked := 0, 0
	for i := range count(t, "TARN_LATEST_ROUNDS", defaultLatestRounds) {
		rng := rand.New(rand.NewPCG(seed+uint64(i), 0))
		w := newLatestWorld(l, rng, fmt.Sprintf("r%d", i))
		for range latestPerRound {
			query, ranked, _ := w.query(rng)
			for _, wrong := range []string{l.amongFirst(query, ranked), l.sameFirst(query)} {
				if wrong != "" {
					t.Errorf("TARN_SEED=%d: %s\n%s", seed+uint64(i), query, wrong)
				}
			}
			asked++
			if l.isReduced(query) {
				reduced++
			}
		}
	}
	t.Logf("TARN_SEED=%d: %d of %d were reduced", seed, reduced, asked)
	if asked >= 30 && reduced < asked/2 {
		t.Errorf("TARN_SEED=%d: only %d of %d were reduced", seed, reduced, asked)
	}
}

// amongFirst says what is wrong with the rows, which rank() numbers 1 if row_number() may.
func (l *lab) amongFirst(query, ranked string) string {
	want, exact := l.judge(ranked), l.judge(query)
	l.must(want.err)
	l.must(exact.err)
	allowed := map[string]int{}
	for _, r := range want.rows {
		allowed[rowText(r)]++
	}
	for _, m := range []mode{auto, small} {
		got := l.ask(m, query)
		l.must(got.err)
		left := map[string]int{}
		for _, r := range got.rows {
			left[rowText(r)]++
		}
		for text, n := range left {
			if n > allowed[text] {
				return fmt.Sprintf("%v gives %s, which is no first row", m, text)
			}
		}
		if !strings.Contains(query, " AND ") && len(got.rows) != len(exact.rows) && !strings.Contains(query, "JOIN") {
			return fmt.Sprintf("%v gives %d rows, wanted %d", m, len(got.rows), len(exact.rows))
		}
	}
	return ""
}

func rowText(r golden.Row) string {
	texts := make([]string, len(r))
	for i, v := range r {
		texts[i] = golden.Text(v)
	}
	return strings.Join(texts, "|")
}

// sameFirst says what is wrong with the rows when their order has no equals.
func (l *lab) sameFirst(query string) string {
	at := strings.Index(query, " ORDER BY ")
	end := at + closing(query[at:])
	query = query[:end] + ", id" + query[end:]
	want := l.judge(query)
	l.must(want.err)
	for _, m := range []mode{auto, small, off} {
		if d := differ(want, l.ask(m, query), false); d != "" {
			return fmt.Sprintf("%s\n%v: %s", query, m, d)
		}
	}
	return ""
}

// closing returns where the parenthesis that is open around a text closes.
func closing(text string) int {
	depth := 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return len(text)
}

func (l *lab) isReduced(query string) bool {
	p, err := l.explain(auto, query)
	l.must(err)
	for _, c := range p.Cores {
		for _, o := range c.Operators {
			if o.Detail == "ReduceLatestRow" {
				return true
			}
		}
	}
	return false
}

// TestLatestRowIsOneRow: of rows that come first together all columns come from one, whatever their types.
func TestLatestRowIsOneRow(t *testing.T) {
	l := newLab(t)
	l.create(definition{name: "c.t", columns: []string{"k long", "o int", "p int", "v int", "s string", "x double", "n decimal(9,2)"}, spec: []string{"bucket[2] k"}})
	for i := range 3 {
		l.must(l.tryAppendQuery("c.t", fmt.Sprintf(`SELECT i %% 50, nullif(i %% 3, 2), 1, i, i::VARCHAR, i::DOUBLE, i::DECIMAL(9,2)
			FROM range(%d, %d) r(i)`, 5000*i, 5000*i+5000)))
	}
	for _, order := range []string{"o", "o DESC", "o NULLS FIRST", "o, p", "p DESC, o DESC NULLS FIRST", "p"} {
		query := "SELECT count(*), count(DISTINCT k) FROM (SELECT * FROM c.t QUALIFY row_number() OVER (PARTITION BY k ORDER BY " + order +
			") = 1) WHERE s::INT = v AND x = v AND n = v AND v % 50 = k"
		for _, m := range []mode{auto, small} {
			if got := rowText(l.ask(m, query).rows[0]); got != "50|50" {
				t.Errorf("%v %s gives %s", m, query, got)
			}
		}
		if !l.isReduced(query) {
			t.Errorf("%s isn't reduced", query)
		}
	}
}

// TestFirstRowAfterNull: DuckDB's own way to the first row forgets one that comes after NULL. It is the window that is asked
// for here: the key is a float.
func TestFirstRowAfterNull(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "c.t", columns: []string{"k double", "o decimal(9,2)", "s string"}},
		[]string{"(1, NULL, 'a')", "(1, 1, 'b')", "(1, 2, 'c')"})
	for _, query := range []string{
		"SELECT * FROM c.t QUALIFY row_number() OVER (PARTITION BY k ORDER BY o) = 1",
		"WITH n AS (SELECT *, row_number() OVER (PARTITION BY k ORDER BY o) AS rn FROM c.t) SELECT k, o, s FROM n WHERE rn = 1",
	} {
		l.agree(query)
	}
}

// TestLatestRowsThatTextsMention asks for first rows in places that no plan has: entries of WITH that are computed once and
// subqueries stay in the text of a block, and all of their columns may be needed.
func TestLatestRowsThatTextsMention(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "c.t", columns: []string{"k long", "v int", "s string"}, spec: []string{"bucket[4] k"}},
		[]string{"(1, 1, 'a')", "(1, 2, 'b')", "(2, 3, 'c')"}, []string{"(2, 4, 'd')", "(NULL, 5, 'e')", "(3, NULL, 'f')"})
	const latest = "(SELECT k, v, s, row_number() OVER (PARTITION BY k ORDER BY v DESC, s) AS r FROM c.t) WHERE r = 1"
	for _, query := range []string{
		"WITH w AS (SELECT k, v, s FROM LATEST) SELECT a.k, b.s FROM w a JOIN w b USING (k)",
		"WITH w AS (SELECT * FROM LATEST) SELECT a.k, b.v FROM w a, w b WHERE a.s = b.s",
		"WITH RECURSIVE w AS (SELECT k, v FROM LATEST UNION ALL SELECT k, v + 10 FROM w WHERE v < 20) SELECT k, v FROM w",
		"SELECT (SELECT max(v) FROM LATEST) AS m, k FROM c.t",
		"SELECT k, s IN (SELECT s FROM LATEST) AS i FROM c.t",
		"SELECT k FROM c.t WHERE s NOT IN (SELECT s FROM LATEST)",
		"SELECT k FROM c.t WHERE s IN (SELECT s FROM LATEST)",
		"SELECT k FROM c.t o WHERE EXISTS (SELECT 1 FROM LATEST AND s = o.s) OR k = 1",
		"SELECT o.k, (SELECT count(*) FROM LATEST AND k >= o.k) AS n FROM c.t o",
		"SELECT o.k, i.s FROM c.t o, LATERAL (SELECT s FROM LATEST AND k = o.k) i",
		"SELECT k, v FROM LATEST INTERSECT SELECT k, v FROM c.t",
		"SELECT k, v FROM LATEST UNION SELECT k, v FROM LATEST",
		"SELECT x.k, x.v FROM (SELECT k, v FROM LATEST) x POSITIONAL JOIN (SELECT 1 AS one)",
	} {
		l.agree(strings.ReplaceAll(query, "LATEST", latest))
	}
}
