package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// runMade runs a graph that a test made, to its end, and returns its rows, sorted. Those that exchanged made have no tree of
// joins to be checked by.
func (l *lab) runMade(g *task.Graph, opts Options) ([]string, Stats, error) {
	l.t.Helper()
	if len(g.Cores) > 0 && g.Cores[0].Tree != nil {
		if err := task.Check(g); err != nil {
			l.t.Error(err)
		}
	}
	if opts.TempDir == "" {
		opts.TempDir = l.t.TempDir()
	}
	s := start(l.t.Context(), g, opts)
	rows, err := drain(l.t.Context(), s)
	s.Close()
	slices.Sort(rows)
	wantEmpty(l.t, opts.TempDir)
	return rows, s.Stats(), err
}

func (l *lab) mustRunMade(g *task.Graph, opts Options) ([]string, Stats) {
	l.t.Helper()
	rows, stats, err := l.runMade(g, opts)
	if err != nil {
		l.t.Fatal(err)
	}
	return rows, stats
}

// plain makes a table without a layout, of so many files.
func (l *lab) plain(name, columns, sql string, files int) {
	l.t.Helper()
	l.add(fmt.Sprintf("create table %s (%s)\n", name, columns))
	for i := range files {
		l.file(name, "", fmt.Sprintf("SELECT * EXCLUDE (tarn_n) FROM (SELECT *, row_number() OVER () AS tarn_n FROM (%s)) WHERE tarn_n %% %d = %d", sql, files, i), 0)
	}
}

// scatter sends a random part of each table's files to be routed row by row, to the bins of packs that there are.
func scatter(g *task.Graph, random *rand.Rand, often int) {
	for i := range g.Cores {
		c := &g.Cores[i]
		if len(c.Packs) == 0 {
			continue
		}
		c.Bins = len(c.Packs)
		for p := range c.Packs {
			c.Packs[p].Bin = p
			for t := range c.Tables {
				if len(c.Tables[t].Sources) == 0 {
					continue
				}
				c.Packs[p].Inputs[t] = slices.DeleteFunc(slices.Clone(c.Packs[p].Inputs[t]), func(f task.File) bool {
					if random.IntN(100) >= often {
						return false
					}
					c.Packs[p].Bytes -= f.Ref.Bytes
					c.Tables[t].Routed = append(c.Tables[t].Routed, f)
					return true
				})
			}
		}
		for t := range c.Tables {
			if len(c.Tables[t].Routed) == 0 {
				continue
			}
			c.Tables[t].Strays = slices.Repeat([]bool{true}, 1<<len(c.Keys))
		}
	}
}

// TestRoutedFilesGiveTheSameRows routes some files, or all, of queries of each shape.
func TestRoutedFilesGiveTheSameRows(t *testing.T) {
	l, random := shop(t), seed.Rand(t)
	for _, q := range queries {
		want, _ := l.mustRun(l.graph(q.sql, spj.Off, task.Options{}), Options{Workers: 1}, false)
		for _, often := range []int{30, 100} {
			g := l.graph(q.sql, spj.Auto, task.Options{PackBytes: int64(1 + random.IntN(20000)), Workers: 2})
			scatter(g, random, often)
			got, _ := l.mustRunMade(g, Options{Workers: 1 + random.IntN(3), MemoryBytes: []int64{0, 1 << 30}[random.IntN(2)]})
			if !slices.Equal(got, want) {
				t.Errorf("%s\nwith %d %% of files routed gives %d rows, whole %d:\n%.300q\n%.300q", q.sql, often, len(got), len(want), got, want)
			}
		}
	}
}

// keyCase is a key of two tables, whose types may differ in what the spec lets a column be promoted to.
type keyCase struct {
	left, right string
	values      []string // as ParseValue reads them, of both types
}

