package duck

import (
	"cmp"
	"context"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// Conn is a connection: it runs one statement at a time, and serves one goroutine at a time. Starting a statement ends
// the result before it.
type Conn struct {
	db     *DB
	handle bindings.Connection
	arrow  bindings.ArrowOptions
}

// sessionSettings hold for each connection. Errors come as JSON, so that their kind and position needn't be guessed from
// prose. TIMESTAMPTZ must not depend on the host's zone.
const sessionSettings = `SET TimeZone = 'UTC'; SET errors_as_json = true`

// Connect opens a connection.
func (db *DB) Connect() (*Conn, error) {
	c := &Conn{db: db}
	if bindings.Connect(db.handle, &c.handle) == bindings.StateError {
		return nil, errs.New(errs.Internal, "connect to DuckDB", "", "no connection was given")
	}
	if err := c.Exec(context.Background(), sessionSettings); err != nil {
		c.Close()
		return nil, err
	}
	bindings.ConnectionGetArrowOptions(c.handle, &c.arrow)
	return c, nil
}

// Unplanned marks an error of a statement that DuckDB could not plan: nothing of it ran.
type Unplanned struct{ error }

func (u Unplanned) Unwrap() error { return u.error }

// Close ends the connection. Its result and its chunks must be closed before.
func (c *Conn) Close() {
	bindings.DestroyArrowOptions(&c.arrow)
	bindings.Disconnect(&c.handle)
}

// Exec runs the statements of sql, several parted by semicolons, and drops their results.
func (c *Conn) Exec(ctx context.Context, sql string) error {
	c.db.planning.RLock()
	err := c.run(ctx, sql)
	c.db.planning.RUnlock()
	// A statement that DuckDB could not plan has done nothing. Of several, some may have: those can't be prepared.
	if isFault(err) && c.runPrepared(ctx, sql) == nil {
		return nil
	}
	return err
}

// run is Exec as the settings are. The caller holds planning.
func (c *Conn) run(ctx context.Context, sql string) error {
	return c.finish(ctx, func(res *bindings.Result) bindings.State { return bindings.Query(c.handle, sql, res) })
}

// runPrepared is Exec of one statement.
func (c *Conn) runPrepared(ctx context.Context, sql string) error {
	stmt, err := c.prepare(ctx, sql)
	if err != nil {
		return err
	}
	defer bindings.DestroyPrepare(&stmt)
	pending, err := c.ready(ctx, stmt, bindings.PendingPrepared)
	if err != nil {
		return err
	}
	defer bindings.DestroyPending(&pending)
	return c.finish(ctx, func(res *bindings.Result) bindings.State { return bindings.ExecutePending(pending, res) })
}

// finish makes a call that gives a whole result, and drops that.
func (c *Conn) finish(ctx context.Context, call func(*bindings.Result) bindings.State) error {
	var res bindings.Result
	defer bindings.DestroyResult(&res)
	var state bindings.State
	if err := c.interruptible(ctx, func() { state = call(&res) }); err != nil {
		return err
	}
	if state == bindings.StateError {
		return faultOf(ctx, "run", bindings.ResultError(&res))
	}
	return nil
}

// Describe returns the columns that the statement sql gives, without running it.
func (c *Conn) Describe(ctx context.Context, sql string) ([]Column, error) {
	stmt, err := c.prepare(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer bindings.DestroyPrepare(&stmt)
	columns := make([]Column, bindings.PreparedStatementColumnCount(stmt))
	for i := range columns {
		t := bindings.PreparedStatementColumnLogicalType(stmt, bindings.IdxT(i))
		columns[i] = Column{Name: bindings.PreparedStatementColumnName(stmt, bindings.IdxT(i)), Type: typeName(t)}
		bindings.DestroyLogicalType(&t)
	}
	return columns, nil
}

// Query starts the statement sql and streams its result: no more than a few chunks are held at a time. A ? or $1 in sql
// stands for an argument; bindArg says which Go types those may be. The caller closes the result.
func (c *Conn) Query(ctx context.Context, sql string, args ...any) (*Result, error) {
	stmt, err := c.prepare(ctx, sql)
	if err != nil {
		return nil, Unplanned{err}
	}
	defer bindings.DestroyPrepare(&stmt)
	if err := bindArgs(stmt, args); err != nil {
		return nil, err
	}
	return c.start(ctx, sql, stmt)
}

func (c *Conn) start(ctx context.Context, sql string, stmt bindings.PreparedStatement) (*Result, error) {
	pending, err := c.ready(ctx, stmt, bindings.PendingPreparedStreaming)
	if err != nil {
		return nil, Unplanned{c.blame(ctx, sql, err)}
	}
	defer bindings.DestroyPending(&pending)
	var (
		state bindings.State
		res   Result
	)
	if err := c.interruptible(ctx, func() { state = bindings.ExecutePending(pending, &res.handle) }); err != nil {
		return nil, err
	}
	if state == bindings.StateError {
		msg := cmp.Or(bindings.ResultError(&res.handle), bindings.PendingError(pending))
		bindings.DestroyResult(&res.handle)
		return nil, c.blame(ctx, sql, faultOf(ctx, "run", msg))
	}
	return newResult(c, sql, res.handle)
}

// interruptInterval is how often a call that should stop is told so. DuckDB forgets an interrupt that comes just before
// a statement starts, so that once may not do.
const interruptInterval = 5 * time.Millisecond

// interruptible runs call, which blocks inside DuckDB, and interrupts it when ctx ends. It returns an error only when
// ctx had ended before; an interrupted call reports through its own state.
func (c *Conn) interruptible(ctx context.Context, call func()) error {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	returned, quiet := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(quiet)
		tick := time.NewTicker(interruptInterval)
		defer tick.Stop()
		for {
			bindings.Interrupt(c.handle)
			select {
			case <-returned:
				return
			case <-tick.C:
			}
		}
	})
	call()
	close(returned)
	if !stop() {
		<-quiet // the handle must not be interrupted once the caller may close it
	}
	return nil
}
