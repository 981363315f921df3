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
	later   bool       // it has w
	version int        // of its format
	vectors bool       // it has deletion vectors
	specs   [][]string // in use or current, in the order of their making
	nulls   bool       // half of its keys are NULL
	hot     string     // "a" or "b": half of its rows have one value there
	traits  []string   // what is told of plans over it: see traits
	steps   []step     // how it came to be
}

// step is one thing that happens to a table. Making a world takes its steps one by one; a world that fails is made smaller
// by leaving some out.
type step struct {
	text string   // for people
	rows []string // of an append
	do   func(*made)
	// deletes says that without the step the table would have more rows, and nothing else would be different.
	deletes bool
}

func (s step) String() string {
	if s.rows != nil {
		return "append " + strings.Join(s.rows, ", ")
	}
	return s.text
}

// made is a table that is there.
type made struct {
	*lab
	name string
	gone map[string][]int64 // what position deletes have, by data file
}

// remember keeps what position deletes have, which a vector for the same file replaces.
func (m *made) remember(rows map[string][]int64) {
	for path, positions := range rows {
		m.gone[path] = append(m.gone[path], positions...)
	}
}

// traits are what tables can have, each of which some must.
var traits = []string{"format version 1", "upgraded", "evolved", "promoted", "column added", "many NULLs", "hot key",
	"position deletes", "value deletes", "deletion vectors"}

func (t *tab) has(trait string) { t.traits = append(t.traits, trait) }

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
	space string
	tabs  []*tab
	keys  map[string]*kind
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// chance is true once in n times.
func chance(rng *rand.Rand, n int) bool { return rng.IntN(n) == 0 }

// newWorld thinks of the world of a seed, which make makes. Seeds one after another take each kind of key in turn.
func newWorld(seed uint64, space string) *world {
	rng := rand.New(rand.NewPCG(seed, 0))
	w := &world{space: space, keys: map[string]*kind{"a": allKinds[seed%uint64(len(allKinds))], "b": pick(rng, allKinds)}}
	if w.keys["a"].class == "boolean" {
		w.keys["a"], w.keys["b"] = w.keys["b"], w.keys["a"]
	}
	shared := w.spec(rng, w.keys)
	for i := range 4 {
		t := &tab{name: fmt.Sprintf("%s.t%d", space, i), keys: map[string]*kind{}, nulls: chance(rng, 6)}
		if chance(rng, 4) {
			t.hot = pick(rng, []string{"a", "a", "b"})
			t.has("hot key")
		}
		if t.nulls {
			t.has("many NULLs")
		}
		for _, name := range []string{"a", "b"} {
			t.keys[name] = w.keys[name]
			if chance(rng, 2) { // int against long, decimals of two precisions
				t.keys[name] = pick(rng, kindsOf(w.keys[name].class))
			}
		}
		spec := w.legal(t, shared)
		if i > 0 {
			spec = w.variant(rng, t, spec)
		}
		w.fill(rng, t, spec)
		w.tabs = append(w.tabs, t)
	}
	return w
}

// variant returns a spec for another table of a world: often the same, else one that has something to do with it.
func (w *world) variant(rng *rand.Rand, t *tab, spec []string) []string {
	switch rng.IntN(14) {
	case 0:
		return w.spec(rng, t.keys)
	case 1:
		rng.Shuffle(len(spec), func(i, j int) { spec[i], spec[j] = spec[j], spec[i] })
	case 2:
		return nil
	case 3:
		return w.withField(spec, w.field(rng, t.keys), rng)
	case 4:
		if len(spec) > 1 {
			return slices.Delete(spec, 0, 1)
		}
	case 5, 6, 7, 8:
		return w.related(rng, t, spec)
	}
	return w.legal(t, spec)
}

// related puts a transform of the same family in the place of some fields.
func (w *world) related(rng *rand.Rand, t *tab, spec []string) []string {
	var out []string
	for _, f := range spec {
		fn, col, _ := strings.Cut(f, " ")
		if !chance(rng, 4) {
			f = pick(rng, t.keys[col].relatives(fn)) + " " + col
		}
		out = w.withField(out, f, rng)
	}
	return w.legal(t, out)
}

