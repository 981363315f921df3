package exec

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/task"
)

// Stream is a running graph's answer, batch by batch. One goroutine reads it; Close ends the run and may be called twice.
type Stream struct {
	columns []plan.Column
	batches chan arrow.RecordBatch
	cancel  context.CancelFunc
	done    chan struct{} // closed when everything has ended

	mu    sync.Mutex
	err   error
	stats Stats
}

// Run checks the graph and starts it. The stream must be closed.
func Run(ctx context.Context, g *task.Graph, opts Options) (*Stream, error) {
	if err := task.Check(g); err != nil {
		return nil, err
	}
	return start(ctx, g, opts), nil
}

// start is Run of a graph that was checked.
func start(ctx context.Context, g *task.Graph, opts Options) *Stream {
	ctx, cancel := context.WithCancel(ctx)
	// The channel holds nothing: batches of wide rows are megabytes, and each worker has one in its hands anyway.
	s := &Stream{columns: g.Output, batches: make(chan arrow.RecordBatch), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer close(s.batches)
		r := &run{graph: g, opts: opts, stream: s}
		if err := safely(func() error { return r.all(ctx) }); err != nil {
			s.fail(err)
		}
	}()
	return s
}

// fail keeps the first error.
func (s *Stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// Columns returns the answer's columns.
func (s *Stream) Columns() []plan.Column { return s.columns }

// Next returns the next batch, which the caller releases, or io.EOF after the last. When ctx ends the run ends with it.
func (s *Stream) Next(ctx context.Context) (arrow.RecordBatch, error) {
	select {
	case b, ok := <-s.batches:
		if ok {
			return b, nil
		}
	case <-ctx.Done():
		s.cancel()
		<-s.done
		return nil, errs.Wrap(errs.KindOf(ctx.Err()), "run", "query", ctx.Err())
	}
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	return nil, io.EOF
}

// Close ends the run, waits until all of its files are gone, and frees unread batches.
func (s *Stream) Close() {
	s.cancel()
	for b := range s.batches {
		b.Release()
	}
	<-s.done
}

// send hands a batch to the reader.
func (s *Stream) send(ctx context.Context, b arrow.RecordBatch) error {
	rows := b.NumRows()
	select {
	case s.batches <- b:
		s.gave(rows)
		return nil
	case <-ctx.Done():
		b.Release()
		return ctx.Err()
	}
}

// gave counts rows of the answer.
func (s *Stream) gave(rows int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Rows += rows
}

// isStop says whether an error only says that the run was stopped from within.
func isStop(err error) bool { return errors.Is(err, errStop) }

// errStop ends a core that has enough rows.
var errStop = errors.New("enough rows")
