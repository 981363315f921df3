package property

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// odd are literals that a reader of text may take for something else than DuckDB does, by class.
var odd = map[string][]string{
	"date":        {"'2024-2-29'", "'2024-02-29 12:00:00'", "'0001-01-01 (BC)'", "'infinity'", "'-infinity'", "'epoch'", "DATE '-0001-01-01'", "'10000-01-01'"},
	"timestamp":   {"'2024-01-02T00:00:00Z'", "'2024-01-02 00:00:00+05:30'", "'2024-01-02 24:00:00'", "'2024-01-02 00:00'", "'infinity'", "'epoch'", "TIMESTAMP '1969-12-31 23:59:59.9999999'", "'1969-12-31'", "TIMESTAMP_S '1970-01-01 00:00:00'", "TIMESTAMP_NS '1969-12-31 23:59:59.999999500'"},
	"timestamptz": {"'2024-01-02 00:00:00'", "'2024-01-02'", "'1969-12-31 23:00:00Z'", "'infinity'", "TIMESTAMPTZ '2024-01-02 00:00:00 -08'", "'2024-01-02 00:00:00 UTC'"},
	"time":        {"'24:00:00'", "'12:00'", "'12:34:56.7890001'", "TIME '23:59:59.9999999'"},
	"uuid":        {"'F79C3E09-677C-4BBD-A479-3F349CB785E7'", "'f79c3e09677c4bbda4793f349cb785e7'", "'{f79c3e09-677c-4bbd-a479-3f349cb785e7}'"},
	"string":      {"5", "DATE '2026-07-05'", "'0'::VARCHAR", "CAST(NULL AS INTEGER)", "true"},
	"integer":     {"'7'", "' 7 '", "'1e1'", "true", "1.0", "0.5", "10.00000000000000000001", "9223372036854775807", "-2147483649", "1e1::INTEGER"},
	"decimal2":    {"14.2e0", "'14.20'", "true", "14.205", "CAST(14.2 AS DOUBLE)", "0.005"},
	"decimal10":   {"1.5e0", "'1.5'", "1.50000000000000000000", "0.00000000005"},
	"boolean":     {"1", "0", "'yes'", "'T'", "'1'", "'no'"},
	"float":       {"'nan'", "'-0'", "'1e300'", "'Infinity'", "NULL", "-0.0", "1.5::DECIMAL(3,1)"},
}

// pcolumn is a column of a world's table under the name that it has by now.
type pcolumn struct {
	name string
	kind *kind
}

// pruneWorld is a table, its twin, and where each of its rows is.
type pruneWorld struct {
	*lab
	name    string
	version int
	columns []pcolumn
	spec    []string // of the next append
	log     []string
	next    int // row ID

	files   []string // those that have rows, by the number that placed gives them
	total   int      // files
	deletes map[string]string
}

func (w *pruneWorld) story() string { return strings.Join(w.log, "\n") }

func (w *pruneWorld) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

// newPruneWorld makes a table and fills it; after one of so many appends rows are deleted.
func newPruneWorld(l *lab, rng *rand.Rand, space string, deletesOneIn int) *pruneWorld {
	w := &pruneWorld{lab: l, name: space + ".t", version: 1 + rng.IntN(3)}
	texts := []string{"rid long"}
	for i := range 4 {
		k := pick(rng, allKinds)
		for k.name == "timestamp_ns" && w.version < 3 {
			k = pick(rng, allKinds)
		}
		c := pcolumn{name: fmt.Sprintf("c%d", i), kind: k}
		w.columns = append(w.columns, c)
		texts = append(texts, c.name+" "+k.name)
	}
	w.spec = w.randomSpec(rng)
	d := definition{name: w.name, columns: texts, spec: w.spec, version: w.version, props: w.metrics(rng)}
	w.note("create %v", d)
	w.create(d)
	batches := 2 + rng.IntN(3)
	for i := range batches {
		if i > 0 {
			w.change(rng)
		}
		w.fill(rng)
		if chance(rng, deletesOneIn) && w.version > 1 {
			w.remove(rng)
		}
	}
	if chance(rng, 3) {
		w.change(rng)
	}
	if chance(rng, 3) {
		w.note("strip the manifest list")
		w.stripSummaries(w.name, rng)
	}
	return w
}

// metrics says how much of the columns' values the manifests are to keep.
func (w *pruneWorld) metrics(rng *rand.Rand) map[string]string {
	mode := pick(rng, []string{"full", "full", "truncate(16)", "truncate(1)", "truncate(2)", "counts", "none"})
	props := map[string]string{"write.metadata.metrics.default": mode}
	if chance(rng, 4) {
		props["write.metadata.metrics.column.c0"] = "none"
	}
	return props
}

