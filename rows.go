package tarn

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/plan"
)

// Column is a column of a result: its name, and its type as DuckDB's SQL spells it.
type Column struct{ Name, Type string }

// Rows is a statement's result, pulled batch by batch by one goroutine. It must be closed.
type Rows struct {
	columns []Column
	source  batchSource
	close   func()
	once    sync.Once
	planned *planned
	counts  []Count
}

// Count is something that a statement without rows counted.
type Count struct {
	Name  string // rows-inserted, files-added
	Value int64
}

// Counts returns what a statement without rows counted; nil for the others.
func (r *Rows) Counts() []Count { return r.counts }

// batchSource gives batches until io.EOF.
type batchSource interface {
	Next(ctx context.Context) (arrow.RecordBatch, error)
}

// HasRows says whether the statement gives rows at all; SET doesn't, a SELECT without a match does.
func (r *Rows) HasRows() bool { return len(r.columns) > 0 }

// Columns returns the result's columns. Names may repeat, as in SQL.
func (r *Rows) Columns() []Column { return r.columns }

// Next returns the next batch, which the caller releases, or io.EOF after the last. When ctx ends, the statement ends.
// A batch's fields are in the order of Columns; their names are not to be relied on.
func (r *Rows) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if r.source == nil {
		return nil, io.EOF
	}
	b, err := r.source.Next(ctx)
	if err != nil && r.planned != nil {
		err = errs.Reword(err, r.planned.query.ForPeople)
	}
	return b, err
}

// Close ends the statement and waits until its temporary files are gone. It may be called twice.
func (r *Rows) Close() error {
	r.once.Do(func() {
		if r.close != nil {
			r.close()
		}
	})
	return nil
}

// Counters are what a statement's plan left out and what its run did.
type Counters struct {
	Manifests, ManifestsPruned int   // of all tables mentioned, once per mention
	Files, FilesPruned         int   // live data files, and those that a filter ruled out
	FilesDropped               int   // left unread because their group can't give rows
	Bytes                      int64 // of data files that are read
	BytesNotShuffled           int64 // of those, read by groups
	Groups, Packs              int
	Rows                       int64 // given so far
}

// Counters returns the statement's counters; Rows is complete after the end.
func (r *Rows) Counters() Counters {
	var c Counters
	if r.planned == nil {
		return c
	}
	for _, l := range r.planned.layouts {
		c.Manifests += l.Counts.Manifests
		c.ManifestsPruned += l.Counts.ManifestsPruned
		c.Files += l.Counts.Files
		c.FilesPruned += l.Counts.FilesPruned
		c.Bytes += l.Counts.Bytes
	}
	for i := range r.planned.graph.Cores {
		core := &r.planned.graph.Cores[i]
		c.Groups += len(core.Groups)
		c.Packs += len(core.Packs)
		c.FilesDropped += core.Dropped.Files
		c.Bytes -= core.Dropped.Bytes
		for _, p := range core.Packs {
			c.BytesNotShuffled += p.Bytes
		}
	}
	if s, ok := r.source.(*exec.Stream); ok {
		c.Rows = s.Stats().Rows
	}
	return c
}

func columnsOf(in []plan.Column) []Column {
	out := make([]Column, len(in))
	for i, c := range in {
		out[i] = Column(c)
	}
	return out
}

func drain(ctx context.Context, s batchSource) error {
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		b.Release()
	}
}
