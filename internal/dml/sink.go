package dml

import (
	"fmt"
	"slices"
	"sync"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/internal/write"
)

// Sink takes the rows that a statement's query gives: new rows go to a job, and places to Edits.
type Sink struct {
	st    *Statement
	job   *write.Job
	first int // of the columns that are carried
	edits *write.Edits
	// matched are the rows that were matched, where not all of them are changed.
	matched *write.Edits
	planned *task.Graph // of the whole statement
	running *task.Graph // what is run of it
	paths   []string    // of its data files, by the numbers that places have

	mu    sync.Mutex
	parts []part
}

// Counts are the rows that a statement inserted and changed; of Edits those that it didn't change it deleted.
type Counts struct{ Inserted, Updated int64 }

// part is what came of one pack, or of the final step.
type part struct {
	groups     []string        // their keys
	partitions []string        // those of the new rows, by their keys
	files      map[string]bool // those that have rows that were matched, changed or deleted
	isMixed    bool            // the partitions are too many to be told
	counts     Counts
}

// NewSink returns a sink of a statement whose query's graph is run. target is what the query was assigned to.
func NewSink(st *Statement, target *write.Target, job *write.Job, graph *task.Graph) *Sink {
	s := &Sink{st: st, job: job, edits: job.NewEdits(), planned: graph}
	s.follow(graph)
	if st.Writes() {
		s.first = target.RowColumns()
	}
	if slices.ContainsFunc(st.Actions, func(a Action) bool { return a.Matched && !a.Edits }) {
		s.matched = job.NewEdits()
	}
	return s
}

// follow has the sink take what a graph gives.
func (s *Sink) follow(graph *task.Graph) {
	s.running, s.paths = graph, nil
	graph.EachPlaced(func(f *task.File) {
		if n := int(f.Number); n >= len(s.paths) {
			s.paths = append(s.paths, make([]string, n+1-len(s.paths))...)
		}
		s.paths[f.Number] = f.Ref.Path
	})
}

// Keeper returns nil: all rows are looked at.
func (s *Sink) Keeper(*task.Pack) exec.Keeper { return nil }

// HeldBytes is as in exec.Sink.
func (s *Sink) HeldBytes() int64 { return s.job.HeldBytes() }

// Edits returns the places of the rows that are changed or deleted, once all rows are there.
func (s *Sink) Edits() *write.Edits { return s.edits }

// Counts returns how many rows came, of what kind.
func (s *Sink) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum Counts
	for _, p := range s.parts {
		sum.Inserted += p.counts.Inserted
		sum.Updated += p.counts.Updated
	}
	return sum
}

// RepeatedError says that a row would be changed by more than one row.
type RepeatedError struct {
	File     string // as metadata spells it
	Position int64
}

// Error implements error.
func (e *RepeatedError) Error() string {
	return fmt.Sprintf("the row at position %d of %s is matched more than once", e.Position, e.File)
}

// Writer implements exec.Sink.
func (s *Sink) Writer(p *task.Pack) exec.SinkWriter {
	w := &sinkWriter{sink: s, places: map[int64]*places{}}
	if p != nil {
		w.part.groups = keysOf(s.running, p)
	}
	if s.st.Writes() {
		w.rows = s.job.Writer()
	}
	return w
}

// sinkWriter takes the chunks of one goroutine.
type sinkWriter struct {
	sink   *Sink
	rows   *write.Writer // nil: the statement makes no rows
	keep   []bool
	places map[int64]*places // by the file's number
	met    []*places         // those of the chunk
	part   part
}

// places are rows of a file, of one chunk.
type places struct {
	path            string
	isMet           bool
	edited, matched []int64
}

// Add implements exec.SinkWriter.
func (w *sinkWriter) Add(ch *duck.Chunk) error {
	kept, err := w.take(ch)
	if err != nil || w.rows == nil || !kept {
		ch.Close()
		return err
	}
	return w.rows.AddSome(ch, w.keep)
}

