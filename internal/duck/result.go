package duck

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	bindings "github.com/duckdb/duckdb-go-bindings"
)

// Column is a result column: its name, and its type as DuckDB's SQL spells it.
type Column struct{ Name, Type string }

// Result is a running statement, read chunk by chunk. It serves one goroutine at a time.
type Result struct {
	conn    *Conn
	sql     string
	handle  bindings.Result
	columns []Column
	schema  *arrow.Schema
}

func newResult(c *Conn, sql string, handle bindings.Result) (*Result, error) {
	r := &Result{conn: c, sql: sql, handle: handle}
	types := make([]bindings.LogicalType, bindings.ColumnCount(&r.handle))
	r.columns = make([]Column, len(types))
	for i := range types {
		types[i] = bindings.ColumnLogicalType(&r.handle, bindings.IdxT(i))
		defer bindings.DestroyLogicalType(&types[i])
		r.columns[i] = Column{Name: bindings.ColumnName(&r.handle, bindings.IdxT(i)), Type: typeName(types[i])}
	}
	err := refuseUnfaithful(r.columns, types)
	if err == nil {
		r.schema, err = arrowSchema(c.arrow, types, r.columns)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Columns returns the result's columns.
func (r *Result) Columns() []Column { return r.columns }

// Schema returns the schema of the chunks' record batches.
func (r *Result) Schema() *arrow.Schema { return r.schema }

// Close ends the statement. Chunks taken from it stay usable.
func (r *Result) Close() { bindings.DestroyResult(&r.handle) }

// Next returns the next chunk, which the caller closes, or io.EOF after the last.
func (r *Result) Next(ctx context.Context) (*Chunk, error) {
	var chunk bindings.DataChunk
	err := r.conn.interruptible(ctx, func() { chunk = bindings.FetchChunk(r.handle) })
	switch {
	case err != nil:
		return nil, err
	case chunk.Ptr != nil && bindings.DataChunkGetSize(chunk) > 0:
		return &Chunk{result: r, handle: chunk}, nil
	}
	bindings.DestroyDataChunk(&chunk)
	if msg := bindings.ResultError(&r.handle); msg != "" {
		return nil, r.conn.blame(ctx, r.sql, faultOf(ctx, "run", msg))
	}
	return nil, io.EOF
}

// Stream runs a statement as Query does and calls use for each chunk, which becomes use's own.
func (c *Conn) Stream(ctx context.Context, sql string, use func(*Chunk) error, args ...any) error {
	res, err := c.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer res.Close()
	for {
		chunk, err := res.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := use(chunk); err != nil {
			return err
		}
	}
}

// Chunk is a batch of rows, owned by who got it. It must be closed before the instance that made it.
type Chunk struct {
	result *Result
	handle bindings.DataChunk
}

// Rows returns how many rows the chunk has.
func (ch *Chunk) Rows() int { return int(bindings.DataChunkGetSize(ch.handle)) }

// Close frees the chunk.
func (ch *Chunk) Close() { bindings.DestroyDataChunk(&ch.handle) }

// Record copies the chunk into an Arrow record batch, which has a lifetime of its own and is released by the caller.
// The connection that made the chunk must still be open.
func (ch *Chunk) Record() (arrow.RecordBatch, error) {
	return arrowRecord(ch.result.conn.arrow, ch.result.schema, ch.handle)
}
