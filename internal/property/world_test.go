package property

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// tab is a random table: key columns a and b, and v int, n decimal(9,2), x double, s string, and perhaps w int, which came
// later. All tables of a world have these names.
type tab struct {
	name    string
	keys    map[string]*kind
	later   bool               // it has w
	version int                // of its format
	vectors bool               // it has deletion vectors
	specs   [][]string         // in use or current, in the order of their making
	log     []string           // how it came to be, for whoever looks at a failure
	gone    map[string][]int64 // what position deletes have, by data file
}

// slots returns the layout keys that every spec of the table has, as "bucket[4] a".
func (t *tab) slots() []string {
	out := slices.Clone(t.specs[0])
	for _, s := range t.specs[1:] {
		out = slices.DeleteFunc(out, func(f string) bool { return !slices.Contains(s, f) })
	}
	return slices.DeleteFunc(out, func(f string) bool { return strings.HasPrefix(f, "void") })
}

// world is a few tables with the same kinds of keys.
type world struct {
	tabs []*tab
	keys map[string]*kind
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// chance is true once in n times.
func chance(rng *rand.Rand, n int) bool { return rng.IntN(n) == 0 }

func newWorld(l *lab, rng *rand.Rand, space string) *world {
	w := &world{keys: map[string]*kind{"a": pick(rng, kinds), "b": pick(rng, kinds)}}
	if w.keys["a"].class == "boolean" {
		w.keys["a"], w.keys["b"] = w.keys["b"], w.keys["a"]
	}
	shared := w.spec(rng, w.keys)
	for i := range 4 {
		t := &tab{name: fmt.Sprintf("%s.t%d", space, i), keys: map[string]*kind{}}
		for name, k := range w.keys {
			t.keys[name] = k
			if k.class == "integer" && chance(rng, 2) { // int against long
				t.keys[name] = kinds[rng.IntN(2)]
			}
		}
		spec := slices.Clone(shared)
		switch rng.IntN(16) {
		case 0:
			spec = w.spec(rng, t.keys)
		case 1:
			rng.Shuffle(len(spec), func(i, j int) { spec[i], spec[j] = spec[j], spec[i] })
		case 2:
			spec = nil
		case 3:
			spec = w.withField(spec, w.field(rng, t.keys), rng)
		}
		w.fill(l, rng, t, spec)
		w.tabs = append(w.tabs, t)
	}
	return w
}

func (w *world) field(rng *rand.Rand, keys map[string]*kind) string {
	col := pick(rng, []string{"a", "a", "b"})
	if chance(rng, 12) {
		return "void " + col
	}
	return pick(rng, keys[col].fns) + " " + col
}

// withField puts a field somewhere into a spec, unless the two don't go together.
func (w *world) withField(spec []string, f string, rng *rand.Rand) []string {
	if slices.ContainsFunc(spec, func(g string) bool { return f == g || w.bothTimes(f, g) || w.isDecimal(f) && w.isDecimal(g) }) {
		return spec
	}
	return slices.Insert(slices.Clone(spec), rng.IntN(len(spec)+1), f)
}

// bothTimes says whether two fields are times of one column, which Iceberg refuses.
func (w *world) bothTimes(f, g string) bool {
	fn, col, _ := strings.Cut(f, " ")
	other, same, _ := strings.Cut(g, " ")
	times := []string{"year", "month", "day", "hour"}
	return col == same && slices.Contains(times, fn) && slices.Contains(times, other)
}

// isDecimal says whether a field's values are decimals: iceberg-go can't write manifests with two such fields.
func (w *world) isDecimal(f string) bool {
	fn, col, _ := strings.Cut(f, " ")
	return strings.HasPrefix(w.keys[col].name, "decimal") && !strings.HasPrefix(fn, "bucket")
}

func (w *world) spec(rng *rand.Rand, keys map[string]*kind) []string {
	spec := []string{pick(rng, keys["a"].fns) + " a"}
	for chance(rng, 3) {
		spec = w.withField(spec, w.field(rng, keys), rng)
	}
	return spec
}

// fill makes the table and appends to it, sometimes under a second spec, sometimes nothing.
func (w *world) fill(l *lab, rng *rand.Rand, t *tab, spec []string) {
	columns := []string{"a " + t.keys["a"].name, "b " + t.keys["b"].name, "v int", "n decimal(9,2)", "x double", "s string"}
	t.version = 2 + rng.IntN(2)
	l.create(definition{name: t.name, columns: columns, spec: spec, version: t.version})
	t.specs = [][]string{spec}
	t.log = append(t.log, fmt.Sprintf("create %s (%s) of format %d partitioned by %q", t.name, strings.Join(columns, ", "), t.version, spec))
	batches := 1 + rng.IntN(3)
	if chance(rng, 10) {
		batches = 0
	}
	for i := range batches {
		if i > 0 && chance(rng, 10) {
			spec = w.spec(rng, t.keys)
			if chance(rng, 2) { // the old fields, and one more somewhere
				spec = w.withField(t.specs[0], w.field(rng, t.keys), rng)
			}
			l.setSpec(t.name, spec)
			t.specs = append(t.specs, spec)
			t.log = append(t.log, fmt.Sprintf("set spec %q", spec))
		}
		if i > 0 && chance(rng, 4) {
			w.promote(l, t)
		}
		if i > 0 && !t.later && chance(rng, 6) {
			l.addColumn(t.name, "w")
			t.later = true
			t.log = append(t.log, "add column w int")
		}
		rows := t.rows(rng, spec)
		if err := l.tryAppend(t.name, rows...); err != nil {
			l.t.Fatalf("%s\n%v", w.story()+strings.Join(t.log, "\n"), err)
		}
		t.log = append(t.log, "append "+strings.Join(rows, ", "))
		if chance(rng, 4) {
			t.removeRows(l, rng)
		}
	}
}

// remember keeps what position deletes have, which a vector for the same file replaces.
func (t *tab) remember(rows map[string][]int64) {
	if t.gone == nil {
		t.gone = map[string][]int64{}
	}
	for path, positions := range rows {
		t.gone[path] = append(t.gone[path], positions...)
	}
}

// removeRows deletes some rows by delete files of some kind.
func (t *tab) removeRows(l *lab, rng *rand.Rand) {
	cond := pick(rng, []string{"v > 2", "v IS NULL OR v = 0", "s = 'p'", "x < 0", "n > 5 AND v < 4", "true", "s IS NULL"})
	if chance(rng, 3) {
		cond = pick(rng, []string{"a", "b"}) + " IS NULL"
	}
	d := l.deleter(t.name)
	how := rng.IntN(4)
	if how == 3 && t.vectors {
		how = 0
	}
	switch how {
	case 0, 1:
		if t.vectors { // a file with a vector has no position deletes beside it
			return
		}
		t.remember(d.byPosition(cond, how == 0))
	case 2:
		columns := pick(rng, [][]string{{"a"}, {"b", "v"}, {"s"}, {"v", "n", "x"}})
		d.byValue(cond, columns...)
		cond = fmt.Sprintf("%v of %s", columns, cond)
	case 3:
		if t.version < 3 {
			return
		}
		t.vectors = true
		d.byVector(cond, t.gone)
	}
	t.log = append(t.log, fmt.Sprintf("delete %s %s", []string{"positions per file", "positions per partition", "values", "vectors"}[how], cond))
}

// promote makes an int key a long.
func (w *world) promote(l *lab, t *tab) {
	for _, name := range []string{"a", "b"} {
		if t.keys[name].name == "int" {
			l.promote(t.name, name)
			t.keys[name] = kinds[1]
			t.log = append(t.log, "promote "+name)
			return
		}
	}
}

// rows draws rows from a part of the keys' values, so that some groups are missing.
func (t *tab) rows(rng *rand.Rand, spec []string) []string {
	pools := map[string][]string{}
	for name, k := range t.keys {
		pool := slices.Clone(k.values)
		if !truncates(spec, name) {
			pool = append(pool, k.extreme...)
		}
		rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		pools[name] = append(pool[:1+rng.IntN(min(len(pool), 10))], "NULL")
	}
	var rows []string
	for range 1 + rng.IntN(16) {
		row := fmt.Sprintf("(%s, %s, %s, %s, %s, %s", pick(rng, pools["a"]), pick(rng, pools["b"]),
			orNull(rng, fmt.Sprint(rng.IntN(10)-3)), orNull(rng, fmt.Sprintf("%d.%02d", rng.IntN(9), rng.IntN(100))),
			orNull(rng, fmt.Sprint(float64(rng.IntN(64))/4-8)), orNull(rng, pick(rng, []string{"''", "'p'", "'q'", "'pq'", "'💰'"})))
		if t.later {
			row += ", " + orNull(rng, fmt.Sprint(rng.IntN(5)))
		}
		row += ")"
		rows = append(rows, row)
		for chance(rng, 5) {
			rows = append(rows, row)
		}
	}
	return rows
}

// truncates says whether a spec can't take the extreme values of a column.
func truncates(spec []string, name string) bool {
	return slices.ContainsFunc(spec, func(f string) bool {
		return strings.HasPrefix(f, "truncate") && strings.HasSuffix(f, " "+name)
	})
}

func orNull(rng *rand.Rand, text string) string {
	if chance(rng, 7) {
		return "NULL"
	}
	return text
}

// story tells how the tables came to be.
func (w *world) story() string {
	var b strings.Builder
	for _, t := range w.tabs {
		b.WriteString(strings.Join(t.log, "\n  ") + "\n")
	}
	return b.String()
}
