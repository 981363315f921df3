package property

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/bind"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/stub"
)

const (
	defaultPredicates  = 10_000
	predicatesPerWorld = 200
	predicatesPerBind  = 20
	// With fewer predicates it is a matter of luck which files they leave out.
	enoughPredicates = 2000
	// Of the files that have no wanted row these parts must be left out, over all and by each means: a planner that keeps
	// all files loses no row either.
	leastPruned, leastByMeans = 0.15, 0.01
)

// pruning counts what predicates left out.
type pruning struct {
	predicates, refused               int
	files, matching                   int // of all predicates
	byManifest, byPartition, byBounds int
}

// TestRandomPredicates asks random predicates of random tables: no file with a row that satisfies one may be left out. The
// judge is plain DuckDB over the rows, of each of which it is known in which file it is. TARN_PRUNE_PREDICATES sets how
// many, and TARN_SEED the first world's seed.
func TestRandomPredicates(t *testing.T) {
	seed := seed.Of(t)
	l := newLab(t)
	p := newPlanner(l)
	var sum pruning
	wanted := count(t, "TARN_PRUNE_PREDICATES", defaultPredicates)
	for i := 0; sum.predicates < wanted && !t.Failed(); i++ {
		l.pruneRound(p, seed+uint64(i), fmt.Sprintf("w%d", i), &sum)
	}
	t.Logf("TARN_SEED=%d: %+v", seed, sum)
	if t.Failed() || sum.predicates < enoughPredicates {
		return
	}
	if sum.refused > sum.predicates/5 {
		t.Errorf("TARN_SEED=%d: %d predicates are refused", seed, sum.refused)
	}
	useless := float64(sum.files - sum.matching)
	for means, n := range map[string]int{"manifest": sum.byManifest, "partition": sum.byPartition, "bounds": sum.byBounds} {
		if float64(n) < leastByMeans*useless {
			t.Errorf("TARN_SEED=%d: only %d of %.0f files without a wanted row are left out by %s", seed, n, useless, means)
		}
	}
	if all := sum.byManifest + sum.byPartition + sum.byBounds; float64(all) < leastPruned*useless {
		t.Errorf("TARN_SEED=%d: only %d of %.0f files without a wanted row are left out", seed, all, useless)
	}
}

// pruneRound makes a world and asks it.
func (l *lab) pruneRound(p *planner, seed uint64, space string, sum *pruning) {
	rng := rand.New(rand.NewPCG(seed, 0))
	w := newPruneWorld(l, rng, space, 3)
	w.place()
	for done := 0; done < predicatesPerWorld && !l.t.Failed(); {
		var batch []asked
		for len(batch) < predicatesPerBind {
			a := asked{where: w.predicate(rng, 2)}
			if a.files, a.err = w.matching(a.where); a.err != nil { // DuckDB refuses it: a literal that is none of its type
				sum.refused++
				continue
			}
			batch = append(batch, a)
		}
		if err := w.ask(p, batch, chance(rng, 4), sum); err != nil {
			l.t.Errorf("TARN_SEED=%d: %v\n%s", seed, err, w.story())
		}
		done += len(batch)
		sum.predicates += len(batch)
	}
}

// asked is a predicate and the files that have rows for it.
type asked struct {
	where string
	files map[string]bool
	err   error
}

