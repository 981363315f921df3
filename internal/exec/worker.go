package exec

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// worker runs packs of one core, one at a time, on a DuckDB instance of its own: of one thread when there are others, as many
// instances as cores measured faster than one instance with as many threads, and a pack's memory is bounded by its worker's
// share.
type worker struct {
	core    *task.Core
	opts    Options
	deletes *deleteStore
	memory  int64 // its share; 0: no limit
	db      *duck.DB
	conn    *duck.Conn
	ready   bool          // the tables that each pack reads whole are there
	viewed  bool          // packs run through views, since one could not be planned without
	short   *atomic.Int64 // the duck.ShortWidth that packs group texts by: of all workers of the core, until one meets a longer text
	end     func()        // when no pack will run any more
}

func (c *coreRun) openWorker(ctx context.Context, threads int, memory int64) (*worker, error) {
	db, conn, err := openInstance(ctx, duck.Options{Threads: threads, MemoryBytes: memory, TempDir: c.opts.TempDir}, c.graph)
	if err != nil {
		return nil, err
	}
	c.instances.add(db)
	return &worker{core: c.core, opts: c.opts, deletes: c.deletes, memory: memory, db: db, conn: conn, short: &c.short, end: func() {}}, nil
}

// openInstance opens an instance, ready for the texts of a graph, and a connection to it.
func openInstance(ctx context.Context, o duck.Options, g *task.Graph) (*duck.DB, *duck.Conn, error) {
	db, err := duck.Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	conn, err := db.Connect()
	if err == nil {
		if err = prime(ctx, conn, g); err == nil {
			return db, conn, nil
		}
		conn.Close()
	}
	return nil, nil, errors.Join(err, db.Close())
}

// prime gives the instance of conn what the texts of a graph ask for.
func prime(ctx context.Context, conn *duck.Conn, g *task.Graph) error {
	for _, types := range g.FirstRows {
		if _, err := conn.FirstRow(types); err != nil {
			return err
		}
	}
	return conn.Avoid(ctx, g.Avoid)
}

func (w *worker) close() {
	w.end()
	w.conn.Close()
	_ = w.db.Close()
}

// attempt is one way to run a pack.
type attempt struct {
	*task.Pack
	exchange *exchange
	checks   [][]duck.ScanCheck // per table
	sieves   []sieve            // per table
	whole    task.Part          // of the pack, before it was halved
	short    duck.ShortWidth    // unless NoShort by the core's text over short texts
}

// runQuery runs a pack's query.
type runQuery func(text string, args ...any) error

// run has do run the query of one pack over its files and the routed rows that it reads, and returns in how many parts it was. given is
// as in attempt.
func (w *worker) run(ctx context.Context, p *task.Pack, x *exchange, do runQuery, given *int64) (parts int, err error) {
	checks, release, err := w.checks(p)
	if err != nil {
		return 0, err
	}
	defer release()
	defer w.deletes.releasePack(w.core, p)
	if err := w.prepare(ctx); err != nil {
		return 0, err
	}
	sieves, forget, err := w.sieves(ctx, p, checks)
	defer forget()
	if err != nil {
		return 0, err
	}
	parts = 1
	a := attempt{p, x, checks, sieves, p.Part, duck.ShortWidth(w.short.Load())}
	err = w.attempt(ctx, a, do, given, &parts)
	return parts, blame(ctx, w.conn, slices.Concat(p.Inputs...), misspelled(err))
}

func (w *worker) try(ctx context.Context, a attempt, do runQuery) (err error) {
	if !w.viewed {
		err = w.inlined(ctx, a, do)
		w.viewed = isUnplanned(err) && !duck.IsTooLong(err)
	}
	if w.viewed {
		err = w.throughViews(ctx, a, do)
	}
	return err
}

// sql is the core's text.
func (w *worker) sql(a attempt) string {
	if a.short != duck.NoShort {
		return w.core.Short
	}
	return w.core.SQL
}

