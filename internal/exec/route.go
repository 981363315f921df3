package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// unit is a piece of the routing: files of one table that are read by one statement, or a range of rows of one file.
type unit struct {
	table    int
	files    []task.File
	bytes    int64
	from, to int64 // rows, by their positions; to is 0 for all
}

const (
	// unitsPerWorker is how many units each worker should get at least, so that none idles while another reads the last one.
	unitsPerWorker = 4
	// smallestUnit is the number of bytes of data files below which a statement of its own isn't worth its 3 ms of CPU.
	smallestUnit = 4 << 20
)

// unitsOf divides the files whose rows are routed: by table, of each the largest units first. Without bins no row matters, as
// in a join with an empty table.
func unitsOf(c *task.Core, workers int) []unit {
	if c.Bins == 0 {
		return nil
	}
	var all int64
	for t := range c.Tables {
		all += task.BytesOf(c.Tables[t].Routed)
	}
	enough := max(all/int64(unitsPerWorker*max(workers, 1)), smallestUnit)
	var out []unit
	for t := range c.Tables {
		var own []unit
		for _, f := range c.Tables[t].Routed {
			if f.Ref.Bytes > enough {
				own = append(own, rangesOf(t, f, enough)...)
			} else if last := len(own) - 1; last >= 0 && own[last].to == 0 && own[last].bytes+f.Ref.Bytes <= enough {
				own[last].files = append(own[last].files, f)
				own[last].bytes += f.Ref.Bytes
			} else {
				own = append(own, unit{table: t, files: []task.File{f}, bytes: f.Ref.Bytes})
			}
		}
		slices.SortStableFunc(own, func(a, b unit) int { return cmp.Compare(b.bytes, a.bytes) })
		out = append(out, own...)
	}
	return out
}

// rangesOf divides a large file by the rows that its manifest entry says it has. The last range has no end: should there be
// more, none is lost.
func rangesOf(table int, f task.File, enough int64) []unit {
	n := min((f.Ref.Bytes+enough-1)/enough, max(f.Rows, 1))
	out := make([]unit, n)
	for i := range n {
		out[i] = unit{table: table, files: []task.File{f}, bytes: f.Ref.Bytes / n, from: f.Rows / n * i, to: f.Rows / n * (i + 1)}
	}
	if n == 1 {
		out[0].to = 0
	} else {
		out[n-1].to = math.MaxInt64
	}
	return out
}

// exchange is a core's routed rows, in files of its own folder.
type exchange struct {
	core   *task.Core
	dir    string
	bins   *duck.Bins
	spills []*duck.Spill // per table; nil for those of which no row is routed
	stats  []RouteStats  // likewise

	mu      sync.Mutex
	readers []int // per bin, the packs that still need it
}

