package property

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/seed"
)

// TestRandomChanges compares statements that change rows, over random tables, with what a model makes of the same rows in memory:
// the rows after, what was counted, and in format version 3 the lineage of each row. TARN_CHANGES is how many statements run.
func TestRandomChanges(t *testing.T) {
	first, wanted := seed.Of(t), count(t, "TARN_CHANGES", 150)
	l := newLab(t)
	l.run("CREATE NAMESPACE rc")
	outcomes := map[string]int{}
	for world, done := 0, 0; done < wanted && !t.Failed(); world++ {
		w := newChangeWorld(l, first+uint64(world), fmt.Sprintf("rc.t%d", world), fmt.Sprintf("rc.s%d", world))
		for range 6 {
			outcomes[w.step()]++
			done++
		}
		outcomes["by groups"] += w.byGroups
		outcomes["sliced"] += w.sliced
	}
	t.Logf("%v", outcomes)
	for _, o := range []string{"changed", "nothing", "twice", "by groups", "sliced"} {
		if wanted >= 100 && outcomes[o] == 0 {
			t.Errorf("no statement came to %q", o)
		}
	}
}

// changeWorld is a table whose rows are changed, and its source.
type changeWorld struct {
	*modeller
	l      *lab
	seed   uint64
	specs  []string // how tables may be laid out that have partitions
	format int
	rows   []modelRow // of the table
	log    []string   // statements so far
	// byGroups and sliced are how many statements ran by groups, and how many of those with groups in slices or parts.
	byGroups, sliced int
}

// changeSpecs are how the tables may be laid out.
var changeSpecs = []string{"bucket(4, id)", "bucket(4, id)", "bucket(2, id)", "p", "p, bucket(2, id)", "truncate(3, id)", "k"}

func newChangeWorld(l *lab, from uint64, target, source string) *changeWorld {
	l.t.Helper()
	return newChangeWorldOf(l, from, target, source, changeSpecs)
}

func newChangeWorldOf(l *lab, from uint64, target, source string, specs []string) *changeWorld {
	l.t.Helper()
	w := &changeWorld{l: l, seed: from, specs: specs, modeller: &modeller{r: rand.New(rand.NewPCG(from, 1)), target: target, source: source}}
	w.format = []int{1, 2, 2, 3, 3, 3}[w.r.IntN(6)]
	isFlat := w.create(target, w.format)
	w.create(source, 2)
	w.fill(target, &w.rows)
	if isFlat && w.format > 1 && w.oneIn(2) { // rows that another engine deleted by a value
		l.delta(target, nil, l.equal(target, "SELECT 'a' AS k", l.fieldOf(2, "k string")))
		w.log = append(w.log, "-- an equality delete of k = 'a'")
		w.rows = slices.DeleteFunc(w.rows, func(r modelRow) bool { return r.values[kAt] == "a" })
		w.fill(target, &w.rows)
	}
	if w.oneIn(3) && w.format > 1 { // files of two specs
		w.run("ALTER TABLE " + target + " ADD PARTITION FIELD bucket(5, tag) AS more")
		w.fill(target, &w.rows)
	}
	w.fill(source, &w.modeller.rows)
	if w.format == 3 {
		w.learn()
	}
	return w
}

// create makes a table, and says whether it is unpartitioned.
func (w *changeWorld) create(name string, format int) (isFlat bool) {
	w.l.t.Helper()
	spec := ""
	if isFlat = w.oneIn(4); !isFlat {
		spec = " PARTITIONED BY (" + w.specs[w.r.IntN(len(w.specs))] + ")"
	}
	w.run(fmt.Sprintf("CREATE TABLE %s (id BIGINT, k STRING, v BIGINT, p BIGINT, tag BIGINT)%s TBLPROPERTIES ('format-version' = '%d')", name, spec, format))
	return isFlat
}

func (w *changeWorld) run(statement string) {
	w.l.t.Helper()
	w.log = append(w.log, statement)
	w.l.run(statement)
}

// fill inserts rows into a table, in one or two files for each partition.
func (w *changeWorld) fill(name string, rows *[]modelRow) {
	w.l.t.Helper()
	for range 1 + w.r.IntN(2) {
		var list []string
		for range 1 + w.r.IntN(8) {
			w.tag++
			row := modelRow{values: [modelWidth]any{w.some(8), nil, w.some(5), w.some(3), w.tag}}
			k := "NULL"
			if !w.oneIn(6) {
				row.values[kAt] = string(rune('a' + w.r.IntN(3)))
				k = "'" + row.values[kAt].(string) + "'"
			}
			*rows = append(*rows, row)
			list = append(list, fmt.Sprintf("(%s, %s, %s, %s, %d)", textOf(row.values[idAt]), k, textOf(row.values[vAt]), textOf(row.values[pAt]), w.tag))
		}
		w.run("INSERT INTO " + name + " VALUES " + strings.Join(list, ", "))
	}
}

func (w *changeWorld) some(n int64) any {
	if w.oneIn(7) {
		return nil
	}
	return w.r.Int64N(n)
}

func textOf(v any) string {
	if v == nil {
		return "NULL"
	}
	return fmt.Sprint(v)
}

// settings draws how a statement runs.
func (w *changeWorld) settings() mode {
	var m mode
	for _, of := range [][]string{
		{"", "SET tarn.pack_bytes = 0"}, {"", "", "SET tarn.spj = 'off'"}, {"", "SET tarn.exchange = 'force'"}, {"", "SET tarn.broadcast_bytes = 0"},
		{"", "", "SET tarn.skew = 'slice'", "SET tarn.skew = 'bucket'", "SET tarn.skew = 'alone'"}, {"", "SET tarn.dynamic_filter = 'force'"},
		{"", "SET tarn.row_change_mode = 'merge-on-read'"}, {"", "SET tarn.threads = 1"},
	} {
		set := of[w.r.IntN(len(of))]
		if set != "" && (w.format > 1 || !strings.Contains(set, "merge-on-read")) {
			m = append(m, set)
		}
	}
	return m
}

