package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/task"
)

// run is one graph's execution.
type run struct {
	graph     *task.Graph
	opts      Options
	stream    *Stream
	units     [][]unit // of each core's routing
	final     *duck.DB // nil when the cores' rows stream out
	deletes   *deleteStore
	instances instances
	spill     string       // the file of spillDatabase; "" when there is none
	done      atomic.Int64 // packs
	total     int
}

// all runs the cores one after another, each over all workers, then the final step.
func (r *run) all(ctx context.Context) (err error) {
	jobs := 0
	for i := range r.graph.Cores {
		c := &r.graph.Cores[i]
		r.units = append(r.units, unitsOf(c, r.opts.workers()))
		r.total += len(c.Packs)
		jobs += len(c.Packs) + len(r.units[i])
	}
	r.deletes = newDeleteStore(r.graph, r.units)
	ctx, unwatch := WatchMemory(ctx, r.opts.MemoryBytes)
	defer func() { err = unwatch(err) }()
	share := r.opts.share(jobs, r.graph.Final != nil)
	if r.graph.Final != nil {
		var conn *duck.Conn
		o := duck.Options{Threads: r.opts.workers(), MemoryBytes: share.final, TempDir: r.opts.TempDir}
		if r.final, conn, err = openInstance(ctx, o, r.graph); err != nil {
			return err
		}
		conn.Close()
		r.instances.add(r.final)
		defer func() { err = errors.Join(err, r.final.Close(), r.removeSpill()) }()
	}
	for i := range r.graph.Cores {
		if err := r.core(ctx, i, share); err != nil {
			return err
		}
	}
	if r.graph.Final == nil {
		return nil
	}
	return r.step(FinalStep, 0, func() error { return r.finish(ctx) })
}

// core runs one core, and stops early when its limit is reached.
func (r *run) core(ctx context.Context, at int, share budget) error {
	sink, closeSink, err := r.sink(ctx, &r.graph.Cores[at])
	if err != nil {
		return err
	}
	c := &coreRun{run: r, at: at, core: &r.graph.Cores[at], share: share, sink: sink}
	if c.core.Short != "" {
		c.short.Store(int64(duck.ShortWord))
	}
	err = c.all(ctx)
	if isStop(err) {
		err = nil
	}
	if closed := closeSink(); err == nil {
		err = closed // after an error it would only say the same again
	}
	return err
}

// sink returns where a core's chunks go: out to the client, or into the core's table on the final instance. It may be
// called from several workers, and closes the chunks.
func (r *run) sink(ctx context.Context, c *task.Core) (put func(*duck.Chunk) error, done func() error, err error) {
	if r.final == nil {
		return r.sendTo(ctx), func() error { return nil }, nil
	}
	conn, err := r.final.Connect()
	if err != nil {
		return nil, nil, err
	}
	if err := r.createTable(ctx, conn, c); err != nil {
		conn.Close()
		return nil, nil, err
	}
	appender, err := conn.Appender(r.database(c), c.Name)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	var mu sync.Mutex
	put = func(ch *duck.Chunk) error {
		defer ch.Close()
		mu.Lock()
		defer mu.Unlock()
		return appender.Append(ch)
	}
	return put, func() error {
		err := appender.Close()
		conn.Close()
		return err
	}, nil
}

// createTable makes a core's table with the types that its query gives over no files.
func (r *run) createTable(ctx context.Context, conn *duck.Conn, c *task.Core) error {
	for t := range c.Tables {
		if _, err := r.deletes.makeView(ctx, r.final, conn, &c.Tables[t].Input, nil); err != nil {
			return err
		}
	}
	for _, v := range c.Views {
		if err := makeView(ctx, conn, v.Name, v.SQL); err != nil {
			return err
		}
	}
	stub := " AS SELECT * FROM (" + c.SQL + ") LIMIT 0"
	if r.database(c) == "" {
		return conn.Exec(ctx, "CREATE TABLE "+c.Name+stub)
	}
	err := conn.Exec(ctx, fmt.Sprintf("SET GLOBAL force_compression = 'uncompressed'; ATTACH IF NOT EXISTS %s AS %s (ROW_GROUP_SIZE %d)",
		quote.Text(r.spillFile()), spillDatabase, spillGroupRows))
	if err != nil {
		return err
	}
	if err := conn.Exec(ctx, "CREATE TABLE "+spillDatabase+"."+c.Name+stub); err != nil {
		return err
	}
	return makeView(ctx, conn, c.Name, "SELECT * FROM "+spillDatabase+"."+c.Name)
}

// spillDatabase is the attached database for cores that may give more rows than memory holds: DuckDB writes its blocks to
// the file as they come, where a table in memory would have to fit.
const spillDatabase = "tarn_spill"