// place notes in which file each row is, as the engine says, and how many files there are.
func (w *pruneWorld) place() {
	w.t.Helper()
	a := w.lab.ask(off, "SELECT CAST(rid AS VARCHAR), _file FROM "+w.name)
	w.must(a.err)
	w.exec("CREATE OR REPLACE TEMP TABLE place (rid BIGINT, file INTEGER)")
	index := map[string]int{}
	var values []string
	for _, row := range a.rows {
		path := fmt.Sprint(row[1])
		if _, ok := index[path]; !ok {
			index[path] = len(w.files)
			w.files = append(w.files, path)
		}
		values = append(values, fmt.Sprintf("(%v, %d)", row[0], index[path]))
	}
	if len(values) > 0 {
		w.exec("INSERT INTO place VALUES %s", strings.Join(values, ", "))
	}
	w.exec("CREATE OR REPLACE TEMP TABLE placed AS SELECT t.*, p.file AS tarn_file FROM %s t JOIN place p USING (rid)", w.name)
	both := w.judge("SELECT CAST((SELECT count(*) FROM placed) AS VARCHAR), CAST((SELECT count(*) FROM " + w.name + ") AS VARCHAR)")
	w.must(both.err)
	if n := fmt.Sprint(len(a.rows)); fmt.Sprint(both.rows[0][0]) != n || fmt.Sprint(both.rows[0][1]) != n {
		w.t.Fatalf("%s rows are read, %v wanted\n%s", n, both.rows[0], w.story())
	}
	layout, err := w.catalog.Survey(context.Background(), w.load(w.name), catalog.Filter{})
	w.must(err)
	w.total, w.deletes = layout.Counts.Files, map[string]string{}
	w.must(layout.Files(context.Background(), func(f catalog.DataFile) error {
		w.deletes[f.Ref.Path] = deletesOf(layout, f)
		return nil
	}))
}