// inlined runs a pack as one statement, in which WITH entries stand for views. DuckDB binds a view when it is made and again
// where it is read, which over the files of a small pack is a large part of the work.
func (w *worker) inlined(ctx context.Context, a attempt, do runQuery) error {
	views, release, err := w.packViews(ctx, a, true)
	defer release()
	if err != nil {
		return err
	}
	text := "SELECT * FROM (" + w.sql(a) + ")"
	if len(views) > 0 {
		with := make([]string, len(views))
		for i, v := range views {
			with[i] = v.Name + " AS NOT MATERIALIZED (" + v.SQL + ")"
		}
		text = "WITH " + strings.Join(with, ", ") + " " + text
	}
	var args []any
	if slices.ContainsFunc(a.Inputs, func(files []task.File) bool { return len(files) > 0 }) {
		args = duck.LateArgs
	}
	return do(text, args...)
}

// isUnplanned says whether nothing of a statement ran since DuckDB could not plan it, which it may another text for the same:
// it can't decorrelate some subqueries over outer joins of WITH entries, which it can over views. A text that isn't SQL is a bug.
func isUnplanned(err error) bool {
	var unplanned duck.Unplanned
	kind := errs.KindOf(err)
	return errors.As(err, &unplanned) && kind != errs.Canceled && kind != errs.Syntax
}

// misspelled makes a syntax error Internal: a statement's own are found when it is parsed, and packs run texts of ours.
func misspelled(err error) error {
	if errs.KindOf(err) != errs.Syntax {
		return err
	}
	return errs.New(errs.Internal, "run pack", "its statement", "%v", err)
}

// throughViews runs a pack over views.
func (w *worker) throughViews(ctx context.Context, a attempt, do runQuery) error {
	views, release, err := w.packViews(ctx, a, false)
	defer release()
	if err != nil {
		return err
	}
	for _, v := range views {
		if err := makeView(ctx, w.conn, v.Name, v.SQL); err != nil {
			return err
		}
	}
	return do(w.sql(a))
}

// packViews returns what the core's SQL reads in a pack, but for the tables that each pack reads whole. Release is to be
// called when no statement reads it any more.
func (w *worker) packViews(ctx context.Context, a attempt, late bool) (views []task.View, release func(), err error) {
	var releases []func()
	release = func() {
		for _, r := range releases {
			r()
		}
	}
	for t := range w.core.Tables {
		if t := &w.core.Tables[t]; isEverywhere(t) {
			if len(t.Short) > 0 {
				views = append(views, task.View{Name: t.View, SQL: withShort(t, "SELECT * FROM "+everywhereName(t), a.short)})
			}
			continue
		}
		rows, done, err := w.packRows(ctx, a, t, late)
		releases = append(releases, done)
		if err != nil {
			return nil, release, err
		}
		views = append(views, task.View{Name: w.core.Tables[t].View, SQL: rows})
	}
	return append(views, w.core.Views...), release, nil
}

// packRows returns the SQL of a table's rows in a pack.
func (w *worker) packRows(ctx context.Context, a attempt, table int, late bool) (text string, release func(), err error) {
	t, files := &w.core.Tables[table], a.Inputs[table]
	routed, forget := a.exchange.read(a.Pack, table)
	scan, done, err := w.deletes.lentScan(ctx, w.db, w.conn, &t.Input, files)
	release = func() { forget(); done() }
	if err != nil {
		return "", release, err
	}
	scan.Checks, scan.Late = a.checks[table], late
	a.sieves[table].addTo(&scan, &t.Input, files)
	if text, err = duck.ScanSQL(scan); err != nil {
		return "", release, err
	}
	switch {
	case routed != "" && len(files) == 0:
		text = routed
	case routed != "":
		text += " UNION ALL " + routed
	}
	if a.Part.Of > 1 {
		text, err = duck.PartSQL(text, append(keyColumns(t), alsoColumns(t)...), a.Part.Index, a.Part.Of)
	}
	return withShort(t, text, a.short), release, err
}