// take notes what is done to the rows of a chunk, and says whether some of them are new rows, which keep then has.
func (w *sinkWriter) take(ch *duck.Chunk) (kept bool, err error) {
	r := w.reader(ch)
	w.keep = slices.Grow(w.keep[:0], ch.Rows())[:ch.Rows()]
	for i := range w.keep {
		a, err := r.action(i)
		if err != nil {
			return false, err
		}
		w.keep[i] = a.Writes
		kept = kept || a.Writes
		if a.Edits || a.Matched {
			if err := w.note(r, i, a); err != nil {
				return false, err
			}
		}
		switch {
		case a.Edits && a.Writes:
			w.part.counts.Updated++
		case a.Writes:
			w.part.counts.Inserted++
		}
	}
	return kept, w.add()
}

// note remembers the place of a row.
func (w *sinkWriter) note(r *chunkReader, row int, a Action) error {
	if r.place.IsNull(row) {
		return errs.New(errs.Internal, "change rows", "", "a row that is changed has no place")
	}
	file, position := catalog.FileOf(r.place.Integer(row))
	if r.at == nil || file != r.file {
		at, ok := w.places[file]
		if !ok {
			path, err := w.sink.pathOf(file)
			if err != nil {
				return err
			}
			at = &places{path: path}
			w.places[file] = at
		}
		r.at, r.file = at, file
		if !at.isMet {
			at.isMet, w.met = true, append(w.met, at)
		}
	}
	if a.Edits {
		r.at.edited = append(r.at.edited, position)
	}
	if a.Matched && w.sink.matched != nil {
		r.at.matched = append(r.at.matched, position)
	}
	return nil
}

// pathOf returns the path of a data file that a place tells.
func (s *Sink) pathOf(file int64) (string, error) {
	if file < 0 || file >= int64(len(s.paths)) || s.paths[file] == "" {
		return "", errs.New(errs.Internal, "change rows", "", "a row that is changed lies in file %d, and the graph has none of that number", file)
	}
	return s.paths[file], nil
}

// add adds the places of a chunk to those of all.
func (w *sinkWriter) add() error {
	for _, at := range w.met {
		if err := w.addOf(at.path, at); err != nil {
			return err
		}
		at.edited, at.matched, at.isMet = at.edited[:0], at.matched[:0], false
	}
	w.met = w.met[:0]
	return w.sink.edits.Full()
}

func (w *sinkWriter) addOf(path string, at *places) error {
	s := w.sink
	if s.matched != nil {
		if repeated, ok := s.matched.Add(path, at.matched...); !ok {
			return &RepeatedError{path, repeated}
		}
	}
	for rest := at.edited; len(rest) > 0; {
		repeated, ok := s.edits.Add(path, rest...)
		if ok {
			break
		}
		if s.st.Checks() {
			return &RepeatedError{path, repeated}
		}
		// A row is deleted once, however many rows it was joined with.
		rest = rest[slices.Index(rest, repeated)+1:]
	}
	return nil
}

// Flush implements exec.SinkWriter.
func (w *sinkWriter) Flush() error {
	if w.rows == nil {
		return nil
	}
	return w.rows.Flush()
}

// Close implements exec.SinkWriter.
func (w *sinkWriter) Close() {
	w.part.files = map[string]bool{}
	for _, at := range w.places {
		w.part.files[at.path] = true
	}
	if w.rows != nil {
		partitions, ok := w.rows.Partitions()
		w.part.partitions, w.part.isMixed = partitions, !ok
		w.rows.Close()
	}
	s := w.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, w.part)
}

// chunkReader reads the columns of a chunk that are carried.
type chunkReader struct {
	actions       []Action
	place, number duck.Values
	hasNumber     bool
	at            *places // of the row before, in the file of that number
	file          int64
}

func (w *sinkWriter) reader(ch *duck.Chunk) *chunkReader {
	s := w.sink
	r := &chunkReader{actions: s.st.Actions}
	next := s.first
	if s.st.layout.place >= 0 {
		r.place = ch.Values(next)
		next++
	}
	if s.st.layout.action >= 0 {
		r.number, r.hasNumber = ch.Values(next), true
	}
	return r
}

func (r *chunkReader) action(row int) (Action, error) {
	if !r.hasNumber {
		return r.actions[0], nil
	}
	if !r.number.IsNull(row) {
		if n := r.number.Integer(row); n >= 0 && n < int64(len(r.actions)) {
			return r.actions[n], nil
		}
	}
	return Action{}, errs.New(errs.Internal, "change rows", "", "a row says nothing that is to be done to it")
}