// randomSpec makes a spec of up to three fields.
func (w *pruneWorld) randomSpec(rng *rand.Rand) []string {
	var spec []string
	for range rng.IntN(4) {
		c := pick(rng, w.columns)
		fn := pick(rng, c.kind.fns)
		if chance(rng, 10) {
			fn = "void" // which older engines put where a field was dropped
		}
		spec = w.withField(spec, fn, c.name)
	}
	return spec
}

// withField adds a field to a spec, unless the two don't go together.
func (w *pruneWorld) withField(spec []string, fn, col string) []string {
	f := fn + " " + col
	clashes := func(g string) bool {
		otherFn, otherCol, _ := strings.Cut(g, " ")
		bothTimes := col == otherCol && slices.Contains(times, fn) && slices.Contains(times, otherFn)
		return f == g || bothTimes || w.isDecimal(f) && w.isDecimal(g)
	}
	if slices.ContainsFunc(spec, clashes) {
		return spec
	}
	return append(spec, f)
}

// isDecimal says whether a field's values are decimals: iceberg-go can't write manifests with two such fields.
func (w *pruneWorld) isDecimal(f string) bool {
	fn, col, _ := strings.Cut(f, " ")
	return strings.HasPrefix(w.column(col).kind.name, "decimal") && !strings.HasPrefix(fn, "bucket")
}

func (w *pruneWorld) column(name string) pcolumn {
	i := slices.IndexFunc(w.columns, func(c pcolumn) bool { return c.name == name })
	return w.columns[i]
}

// fill appends rows of a few values of each column.
func (w *pruneWorld) fill(rng *rand.Rand) {
	pools := map[string][]string{}
	for _, c := range w.columns {
		pool := c.kind.pool(w.spec, c.name)
		rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		pool = pool[:1+rng.IntN(min(3, len(pool)))]
		switch rng.IntN(6) {
		case 0:
			pool = append(pool, "NULL")
		case 1:
			pool = []string{"NULL"}
		}
		pools[c.name] = pool
	}
	var rows []string
	for range 1 + rng.IntN(8) {
		row := fmt.Sprintf("(%d", w.next)
		for _, c := range w.columns {
			row += ", " + pick(rng, pools[c.name])
		}
		rows = append(rows, row+")")
		w.next++
	}
	w.note("append %s", strings.Join(rows, ", "))
	if err := w.tryAppend(w.name, rows...); err != nil {
		w.t.Fatalf("%v\n%s", err, w.story())
	}
}

// remove deletes some rows, by position or by value.
func (w *pruneWorld) remove(rng *rand.Rand) {
	cond := fmt.Sprintf("rid %% 4 = %d", rng.IntN(4))
	d := w.deleter(w.name)
	how := rng.IntN(3)
	if how < 2 && w.version > 2 {
		return // from version 3 on nobody adds position delete files
	}
	if how < 2 {
		w.note("delete positions %v %s", how == 0, cond)
		d.byPosition(cond, how == 0)
		return
	}
	c := pick(rng, w.columns)
	if c.kind.class == "float" {
		return
	}
	w.note("delete values of %s, %s", c.name, cond)
	d.byValue(cond, c.name)
}

// change evolves the table.
func (w *pruneWorld) change(rng *rand.Rand) {
	i := rng.IntN(len(w.columns))
	c := &w.columns[i]
	isSource := slices.ContainsFunc(w.spec, func(f string) bool { return strings.HasSuffix(f, " "+c.name) })
	switch rng.IntN(6) {
	case 0, 1:
		w.spec = w.randomSpec(rng)
		w.note("spec %q", w.spec)
		w.setSpec(w.name, w.spec)
	case 2:
		wider := map[string]string{"int": "long", "float": "double", "decimal(9,2)": "decimal(18,2)"}[c.kind.name]
		at := slices.IndexFunc(allKinds, func(k *kind) bool { return k.name == wider })
		if at < 0 {
			return
		}
		w.note("promote %s to %s", c.name, wider)
		c.kind = allKinds[at]
		w.retype(w.name, c.name, wider)
	case 3:
		to := fmt.Sprintf("n%d", w.next)
		w.note("rename %s to %s", c.name, to)
		w.rename(w.name, c.name, to)
		for j, f := range w.spec {
			if fn, col, _ := strings.Cut(f, " "); col == c.name {
				w.spec[j] = fn + " " + to
			}
		}
		c.name = to
		w.next++
	case 4:
		if isSource || len(w.columns) < 3 {
			return
		}
		w.note("drop %s", c.name)
		w.drop(w.name, c.name)
		w.columns = slices.Delete(w.columns, i, i+1)
	case 5:
		props := w.metrics(rng)
		w.note("set %v", props)
		w.setProperties(w.name, props)
	}
}
