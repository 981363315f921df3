package lake

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"math/rand/v2"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/faultfs"
)

// faultyBackend is a SQLite file one of whose statements that change something loses its answer, before it is carried out or
// after.
type faultyBackend struct {
	*sqliteFile
	armed, after bool
}

func (f *faultyBackend) connect(ctx context.Context, write bool) (*sql.DB, error) {
	if !write {
		return f.sqliteFile.connect(ctx, false)
	}
	dsn, err := f.dsn("rw")
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(faultyConnector{sqliteConnector{dsn: dsn}, f}), nil
}

type faultyConnector struct {
	sqliteConnector
	backend *faultyBackend
}

func (c faultyConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.sqliteConnector.Connect(ctx)
	return faultyConn{conn, c.backend}, err
}

type faultyConn struct {
	driver.Conn
	backend *faultyBackend
}

func (c faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	own := c.Conn.(driver.ExecerContext)
	if !c.backend.armed {
		return own.ExecContext(ctx, query, args)
	}
	c.backend.armed = false
	if c.backend.after {
		if _, err := own.ExecContext(ctx, query, args); err != nil {
			return nil, err
		}
	}
	return nil, faultfs.ErrInjected
}

// TestLostAnswersOfTheDatabase: an update that was carried out is found, and one that isn't found may be carried out yet.
func TestLostAnswersOfTheDatabase(t *testing.T) {
	for _, after := range []bool{false, true} {
		c := newLake(t, "sql", t.TempDir())
		table := newTestTable(t, c)
		store := c.store.(*sqlStore)
		if err := store.close(); err != nil {
			t.Fatal(err)
		}
		faulty := &faultyBackend{sqliteFile: store.back.(*sqliteFile), after: after}
		store.back = faulty
		files := writeFiles(t, c, table, testRows(rand.New(rand.NewPCG(1, 1)), 10))
		want := errs.CommitUnknown
		if after {
			want = 0
		}
		faulty.armed = true
		_, err := c.Append(t.Context(), table, files)
		if errs.KindOf(err) != want || (err != nil) == after || faulty.armed {
			t.Errorf("after %v: append: %v", after, err)
		}
		if now := load(t, c, table.Ident); (now.Snapshot != nil) != after {
			t.Errorf("after %v: the table has %+v", after, now.Snapshot)
		}
		faulty.armed = true
		_, err = c.Update(t.Context(), table, "alter table", setting("a", "1"))
		if errs.KindOf(err) != want || (err != nil) == after || faulty.armed {
			t.Errorf("after %v: update: %v", after, err)
		}
		if now := load(t, c, table.Ident); (now.Properties["a"] == "1") != after {
			t.Errorf("after %v: the table has %+v", after, now.Properties)
		}
		if _, err := c.Append(t.Context(), table, files); err != nil {
			t.Error(err)
		}
		layout, err := c.Survey(t.Context(), load(t, c, table.Ident), catalog.Filter{})
		if err != nil || layout.Counts.Rows != map[bool]int64{false: 10, true: 20}[after] {
			t.Errorf("after %v: %+v, %v", after, layout, err)
		}
	}
}
