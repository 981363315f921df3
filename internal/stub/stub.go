package stub

import (
	"context"
	"strings"
	"sync"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/bind"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
)

// Engine is a connection that binds one statement: its tables and views stay until the connection is closed.
type Engine struct {
	*duck.Conn
	Moment *Moment // of the statement
}

var _ bind.Engine = Engine{}

// StubTable makes an empty table of the columns.
func (e Engine) StubTable(ctx context.Context, name string, columns []catalog.Field) error {
	scan := duck.Scan{}
	for _, f := range columns {
		scan.Columns = append(scan.Columns, duck.ScanColumn{Field: f, As: f.Name})
	}
	text, err := duck.ScanSQL(scan)
	if err != nil {
		return err
	}
	return e.Exec(ctx, "CREATE TEMP TABLE "+name+" AS "+text)
}

// StubView makes a view.
func (e Engine) StubView(ctx context.Context, name, query string) error {
	return e.Exec(ctx, "CREATE OR REPLACE TEMP VIEW "+name+" AS "+query)
}

// Describe returns a query's columns.
func (e Engine) Describe(ctx context.Context, query string) ([]plan.Column, error) {
	columns, err := e.Conn.Describe(ctx, query)
	out := make([]plan.Column, len(columns))
	for i, c := range columns {
		out[i] = plan.Column(c)
	}
	return out, err
}

var aggregates struct {
	sync.Mutex
	names map[string]bool
}

// Aggregates returns DuckDB's aggregate functions, asked for once per process.
func (e Engine) Aggregates(ctx context.Context) (map[string]bool, error) {
	aggregates.Lock()
	defer aggregates.Unlock()
	if aggregates.names != nil {
		return aggregates.names, nil
	}
	list, err := e.Value(ctx, "SELECT string_agg(DISTINCT function_name, ',') FROM duckdb_functions() WHERE function_type = 'aggregate'")
	if err != nil {
		return nil, err
	}
	aggregates.names = map[string]bool{}
	for _, n := range strings.Split(list, ",") {
		aggregates.names[strings.ToLower(n)] = true
	}
	return aggregates.names, nil
}

// Value runs a query of one row and one column and returns it as text.
func (e Engine) Value(ctx context.Context, query string) (string, error) {
	res, err := e.Query(ctx, query)
	if err != nil {
		return "", err
	}
	defer res.Close()
	ch, err := res.Next(ctx)
	if err != nil {
		return "", errs.Wrap(errs.Internal, "read", "value", err)
	}
	defer ch.Close()
	rec, err := ch.Record()
	if err != nil {
		return "", err
	}
	defer rec.Release()
	return strings.Clone(rec.Column(0).ValueStr(0)), nil // the record's memory isn't Go's
}

// SystemFunction returns the engine's name of the function that a statement calls as system.NAME.
func (e Engine) SystemFunction(name string) (string, bool) { return duck.SystemFunction(name) }