// step runs one statement and compares what came of it.
func (w *changeWorld) step() string {
	w.l.t.Helper()
	c, m := w.change(w.rows), w.settings()
	fail := func(format string, args ...any) {
		w.l.t.Helper()
		w.l.t.Errorf("TARN_SEED=%d\n%s;\n%v\n%s\n%s", w.seed, strings.Join(w.log, ";\n"), m, c.sql, fmt.Sprintf(format, args...))
	}
	after, n, wrong := c.do(w.rows)
	counts, err := w.counts(m, c.sql)
	switch {
	case errors.Is(wrong, errModelTwice):
		if errs.KindOf(err) != errs.Invalid || !strings.Contains(fmt.Sprint(err), "more than one row") || !strings.Contains(fmt.Sprint(err), "tag = ") {
			fail("error %v, wanted one of a row that is matched twice", err)
		}
		after = w.rows
	case err != nil:
		fail("%v", err)
		return "failed"
	case counts["rows-inserted"] != n.inserted || counts["rows-updated"] != n.updated || counts["rows-deleted"] != n.deleted:
		fail("%v, wanted %+v", counts, n)
	}
	w.log = append(w.log, fmt.Sprintf("%s -- %v", c.sql, m))
	if d := w.compare(after, errors.Is(wrong, errModelTwice)); d != "" {
		fail("%s", d)
	}
	switch {
	case wrong != nil:
		return "twice"
	case n == modelCounts{}:
		return "nothing"
	}
	return "changed"
}

func (w *changeWorld) counts(m mode, statement string) (map[string]int64, error) {
	rows, err := w.l.session(m).Query(context.Background(), statement)
	if err != nil {
		return nil, err
	}
	if counters := rows.Counters(); counters.Packs > 0 {
		w.byGroups++
		if counters.Packs > counters.Groups {
			w.sliced++
		}
	}
	out := map[string]int64{}
	for _, c := range rows.Counts() {
		out[c.Name] = c.Value
	}
	return out, rows.Close()
}

// read returns the table's rows, with their lineage where they have one.
func (w *changeWorld) read() []modelRow {
	w.l.t.Helper()
	list := strings.Join(modelColumns[:], ", ")
	if w.format == 3 {
		list += ", _row_id, _last_updated_sequence_number"
	}
	a := w.l.ask(off, "SELECT "+list+" FROM "+w.target)
	w.l.must(a.err)
	out := make([]modelRow, len(a.rows))
	for i, row := range a.rows {
		for at, v := range row {
			n, isNumber := v.(*big.Rat)
			switch {
			case at < modelWidth && isNumber:
				out[i].values[at] = n.Num().Int64()
			case at < modelWidth:
				out[i].values[at] = v
			case at == modelWidth:
				out[i].rowID = n.Num().Int64() + 1 // 0 is unknown
			default:
				out[i].updated = n.Num().Int64()
			}
		}
	}
	return out
}

// learn takes over the lineage of rows that were just inserted, by their tags.
func (w *changeWorld) learn() {
	w.l.t.Helper()
	for _, got := range w.read() {
		i := slices.IndexFunc(w.rows, func(r modelRow) bool { return r.values[tagAt] == got.values[tagAt] })
		w.rows[i].rowID, w.rows[i].updated = got.rowID, got.updated
	}
}

// compare tells how the table's rows differ from what they should be, and takes them over.
func (w *changeWorld) compare(want []modelRow, isSame bool) string {
	w.l.t.Helper()
	got := w.read()
	before := w.rows
	w.rows = got
	if d := diffModel(want, got); d != "" || w.format < 3 {
		return d
	}
	known, newest := map[int64]modelRow{}, int64(0)
	for _, r := range before {
		known[r.rowID], newest = r, max(newest, r.updated)
	}
	seen := map[int64]bool{}
	for _, r := range got {
		was, isOld := known[r.rowID]
		switch {
		case seen[r.rowID]:
			return fmt.Sprintf("two rows have the ID %d", r.rowID-1)
		case isOld && slices.Contains(want, was) && r != was:
			// Another row may have come to be equal to a row that stayed, but not with its ID.
			return fmt.Sprintf("the row %v came to be %v", was, r)
		case isOld && r != was && (isSame || r.updated <= was.updated):
			return fmt.Sprintf("the row %v was changed to %v without a newer sequence number", was, r)
		case !isOld && r.updated <= newest && len(before) > 0:
			return fmt.Sprintf("the new row %v is as old as others", r)
		}
		seen[r.rowID] = true
	}
	ids := func(rows []modelRow) (out []int64) {
		for _, r := range rows {
			if _, isOld := known[r.rowID]; isOld {
				out = append(out, r.rowID)
			}
		}
		slices.Sort(out)
		return out
	}
	if a, b := ids(want), ids(got); !slices.Equal(a, b) {
		return fmt.Sprintf("the rows of the IDs %v go on, wanted %v", b, a)
	}
	return ""
}

func diffModel(want, got []modelRow) string {
	rows := func(list []modelRow) (out []golden.Row) {
		for _, r := range list {
			var row golden.Row
			for _, v := range r.values {
				if n, ok := v.(int64); ok {
					v = new(big.Rat).SetInt64(n)
				}
				row = append(row, v)
			}
			out = append(out, row)
		}
		return out
	}
	return golden.Diff(rows(want), rows(got))
}
