package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/plantest"
	"github.com/tarndb/tarn/internal/task"
)

// lab has tables with real files, bucketed by their first column, whose type is bigint.
type lab struct {
	*plantest.Planner
	t     testing.TB
	db    *duck.DB
	conn  *duck.Conn
	dir   string
	files int
}

func newLab(t testing.TB) *lab {
	t.Helper()
	db, err := duck.Open(t.Context(), duck.Options{Threads: 1, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &lab{Planner: plantest.New(t, ""), t: t, db: db, conn: conn, dir: t.TempDir()}
}

// table makes a table of the columns and fills it with the rows of sql, one file for each bucket that has some. bytes, if
// not 0, is what each file pretends to have.
func (l *lab) table(name, columns string, buckets int, sql string, bytes int64) {
	l.t.Helper()
	key := strings.Fields(columns)[0]
	l.add(fmt.Sprintf("create table %s (%s) partitioned by (bucket(%d, %s))\n", name, columns, buckets, key))
	for b := -1; b < buckets; b++ {
		where, tuple := fmt.Sprintf("tarn_bucket(%d, %s) = %d", buckets, key, b), fmt.Sprint(b)
		if b < 0 {
			where, tuple = key+" IS NULL", "null"
		}
		l.file(name, tuple, "SELECT * FROM ("+sql+") WHERE "+where, bytes)
	}
}

func (l *lab) add(text string) {
	l.t.Helper()
	if err := l.Catalog.Add(text); err != nil {
		l.t.Fatal(err)
	}
}

// file writes the rows of sql as a file of the tuple, unless there are none.
func (l *lab) file(name, tuple, sql string, bytes int64) {
	l.t.Helper()
	table, err := l.Catalog.LoadTable(l.t.Context(), catalog.Ident(strings.Split(name, ".")), catalog.Version{})
	if err != nil {
		l.t.Fatal(err)
	}
	l.files++
	path := filepath.Join(l.dir, fmt.Sprintf("%04d.parquet", l.files))
	written, err := l.conn.CopyParquet(l.t.Context(), sql, table.Schema.Fields, path, duck.CopyOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	if written[0].Rows == 0 {
		return
	}
	if bytes == 0 {
		bytes = written[0].Bytes
	}
	l.add(fmt.Sprintf("files %s\n  (%s) rows=%d bytes=%d local='%s'\n", name, tuple, written[0].Rows, bytes, path))
}

// graph plans a query and sends the graph on a journey, as if it were run elsewhere.
func (l *lab) graph(query string, mode spj.Mode, packing task.Options) *task.Graph {
	l.t.Helper()
	g := l.MustPlan(l.t, query, plantest.Options{SPJ: mode, Task: packing}).Graph
	data, err := g.Encode()
	if err != nil {
		l.t.Fatal(err)
	}
	g, err = task.Decode(data)
	if err != nil {
		l.t.Fatal(err)
	}
	return g
}

// run runs a graph to its end and returns its rows as text, sorted unless inOrder.
func run1(ctx context.Context, g *task.Graph, opts Options, inOrder bool) ([]string, Stats, error) {
	s, err := Run(ctx, g, opts)
	if err != nil {
		return nil, Stats{}, err
	}
	defer s.Close()
	rows, err := drain(ctx, s)
	if !inOrder {
		slices.Sort(rows)
	}
	return rows, s.Stats(), err
}

func drain(ctx context.Context, s *Stream) ([]string, error) {
	var rows []string
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		for i := range int(b.NumRows()) {
			values := make([]string, b.NumCols())
			for j := range values {
				values[j] = b.Column(j).ValueStr(i)
			}
			rows = append(rows, strings.Clone(strings.Join(values, "|")))
		}
		b.Release()
	}
}

// mustRun is run1 for graphs that must run; it checks that nothing is left in the temporary folder.
func (l *lab) mustRun(g *task.Graph, opts Options, inOrder bool) ([]string, Stats) {
	l.t.Helper()
	opts.TempDir = l.t.TempDir()
	rows, stats, err := run1(l.t.Context(), g, opts, inOrder)
	if err != nil {
		l.t.Fatal(err)
	}
	wantEmpty(l.t, opts.TempDir)
	if stats.Rows != int64(len(rows)) {
		l.t.Errorf("the stream counts %d rows and gave %d", stats.Rows, len(rows))
	}
	return rows, stats
}

func wantEmpty(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s is left in the temporary folder", e.Name())
	}
}

func wantError(t testing.TB, err error, kind errs.Kind, part string) {
	t.Helper()
	if err == nil || errs.KindOf(err) != kind || !strings.Contains(err.Error(), part) {
		t.Errorf("got %v (%v), want %v with %q", err, errs.KindOf(err), kind, part)
	}
}