// deletesOf names the delete files that apply to a data file.
func deletesOf(l *catalog.TableLayout, f catalog.DataFile) string {
	var names []string
	for _, at := range f.Deletes {
		d := l.Deletes[at]
		names = append(names, fmt.Sprint(d.Ref.Path, d.Offset))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// matching returns the files that have rows for a predicate.
func (w *pruneWorld) matching(where string) (map[string]bool, error) {
	a := w.judge("SELECT DISTINCT CAST(tarn_file AS VARCHAR) FROM placed WHERE " + systemCall.Replace(where))
	files := map[string]bool{}
	for _, row := range a.rows {
		i, err := strconv.Atoi(fmt.Sprint(row[0]))
		w.must(err)
		files[w.files[i]] = true
	}
	return files, a.err
}

var systemCall = strings.NewReplacer("system.", "tarn_", "#", "")

// planner binds statements as the engine does.
type planner struct {
	lab        *lab
	db         *duck.DB
	optimizers []string
}

func newPlanner(l *lab) *planner {
	db, err := duck.Open(l.t.Context(), duck.Options{Threads: 1})
	l.must(err)
	l.t.Cleanup(func() { l.must(db.Close()) })
	all := l.judge("SELECT string_agg(name, ',') FROM duckdb_optimizers()")
	l.must(all.err)
	return &planner{lab: l, db: db, optimizers: strings.Split(fmt.Sprint(all.rows[0][0]), ",")}
}

// Resolve implements bind.Resolver.
func (p *planner) Resolve(ctx context.Context, parts []string, v catalog.Version) (*catalog.Table, error) {
	return p.lab.catalog.LoadTable(ctx, parts, v)
}

// ResolvePath implements bind.Resolver.
func (p *planner) ResolvePath(_ context.Context, path string, _ catalog.Version) (*catalog.Table, error) {
	return nil, errs.New(errs.NotFound, "load table", path, "no table has a path here")
}

// filters returns what binding makes of predicates: the filters of one scan each. Most are bound as the conditions of one
// join, which takes a fifth of the time. Those that hold for NULL aren't pushed below joins, and so some stand alone.
func (p *planner) filters(table string, batch []asked, isAlone bool) ([]catalog.Filter, *catalog.Table, error) {
	conn, err := p.db.Connect()
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	if err := conn.Avoid(context.Background(), p.optimizers); err != nil { // a statement that isn't run needs none
		return nil, nil, err
	}
	var from, where, alone []string
	for i, a := range batch {
		alias := fmt.Sprintf("t%d", i)
		from, where = append(from, table+" "+alias), append(where, "("+strings.ReplaceAll(a.where, "#", alias+".")+")")
		alone = append(alone, "SELECT rid FROM "+table+" WHERE "+strings.ReplaceAll(a.where, "#", ""))
	}
	text := "SELECT t0.rid FROM " + strings.Join(from, ", ") + " WHERE " + strings.Join(where, " AND ")
	if isAlone {
		text = strings.Join(alone, " UNION ALL ")
	}
	parsed, err := sql.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	q, err := bind.Bind(context.Background(), stub.Engine{Conn: conn, Moment: &stub.Moment{}}, p, parsed.(sql.Query))
	if err != nil {
		return nil, nil, err
	}
	filters := make([]catalog.Filter, len(q.Scans))
	for i, s := range q.Scans {
		filters[i] = s.Filter
	}
	if len(filters) != len(batch) {
		return nil, nil, fmt.Errorf("%d scans for %d predicates", len(filters), len(batch))
	}
	return filters, q.Scans[0].Table, nil
}

// ask plans a batch of predicates and checks what is kept.
func (w *pruneWorld) ask(p *planner, batch []asked, isAlone bool, sum *pruning) error {
	filters, table, refused := p.filters(w.name, batch, isAlone)
	if refused != nil && len(batch) > 1 { // one of them is
		for i := range batch {
			if err := w.ask(p, batch[i:i+1], isAlone, sum); err != nil {
				return err
			}
		}
		return nil
	}
	if refused != nil { // DuckDB's own binder sees the error that no row would have met
		sum.refused++
		return nil //nolint:nilerr // The refusal is what was to be counted.
	}
	for i, a := range batch {
		if err := w.check(table, filters[i], a, sum); err != nil {
			return fmt.Errorf("WHERE %s\nfilter %+v: %w", a.where, filters[i], err)
		}
	}
	return nil
}

func (w *pruneWorld) check(table *catalog.Table, f catalog.Filter, a asked, sum *pruning) error {
	layout, err := w.catalog.Survey(context.Background(), table, f)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	var rows, bytes int64
	err = layout.Files(context.Background(), func(f catalog.DataFile) error {
		kept[f.Ref.Path] = true
		rows, bytes = rows+f.Rows, bytes+f.Ref.Bytes
		if got := deletesOf(layout, f); got != w.deletes[f.Ref.Path] {
			return fmt.Errorf("the deletes of %s are %q, without a filter %q", f.Ref.Path, got, w.deletes[f.Ref.Path])
		}
		return nil
	})
	if err != nil {
		return err
	}
	for path := range a.files {
		if !kept[path] {
			return fmt.Errorf("%s is left out and has a row: %v", path, w.rowOf(path, a.where))
		}
	}
	c := layout.Counts
	byManifest := c.FilesPruned - c.PrunedByPartition - c.PrunedByBounds
	grouped := 0
	for _, g := range layout.Groups {
		grouped += g.Files
	}
	if c.Files != w.total || c.Files-c.FilesPruned != len(kept) || byManifest < 0 || c.Rows != rows || c.Bytes != bytes || grouped != len(kept) ||
		byManifest > 0 && c.ManifestsPruned == 0 || c.ManifestsPruned > c.Manifests {
		return fmt.Errorf("%+v of %d files, with %d kept of %d rows and %d bytes in groups of %d files", c, w.total, len(kept), rows, bytes, grouped)
	}
	sum.files += c.Files
	sum.matching += len(a.files)
	sum.byManifest, sum.byPartition, sum.byBounds = sum.byManifest+byManifest, sum.byPartition+c.PrunedByPartition, sum.byBounds+c.PrunedByBounds
	return nil
}

// rowOf returns a row of a file that satisfies a predicate.
func (w *pruneWorld) rowOf(path, where string) any {
	at := slices.Index(w.files, path)
	a := w.judge(fmt.Sprintf("SELECT * FROM placed WHERE tarn_file = %d AND (%s) LIMIT 1", at, systemCall.Replace(where)))
	return a.rows
}
