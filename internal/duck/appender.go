package duck

import (
	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// Appender adds chunks to a table. It serves one goroutine at a time, and holds its connection meanwhile.
type Appender struct {
	table   string
	handle  bindings.Appender
	pending int64 // bytes that were added since the last flush
}

// flushBytes is how much DuckDB's appender gathers before its rows go into the table. It doesn't count them against its
// memory limit, and by itself waits for 204,800 rows, however wide they are.
const flushBytes = 4 << 20

// Appender opens a table for appending: of the connection's default schema, or a temporary one, when database is "", else
// of that attached database's main schema.
func (c *Conn) Appender(database, table string) (*Appender, error) {
	a := &Appender{table: table}
	if bindings.AppenderCreateExt(c.handle, database, "", table, &a.handle) == bindings.StateError {
		err := a.fault("open for appending")
		bindings.AppenderDestroy(&a.handle)
		return nil, err
	}
	return a, nil
}

// Append adds the rows of a chunk, which may come from another instance and stays the caller's. Columns go by position,
// and their types must be the table's own.
func (a *Appender) Append(ch *Chunk) error {
	if bindings.AppendDataChunk(a.handle, ch.handle) == bindings.StateError {
		return a.fault("append")
	}
	if a.pending += ch.bytes(); a.pending < flushBytes {
		return nil
	}
	a.pending = 0
	if bindings.AppenderFlush(a.handle) == bindings.StateError {
		return a.fault("append")
	}
	return nil
}

// Close makes all rows visible and ends the appender. After an error the table may hold a part of them.
func (a *Appender) Close() error {
	if a.handle.Ptr == nil {
		return nil
	}
	var err error
	if bindings.AppenderClose(a.handle) == bindings.StateError {
		err = a.fault("append")
	}
	bindings.AppenderDestroy(&a.handle)
	return err
}

func (a *Appender) fault(op string) error {
	data := bindings.AppenderErrorData(a.handle)
	defer bindings.DestroyErrorData(&data)
	if err := faultData(op, data); err != nil {
		return errs.Wrap(errs.Internal, "", a.table, err)
	}
	return errs.New(errs.Internal, op, a.table, "refused without a reason")
}