var keyCases = []keyCase{
	{"boolean", "boolean", []string{"true", "false"}},
	{"int", "int", []string{"0", "1", "-1", "9", "10", "-10", "-11", "2147483647", "-2147483648"}},
	{"int", "long", []string{"0", "1", "-1", "99", "-100", "-101", "2147483647", "-2147483648", "-2147483645"}},
	{"long", "long", []string{"0", "-1", "9223372036854775807", "-9223372036854775808", "-9223372036854775807", "-9223372036854775800"}},
	{"decimal(9,2)", "decimal(9,2)", []string{"0.00", "-0.01", "10.65", "-10.65", "9999999.99", "-9999999.99"}},
	{"decimal(4,2)", "decimal(38,2)", []string{"0.00", "-0.01", "10.65", "-99.99", "99.99"}},
	{"decimal(18,0)", "decimal(19,0)", []string{"0", "999999999999999999", "-999999999999999999"}},
	{"decimal(38,3)", "decimal(38,3)", []string{"0.001", "-99999999999999999999999999999999999.999", "-99999999999999999999999999999999999.998", "99999999999999999999999999999999999.999"}},
	{"date", "date", []string{"1970-01-01", "1969-12-31", "1969-01-01", "2024-02-29", "0001-01-01", "5000-12-31"}},
	{"time", "time", []string{"00:00:00", "22:31:08.000001", "23:59:59.999999"}},
	{"timestamp", "timestamp", []string{"1970-01-01T00:00:00", "1969-12-31T23:59:59.999999", "2024-02-29T12:30:00", "0001-01-01T00:00:00", "290000-01-01T00:00:00"}},
	{"timestamptz", "timestamptz", []string{"1970-01-01T00:00:00+00:00", "1969-12-31T23:59:59.999999+00:00", "2024-02-29T12:30:00-08:00"}},
	{"timestamp_ns", "timestamp_ns", []string{"1970-01-01T00:00:00", "1969-12-31T23:59:59.999999999", "2024-02-29T12:30:00.000000001", "1700-01-01T00:00:00"}},
	{"string", "string", []string{"", "a", "ab", "abc", "日本語文字", "日本", "💰x", "a longer text than twelve bytes"}},
	{"uuid", "uuid", []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "f79c3e09-677c-4bbd-a479-3f349cb785e7"}},
	{"binary", "binary", []string{"", "00", "0001", "e4b896", "000102030405060708090a0b0c0d0e0f"}},
	{"fixed[2]", "binary", []string{"0000", "00ff", "e4b8"}},
	{"fixed[2]", "fixed[2]", []string{"0000", "00ff", "e4b8"}},
}

var keyTransforms = []string{
	"identity", "bucket[1]", "bucket[7]", "bucket[1000000]", "truncate[1]", "truncate[3]", "truncate[10]", "truncate[10000]", "truncate[2147483647]", "year", "month", "day", "hour",
}