// withShort adds a table's short columns to its rows.
func withShort(t *task.Table, rows string, width duck.ShortWidth) string {
	if len(t.Short) == 0 || width == duck.NoShort {
		return rows
	}
	text := "SELECT *"
	for _, s := range t.Short {
		for _, c := range viewColumns(&t.Input) {
			if c.Field.ID == s.Field {
				text += ", " + duck.ShortSQL(quote.Name(c.As), width) + " AS " + s.As
			}
		}
	}
	return text + " FROM (" + rows + ")"
}

// keyColumns returns the columns of a table's view that carry the keys.
func keyColumns(t *task.Table) []duck.ScanColumn {
	var out []duck.ScanColumn
	for _, s := range t.Sources {
		out = append(out, columnOf(&t.Input, s.Field))
	}
	return out
}

// alsoColumns returns the further columns that parts of a group are told by.
func alsoColumns(t *task.Table) []duck.ScanColumn {
	var out []duck.ScanColumn
	for _, id := range t.Also {
		out = append(out, columnOf(&t.Input, id))
	}
	return out
}

// prepare makes what is the same for all packs, once.
func (w *worker) prepare(ctx context.Context) error {
	if w.ready {
		return nil
	}
	w.ready = true
	return w.loadEverywhere(ctx)
}

// checks registers, per table, the checks that each row lies in the group that its file is filed under.
func (w *worker) checks(p *task.Pack) (checks [][]duck.ScanCheck, release func(), err error) {
	var releases []func()
	release = func() {
		for _, r := range releases {
			r()
		}
	}
	checks = make([][]duck.ScanCheck, len(w.core.Tables))
	if w.opts.SkipKeyCheck {
		return checks, release, nil
	}
	for t := range w.core.Tables {
		for key := range w.core.Keys {
			if len(p.Inputs[t]) == 0 || isEverywhere(&w.core.Tables[t]) {
				continue
			}
			values, err := w.filedUnder(p, t, key)
			if err != nil {
				release()
				return nil, nil, err
			}
			in, source := &w.core.Tables[t].Input, w.core.Tables[t].Sources[key]
			id, done, err := w.db.RegisterKeyCheck(keyCheck(in, source, p.Inputs[t], values))
			if err != nil {
				release()
				return nil, nil, err
			}
			releases = append(releases, done)
			checks[t] = append(checks[t], duck.ScanCheck{Field: w.core.Tables[t].Sources[key].Field, Check: id})
		}
	}
	return checks, release, nil
}

// filedUnder returns the values of a key in the groups that a table's files in a pack are filed under.
func (w *worker) filedUnder(p *task.Pack, table, key int) ([]transform.Value, error) {
	src := w.core.Tables[table].Sources[key]
	result := src.Transform.ResultType(src.Type)
	out := make([]transform.Value, len(p.Inputs[table]))
	for i, f := range p.Inputs[table] {
		v, err := w.core.Value(f.Group, key)
		if err != nil {
			return nil, err
		}
		out[i] = narrow(v, result)
	}
	return out, nil
}

// keyCheck returns the check that the rows of each file have a value of a source's transform.
func keyCheck(in *task.Input, src task.Source, files []task.File, values []transform.Value) duck.KeyCheck {
	check := duck.KeyCheck{
		Column: in.Name + "." + catalog.ShownName(columnOf(in, src.Field).Field.Name), Type: src.Type, Transform: src.Transform, Expected: values,
	}
	for _, f := range files {
		check.Files = append(check.Files, f.Ref.Path)
	}
	return check
}

// narrow converts a group's value to the table's own type of it: groups write integers as long.
func narrow(v transform.Value, t transform.Type) transform.Value {
	if n, ok := v.(int64); ok && (t.Kind == transform.Int || t.Kind == transform.Date) {
		return int32(n)
	}
	return v
}
