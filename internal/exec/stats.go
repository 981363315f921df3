package exec

import (
	"slices"
	"time"

	"github.com/tarndb/tarn/internal/task"
)

// Stats is what a run measured; complete after the end of the stream.
type Stats struct {
	// Rows are those that went to the client.
	Rows   int64
	Steps  []StepStats // in the order of their ends
	Routes []RouteStats
	Packs  []PackStats
}

// Step is a part of a run. A core has up to three, one after the other; the final step is the last.
type Step string

// The steps.
const (
	RouteStep Step = "route" // rows are sent to their bins
	PackStep  Step = "packs" // packs run side by side
	AloneStep Step = "alone" // packs run by themselves
	FinalStep Step = "final"
)

// StepStats is one step's part. Of several instances of DuckDB it has the one that held the most.
type StepStats struct {
	Step    Step
	Core    int // 0 of the final step, which isn't any core's
	Seconds float64
	Use
}

// Use is what DuckDB took for statements.
type Use struct {
	MemoryBytes  int64 // the most that its buffers held at a time
	SpilledBytes int64 // the most that lay in its temporary files at a time, of one instance
}

func (u *Use) add(more Use) {
	u.MemoryBytes = max(u.MemoryBytes, more.MemoryBytes)
	u.SpilledBytes = max(u.SpilledBytes, more.SpilledBytes)
}

// RouteStats is what the routing of one table's rows came to.
type RouteStats struct {
	Core, Table int
	Rows        int64 // that were read and aren't deleted
	Dropped     int64 // of Rows, those that can't matter
	Bytes       int64 // written
}

// PackStats is one pack's part.
type PackStats struct {
	Core, Pack int
	Rows       int64 // that it gave
	Seconds    float64
	Slice      *task.Slice // as in task.Pack, like the fields below
	Part       task.Part
	Alone      bool
	Use
}

// Stats returns what was measured so far.
func (s *Stream) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.Steps, out.Routes, out.Packs = slices.Clone(out.Steps), slices.Clone(out.Routes), slices.Clone(out.Packs)
	return out
}

func (s *Stream) addPack(p PackStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Packs = append(s.stats.Packs, p)
}

func (s *Stream) addRoutes(routes []RouteStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Routes = append(s.stats.Routes, routes...)
}

// step measures a step, during which use collects what its statements take.
func (s *Stream) step(step Step, core int, do func(use func(Use)) error) error {
	out, start := StepStats{Step: step, Core: core}, time.Now()
	err := do(func(u Use) {
		s.mu.Lock()
		defer s.mu.Unlock()
		out.add(u)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Seconds = time.Since(start).Seconds()
	s.stats.Steps = append(s.stats.Steps, out)
	return err
}