// legal leaves out the fields that the table's own types can't have.
func (w *world) legal(t *tab, spec []string) []string {
	return slices.DeleteFunc(slices.Clone(spec), func(f string) bool {
		fn, col, _ := strings.Cut(f, " ")
		return fn != "void" && !slices.Contains(t.keys[col].fns, fn)
	})
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
	return col == same && slices.Contains(times, fn) && slices.Contains(times, other)
}

// isDecimal says whether a field's values are decimals: iceberg-go can't write manifests with two such fields.
func (w *world) isDecimal(f string) bool {
	fn, col, _ := strings.Cut(f, " ")
	return strings.HasPrefix(w.keys[col].name, "decimal") && !strings.HasPrefix(fn, "bucket")
}

func (w *world) spec(rng *rand.Rand, keys map[string]*kind) []string {
	spec := []string{pick(rng, keys["a"].fns) + " a"}
	for chance(rng, 2) {
		spec = w.withField(spec, w.field(rng, keys), rng)
	}
	return spec
}

// fill thinks of how the table came to be: appends, sometimes none, sometimes under more than one spec.
func (w *world) fill(rng *rand.Rand, t *tab, spec []string) {
	columns := []string{"a " + t.keys["a"].name, "b " + t.keys["b"].name, "v int", "n decimal(9,2)", "x double", "s string"}
	t.version = pick(rng, []int{1, 2, 2, 3, 3})
	if w.keys["a"].name == "timestamp_ns" || w.keys["b"].name == "timestamp_ns" {
		t.version = 3
	}
	if t.version == 1 {
		t.has("format version 1")
	}
	t.specs = [][]string{spec}
	def := definition{columns: columns, spec: spec, version: t.version}
	t.step(fmt.Sprintf("(%s) of format %d partitioned by %q", strings.Join(columns, ", "), t.version, spec), func(m *made) {
		def.name = m.name
		m.create(def)
	})
	batches := 1 + rng.IntN(3)
	if chance(rng, 10) {
		batches = 0
	}
	for i := range batches {
		if i > 0 && t.version < 3 && chance(rng, 4) {
			t.upgrade()
		}
		if i > 0 && chance(rng, 3) {
			next := w.evolved(rng, t)
			if t.version == 1 {
				next = w.inPlace(spec, next)
			}
			spec, t.specs = next, append(t.specs, next)
			t.has("evolved")
			t.step(fmt.Sprintf("set spec %q", next), func(m *made) { m.setSpec(m.name, next) })
		}
		if i > 0 && chance(rng, 4) {
			t.promote()
		}
		if i > 0 && !t.later && chance(rng, 6) {
			t.later = true
			t.has("column added")
			t.step("add column w int", func(m *made) { m.addColumn(m.name, "w") })
		}
		t.steps = append(t.steps, step{rows: t.rows(rng, spec)})
		if chance(rng, 5) {
			t.removeRows(rng)
		}
	}
}

// evolved returns a table's next spec: one that has something to do with an older one, which may be the older one itself.
func (w *world) evolved(rng *rand.Rand, t *tab) []string {
	old, last := t.specs[0], t.specs[len(t.specs)-1]
	switch rng.IntN(6) {
	case 0:
		return w.legal(t, w.spec(rng, t.keys))
	case 1: // the old fields, and one more somewhere
		return w.legal(t, w.withField(old, w.field(rng, t.keys), rng))
	case 2: // dropped; a later spec may have it again
		if len(last) > 0 {
			return slices.Delete(slices.Clone(last), 0, 1)
		}
	case 3:
		return old
	case 4:
		spec := slices.Clone(last)
		slices.Reverse(spec)
		return w.legal(t, w.withField(spec, w.field(rng, t.keys), rng))
	}
	return w.related(rng, t, old)
}