// openExchange makes an exchange without rows.
func openExchange(conn *duck.Conn, c *task.Core, core int, tempDir string) (_ *exchange, err error) {
	if c.Bins < 1 {
		return nil, errs.New(errs.Internal, "route rows", c.Name, "there are %d bins", c.Bins)
	}
	x := &exchange{core: c, bins: duck.NewBins(c.Bins, len(c.Keys)), spills: make([]*duck.Spill, len(c.Tables)),
		stats: make([]RouteStats, len(c.Tables)), readers: make([]int, c.Bins)}
	if x.dir, err = os.MkdirTemp(tempDir, "tarn-routed-"); err != nil {
		e := &errs.Error{Kind: errs.Resource, Op: "make temporary folder in", Object: tempDir, Err: err}
		return nil, e.WithHint("set the folder for temporary files to one that can be written")
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.close())
		}
	}()
	if err := x.putGroups(); err != nil {
		return nil, err
	}
	for t := range c.Tables {
		x.stats[t] = RouteStats{Core: core, Table: t}
		if len(c.Tables[t].Routed) == 0 {
			continue
		}
		prefix := filepath.Join(x.dir, fmt.Sprintf("table%d-bin", t))
		if x.spills[t], err = conn.NewSpill(prefix, viewColumns(&c.Tables[t].Input), c.Bins); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// putGroups sends each group to the bin that its packs read.
func (x *exchange) putGroups() error {
	for p := range x.core.Packs {
		pack := &x.core.Packs[p]
		if pack.Bin < 0 || pack.Bin >= x.core.Bins {
			return errs.New(errs.Internal, "route rows", x.core.Name, "pack %d reads bin %d of %d", p, pack.Bin, x.core.Bins)
		}
		x.readers[pack.Bin]++
		for _, g := range pack.Groups {
			values := make([]transform.Value, len(x.core.Keys))
			for k := range values {
				v, err := x.core.Value(g, k)
				if err != nil {
					return err
				}
				values[k] = v
			}
			x.bins.Put(values, pack.Bin)
		}
	}
	return nil
}

// router returns a router of a table's rows.
func (x *exchange) router(table int) (*duck.Router, error) {
	t := &x.core.Tables[table]
	keys := make([]duck.RouteKey, len(t.Sources))
	for k, s := range t.Sources {
		at := slices.IndexFunc(t.Fields, func(f catalog.Field) bool { return f.ID == s.Field })
		if at < 0 {
			return nil, errs.New(errs.Internal, "route rows", t.Name, "the column of %s isn't read", x.core.Keys[k].Text)
		}
		keys[k] = duck.RouteKey{Column: at, Transform: s.Transform}
	}
	return x.bins.Router(keys, t.Strays)
}

// settle is called when all rows are routed. Rows in a bin that no pack reads would be lost.
func (x *exchange) settle() error {
	for t, s := range x.spills {
		if s == nil {
			continue
		}
		for bin, packs := range x.readers {
			if packs == 0 && s.Rows(bin) > 0 {
				return errs.New(errs.Internal, "route rows", x.core.Tables[t].Name, "no pack reads bin %d, which has %d rows", bin, s.Rows(bin))
			}
		}
		x.stats[t].Bytes = s.Bytes()
	}
	return nil
}

// add counts what a unit came to.
func (x *exchange) add(table int, rows, dropped int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stats[table].Rows += rows
	x.stats[table].Dropped += dropped
}

// routes returns the stats of the tables that have routed rows.
func (x *exchange) routes() []RouteStats {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []RouteStats
	for t, s := range x.spills {
		if s != nil {
			out = append(out, x.stats[t])
		}
	}
	return out
}

// read returns the SELECT of the routed rows of a table that a pack reads; "" for none. A nil exchange has none.
func (x *exchange) read(p *task.Pack, table int) (sql string, release func()) {
	if x == nil || x.spills[table] == nil || x.spills[table].Rows(p.Bin) == 0 {
		return "", func() {}
	}
	if p.Slice != nil && p.Slice.Table == table && p.Slice.Index > 0 {
		return "", func() {}
	}
	return x.spills[table].Read(p.Bin)
}

// done says that a pack has run. After the last one of a bin its files are removed.
func (x *exchange) done(p *task.Pack) error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.readers[p.Bin]--; x.readers[p.Bin] > 0 {
		return nil
	}
	var err error
	for _, s := range x.spills {
		if s != nil {
			err = errors.Join(err, s.Drop(p.Bin))
		}
	}
	return err
}

// close removes what is left.
func (x *exchange) close() error {
	var err error
	for _, s := range x.spills {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return errors.Join(err, errs.Wrap(errs.Resource, "remove temporary folder", x.dir, os.RemoveAll(x.dir)))
}

// route routes the rows of units, one after another, until there are no more.
func (w *worker) route(ctx context.Context, x *exchange, units []unit, next *atomic.Int64) error {
	out := &routing{table: -1}
	defer out.close()
	for {
		i := int(next.Add(1)) - 1
		if i >= len(units) {
			return out.flush()
		}
		if units[i].table != out.table {
			if err := out.flush(); err != nil {
				return err
			}
			out.close()
			if err := out.open(x, units[i].table); err != nil {
				return err
			}
		}
		rows, dropped, err := w.routeUnit(ctx, &units[i], out)
		if err != nil {
			return err
		}
		x.add(units[i].table, rows, dropped)
	}
}

// routing is where a worker's rows of one table go.
type routing struct {
	table  int // -1: nowhere yet
	router *duck.Router
	writer *duck.SpillWriter
}

func (o *routing) open(x *exchange, table int) (err error) {
	o.table, o.writer = table, x.spills[table].Writer(holdBytes)
	o.router, err = x.router(table)
	return err
}

func (o *routing) flush() error {
	if o.writer == nil {
		return nil
	}
	return o.writer.Flush()
}

func (o *routing) close() {
	if o.writer != nil {
		o.writer.Close()
	}
}

// routeUnit routes the rows of a unit's files that aren't deleted and that satisfy the table's conditions.
func (w *worker) routeUnit(ctx context.Context, u *unit, out *routing) (rows, dropped int64, err error) {
	in := &w.core.Tables[u.table].Input
	scan, release, err := w.deletes.scan(ctx, w.db, w.conn, in, u.files)
	defer release()
	if err != nil {
		return 0, 0, err
	}
	scan.From, scan.To, scan.Filter = u.from, u.to, conditionOf(in)
	text, err := duck.ScanSQL(scan)
	if err != nil {
		return 0, 0, err
	}
	err = w.conn.Stream(ctx, text, func(ch *duck.Chunk) error {
		bins, err := out.router.Route(ch)
		if err != nil {
			ch.Close()
			return err
		}
		n := int64(ch.Rows())
		kept, err := out.writer.Add(ch, bins)
		rows, dropped = rows+n, dropped+n-int64(kept)
		return err
	})
	return rows, dropped, blame(ctx, w.conn, u.files, err)
}
