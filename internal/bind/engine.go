package bind

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
)

// Engine is what bind needs of the SQL engine: its parser, and its binder over empty stub tables.
type Engine interface {
	// SerializeSQL parses a query into its serialised tree. Errors are Syntax.
	SerializeSQL(ctx context.Context, text string) ([]byte, error)
	// DeserializeSQL writes a serialised tree as text.
	DeserializeSQL(ctx context.Context, ast []byte) (string, error)
	// StubTable makes an empty table of the columns. Errors are Unsupported, naming the column.
	StubTable(ctx context.Context, name string, columns []catalog.Field) error
	// StubView makes a view.
	StubView(ctx context.Context, name, query string) error
	// Describe returns a query's columns without running it.
	Describe(ctx context.Context, query string) ([]plan.Column, error)
	// UnfilteredList returns the select list in whose stead files, the SQL of Parquet files in a FROM clause, have a star that is
	// right under any filter; "" says that their own star is. It has the virtual columns besides that are mentioned. names is the SQL
	// of the files' names. Errors are Unsupported for a column in use whose moments would lose nanoseconds.
	UnfilteredList(ctx context.Context, files, names string, mentioned, isUsed func(name string) bool) (string, error)
	// ArrowSource returns the SQL of a FROM clause that reads the Arrow files of names, which are paths or patterns. Errors are
	// NotFound, naming the one that no file is there for.
	ArrowSource(ctx context.Context, names []string) (string, error)
	// SystemFunction returns the engine's name of the function that a statement calls as system.NAME.
	SystemFunction(name string) (string, bool)
	// Aggregates returns the names of all aggregate functions, in lower case.
	Aggregates(ctx context.Context) (map[string]bool, error)
	// FirstRow makes an aggregate of a HUGEINT and columns of the types, which gives the struct of the fields c0, c1 and so on of
	// the row with the least number, values as they are. The name is "" when there is none for the types.
	FirstRow(types []string) (name string, err error)
	// Value runs a query of one row and one column and returns it as text.
	Value(ctx context.Context, query string) (string, error)
	// Clock returns the value of a reading of the clock, one of ClockReadings, as text. All readings of a statement are of one moment,
	// however often parts of it are bound.
	Clock(ctx context.Context, name string) (string, error)
}

// Resolver finds tables.
type Resolver interface {
	// Resolve loads the table that a statement calls by these parts and pins a version of it. Errors are NotFound and others
	// of errs.
	Resolve(ctx context.Context, parts []string, v catalog.Version) (*catalog.Table, error)
	// ResolvePath loads a table by its metadata file or its folder and pins a version of it.
	ResolvePath(ctx context.Context, path string, v catalog.Version) (*catalog.Table, error)
}