// inPlace returns a spec as tables of format version 1 have it: the fields of the last one keep their places, one that is
// dropped becomes void, and new ones follow.
func (w *world) inPlace(last, next []string) []string {
	out, decimals := slices.Clone(last), 0
	for i, f := range last {
		if !slices.Contains(next, f) {
			_, col, _ := strings.Cut(f, " ")
			out[i] = "void " + col
		}
	}
	for _, f := range next {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	for _, f := range out {
		if w.isDecimal(f) {
			decimals++
		}
	}
	if decimals > 1 {
		return last
	}
	return out
}

// upgrade gives the table the next format version.
func (t *tab) upgrade() {
	t.version++
	t.has("upgraded")
	to := t.version
	t.step(fmt.Sprintf("upgrade to format %d", to), func(m *made) { m.upgrade(m.name, to) })
}

func (t *tab) step(text string, do func(*made)) { t.steps = append(t.steps, step{text: text, do: do}) }

// removeRows deletes some rows by delete files of some kind, which tables of format version 1 don't have.
func (t *tab) removeRows(rng *rand.Rand) {
	if t.version < 2 {
		return
	}
	cond := pick(rng, []string{"v > 2", "v IS NULL OR v = 0", "s = 'p'", "x < 0", "n > 5 AND v < 4", "true", "s IS NULL"})
	if chance(rng, 3) {
		cond = pick(rng, []string{"a", "b"}) + " IS NULL"
	}
	columns := pick(rng, [][]string{{"a"}, {"b", "v"}, {"s"}, {"v", "n", "x"}})
	how := rng.IntN(4)
	if how == 3 && (t.vectors || t.version < 3) || how < 2 && t.version > 2 { // from version 3 on nobody adds position delete files
		return
	}
	text, do := "", func(*made) {}
	switch how {
	case 0, 1:
		t.has("position deletes")
		text, do = "positions per partition ", func(m *made) { m.remember(m.deleter(m.name).byPosition(cond, how == 0)) }
		if how == 0 {
			text = "positions per file "
		}
	case 2:
		t.has("value deletes")
		text, do = fmt.Sprintf("values %v of ", columns), func(m *made) { m.deleter(m.name).byValue(cond, columns...) }
	case 3:
		t.has("deletion vectors")
		t.vectors = true
		text, do = "vectors ", func(m *made) { m.deleter(m.name).byVector(cond, m.gone) }
	}
	t.steps = append(t.steps, step{text: "delete " + text + cond, do: do, deletes: true})
}

// promote makes an int key a long or a float a double, or gives a decimal more digits.
func (t *tab) promote() {
	for _, name := range []string{"a", "b"} {
		wide := map[string]string{"int": "long", "float": "double", "decimal(9,2)": "decimal(18,2)"}[t.keys[name].name]
		if wide == "" {
			continue
		}
		t.has("promoted")
		t.step("promote "+name+" to "+wide, func(m *made) { m.retype(m.name, name, strings.ReplaceAll(wide, ",", ", ")) })
		for _, k := range allKinds {
			if k.name == wide {
				t.keys[name] = k
			}
		}
		return
	}
}

// rows draws rows from a part of the keys' values, so that some groups are missing.
func (t *tab) rows(rng *rand.Rand, spec []string) []string {
	pools := map[string][]string{}
	for _, name := range []string{"a", "b"} {
		pool := t.keys[name].pool(spec, name)
		rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		pool = append(pool[:1+rng.IntN(min(len(pool), 10))], "NULL")
		for range len(pool) {
			if t.nulls {
				pool = append(pool, "NULL")
			}
			if t.hot == name {
				pool = append(pool, pool[0])
			}
		}
		pools[name] = pool
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

func orNull(rng *rand.Rand, text string) string {
	if chance(rng, 7) {
		return "NULL"
	}
	return text
}

// make makes the world's tables in a namespace, which may be another one than that it was thought of for.
func (w *world) make(l *lab, space string) {
	l.t.Helper()
	for _, t := range w.tabs {
		m := &made{lab: l, name: space + strings.TrimPrefix(t.name, w.space), gone: map[string][]int64{}}
		for _, s := range t.steps {
			if s.rows == nil {
				s.do(m)
			} else if err := l.tryAppend(m.name, s.rows...); err != nil {
				l.t.Fatalf("%s\n%s\n%v", w.story(), s, err)
			}
		}
	}
}

// story tells how the tables came to be.
func (w *world) story() string {
	var b strings.Builder
	for _, t := range w.tabs {
		b.WriteString("create " + t.name)
		for _, s := range t.steps {
			b.WriteString("  " + s.String() + "\n")
		}
	}
	return b.String()
}