// spillGroupRows are the rows of a row group in that file. DuckDB holds a whole one before it writes it, and what it
// holds besides to compress it isn't counted: with its default of 122,880 rows of 1 kB, 100 MiB and more.
const spillGroupRows = 16 << 10

// database returns where a core's table is made: in memory unless its rows may take a large part of the limit. Data files
// are compressed, so that an eighth of it in files may be all of it in memory.
func (r *run) database(c *task.Core) string {
	var bytes int64
	for _, p := range c.Packs {
		bytes += p.Bytes
	}
	if c.Grows && r.opts.MemoryBytes > 0 && bytes > r.opts.MemoryBytes/8 {
		return spillDatabase
	}
	return ""
}

// spillFile is the attached database's file, which is removed with the final step's instance.
func (r *run) spillFile() string {
	if r.spill == "" {
		r.spill = filepath.Join(cmp.Or(r.opts.TempDir, os.TempDir()), fmt.Sprintf("tarn-rows-%016x.duckdb", rand.Uint64()))
	}
	return r.spill
}

func (r *run) removeSpill() error {
	if r.spill == "" {
		return nil
	}
	wal := os.Remove(r.spill + ".wal")
	if err := os.Remove(r.spill); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !errors.Is(wal, os.ErrNotExist) {
		return wal
	}
	return nil
}

// finish runs the final step.
func (r *run) finish(ctx context.Context) error {
	f := r.graph.Final
	conn, err := r.final.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	all := r.opts.share(0, true).final
	if all > 0 { // the workers are gone
		if err := conn.Exec(ctx, fmt.Sprintf("SET memory_limit = '%dB'", all)); err != nil {
			return err
		}
	}
	var files []task.File
	for i := range f.Tables {
		t := &f.Tables[i]
		done, err := r.wholeView(ctx, conn, t)
		defer done()
		if err != nil {
			return err
		}
		files = append(files, t.Files...)
	}
	for _, v := range f.Views {
		if err := makeView(ctx, conn, v.Name, v.SQL); err != nil {
			return err
		}
	}
	if keep := r.opts.keeper(nil); keep != nil {
		_, err = keep(ctx, conn, all, f.SQL)
		return blame(ctx, conn, files, err)
	}
	err = r.give(nil, func(put func(*duck.Chunk) error) error { return r.streamFinal(ctx, conn, put) }, r.sendTo(ctx))
	return blame(ctx, conn, files, err)
}

// streamFinal runs the final step's query. What memory doesn't suffice for, before any row came out, is done again by one thread: each
// has a sort's blocks and parts of a hash table of its own.
func (r *run) streamFinal(ctx context.Context, conn *duck.Conn, put func(*duck.Chunk) error) error {
	given := false
	do := func() error {
		return conn.Stream(ctx, r.graph.Final.SQL, func(ch *duck.Chunk) error {
			given = true
			return put(ch)
		})
	}
	err := do()
	if errs.KindOf(err) != errs.Resource || given || ctx.Err() != nil || r.opts.workers() == 1 {
		return err
	}
	if err := conn.Exec(ctx, "SET threads = 1"); err != nil {
		return err
	}
	return do()
}

// wholeView makes the view of a table that the final step reads. Release is as in deleteStore.scan.
func (r *run) wholeView(ctx context.Context, conn *duck.Conn, t *task.Whole) (release func(), err error) {
	if t.Look {
		return r.look(ctx, conn, t)
	}
	return r.deletes.makeView(ctx, r.final, conn, &t.Input, t.Files)
}

// sendTo returns what sends chunks to the client, and closes them.
func (r *run) sendTo(ctx context.Context) func(*duck.Chunk) error {
	return func(ch *duck.Chunk) error {
		defer ch.Close()
		b, err := ch.Record()
		if err != nil {
			return err
		}
		return r.stream.send(ctx, b)
	}
}

// give calls do with where the chunks of a statement that gives the answer, of a pack or of the final step, go: to the sink if there is
// one, else to put.
func (r *run) give(p *task.Pack, do func(put func(*duck.Chunk) error) error, put func(*duck.Chunk) error) error {
	if r.opts.Sink == nil {
		return do(put)
	}
	w := r.opts.Sink.Writer(p)
	defer w.Close()
	err := do(func(ch *duck.Chunk) error {
		rows := int64(ch.Rows())
		if err := w.Add(ch); err != nil {
			return err
		}
		r.stream.gave(rows)
		return nil
	})
	if err != nil && !isStop(err) {
		return err
	}
	if flushed := w.Flush(); flushed != nil {
		return flushed
	}
	return err
}

// query runs a statement and calls use for each chunk, which it closes.
func query(ctx context.Context, conn *duck.Conn, sql string, use func(*duck.Chunk) error, args ...any) error {
	return conn.Stream(ctx, sql, func(ch *duck.Chunk) error {
		defer ch.Close()
		return use(ch)
	}, args...)
}