func mustTransform(t testing.TB, text string) transform.Transform {
	t.Helper()
	out, err := transform.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mustType(t testing.TB, text string) transform.Type {
	t.Helper()
	out, err := transform.ParseType(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rowsOf returns SQL of rows (k1, k2, ..., v) of random values of the keys, NULL among them.
func rowsOf(t testing.TB, random *rand.Rand, keys []keyCase, right bool, n int) string {
	rows := make([]string, n)
	for i := range rows {
		for k, key := range keys {
			typ := mustType(t, key.left)
			if right {
				typ = mustType(t, key.right)
			}
			rows[i] += fmt.Sprintf("%s AS k%d, ", literal(t, random, typ, key.values), k)
		}
		rows[i] = fmt.Sprintf("SELECT %s%d::INTEGER AS v", rows[i], i)
	}
	return strings.Join(rows, " UNION ALL ")
}

func literal(t testing.TB, random *rand.Rand, typ transform.Type, values []string) string {
	name, err := duck.TypeSQL(catalog.Type{Primitive: typ})
	if err != nil {
		t.Fatal(err)
	}
	i := random.IntN(len(values) + 1)
	switch {
	case i == len(values):
		return "CAST(NULL AS " + name + ")"
	case typ.Kind == transform.Binary || typ.Kind == transform.Fixed:
		return "unhex('" + values[i] + "')"
	}
	return "CAST('" + values[i] + "' AS " + name + ")"
}

// wide is the type in which a core writes group values.
func wide(typ transform.Type) transform.Type {
	switch typ.Kind {
	case transform.Int:
		typ.Kind = transform.Long
	case transform.Fixed:
		typ = transform.Type{Kind: transform.Binary}
	case transform.Decimal:
		typ.Precision = 38
	}
	return typ
}

// exchanged turns a whole query over tables with columns k0, k1, ... into a core of packs without files, all of whose rows
// are routed. Some of the values that keys may have are known groups.
func exchanged(t testing.TB, g *task.Graph, random *rand.Rand, keys []keyCase, transforms []transform.Transform, packs int) *task.Graph {
	t.Helper()
	f := g.Final
	c := task.Core{Name: "tarn_c0", SQL: f.SQL, Views: f.Views, Limit: -1, Bins: packs}
	for k, tr := range transforms {
		c.Keys = append(c.Keys, task.Key{Text: tr.String(), Type: wide(tr.ResultType(mustType(t, keys[k].left)))})
	}
	for i, w := range f.Tables {
		table := task.Table{Input: w.Input, Routed: w.Files, Strays: slices.Repeat([]bool{true}, 1<<len(keys))}
		for k, tr := range transforms {
			at := slices.IndexFunc(w.Fields, func(f catalog.Field) bool { return f.Name == fmt.Sprintf("k%d", k) })
			if at < 0 {
				t.Fatalf("table %d doesn't read k%d", i, k)
			}
			table.Sources = append(table.Sources, task.Source{Field: w.Fields[at].ID, Type: w.Fields[at].Type.Primitive, Transform: tr})
		}
		c.Tables = append(c.Tables, table)
	}
	for p := range packs {
		c.Packs = append(c.Packs, task.Pack{Inputs: make([][]task.File, len(c.Tables)), Bin: p})
	}
	groups := [][][]byte{{}}
	for k, tr := range transforms {
		var longer [][][]byte
		for _, values := range groups {
			for _, v := range groupValues(t, random, wide(mustType(t, keys[k].left)), tr, c.Keys[k].Type, keys[k].values) {
				longer = append(longer, append(slices.Clone(values), v))
			}
		}
		groups = longer
	}
	for _, values := range groups {
		p := &c.Packs[random.IntN(packs)]
		p.Groups = append(p.Groups, len(c.Groups))
		c.Groups = append(c.Groups, task.Group{Values: values})
	}
	return &task.Graph{Cores: []task.Core{c}, Output: g.Output, Avoid: g.Avoid}
}

// groupValues returns some of the values of a transform, each once, perhaps NULL.
func groupValues(t testing.TB, random *rand.Rand, source transform.Type, tr transform.Transform, typ transform.Type, values []string) [][]byte {
	t.Helper()
	seen := map[string]bool{}
	var out [][]byte
	if random.IntN(2) == 0 {
		out = append(out, nil)
	}
	for _, text := range values {
		v, err := transform.ParseValue(source, text)
		if err != nil {
			t.Fatal(err)
		}
		v, err = tr.Apply(source, v)
		if err != nil || random.IntN(3) == 0 {
			continue
		}
		if n, ok := v.(int32); ok && typ.Kind == transform.Long {
			v = int64(n)
		}
		b, err := catalog.EncodeValue(typ, v)
		if err != nil {
			t.Fatal(err)
		}
		if !seen[string(b)] {
			seen[string(b)] = true
			out = append(out, b)
		}
	}
	return out
}

// TestExchangeOfEachKey routes both sides of a full join, by each transform of each type, with known groups and without.
func TestExchangeOfEachKey(t *testing.T) {
	random := seed.Rand(t)
	for i, key := range keyCases {
		l := newLab(t)
		keys := []keyCase{key}
		l.plain("s.a", "k0 "+key.left+", v int", rowsOf(t, random, keys, false, 40), 2)
		l.plain("s.b", "k0 "+key.right+", v int", rowsOf(t, random, keys, true, 30), 3)
		g := l.graph("SELECT a.v, b.v FROM s.a FULL JOIN s.b ON a.k0 = b.k0", spj.Off, task.Options{})
		want, _ := l.mustRun(g, Options{Workers: 1}, false)
		for _, text := range keyTransforms {
			tr := mustTransform(t, text)
			if !tr.CanApply(mustType(t, key.left)) || !tr.CanApply(mustType(t, key.right)) {
				continue
			}
			got, _ := l.mustRunMade(exchanged(t, g, random, keys, []transform.Transform{tr}, 1+random.IntN(4)), Options{Workers: 1})
			if !slices.Equal(got, want) {
				t.Errorf("case %d, %s of %s and %s: %d rows, want %d:\n%.300q\n%.300q", i, text, key.left, key.right, len(got), len(want), got, want)
			}
		}
	}
}

// TestExchangeOfSeveralKeys routes rows by two keys and three of random types.
func TestExchangeOfSeveralKeys(t *testing.T) {
	random := seed.Rand(t)
	for range 8 {
		var keys []keyCase
		var transforms []transform.Transform
		columns, on := [2]string{}, []string{}
		for k := range 2 + random.IntN(2) {
			key := keyCases[random.IntN(len(keyCases))]
			tr := mustTransform(t, keyTransforms[random.IntN(len(keyTransforms))])
			for !tr.CanApply(mustType(t, key.left)) || !tr.CanApply(mustType(t, key.right)) {
				tr = mustTransform(t, keyTransforms[random.IntN(len(keyTransforms))])
			}
			keys, transforms = append(keys, key), append(transforms, tr)
			columns[0] += fmt.Sprintf("k%d %s, ", k, key.left)
			columns[1] += fmt.Sprintf("k%d %s, ", k, key.right)
			on = append(on, fmt.Sprintf("a.k%d %s b.k%d", k, []string{"=", "IS NOT DISTINCT FROM"}[random.IntN(2)], k))
		}
		l := newLab(t)
		l.plain("s.a", columns[0]+"v int", rowsOf(t, random, keys, false, 100), 2)
		l.plain("s.b", columns[1]+"v int", rowsOf(t, random, keys, true, 100), 2)
		query := "SELECT a.v, b.v FROM s.a LEFT JOIN s.b ON " + strings.Join(on, " AND ")
		g := l.graph(query, spj.Off, task.Options{})
		want, _ := l.mustRun(g, Options{Workers: 1}, false)
		got, _ := l.mustRunMade(exchanged(t, g, random, keys, transforms, 5), Options{Workers: 2})
		if !slices.Equal(got, want) {
			t.Errorf("%s by %v gives %d rows, want %d:\n%.300q\n%.300q", query, transforms, len(got), len(want), got, want)
		}
	}
}
