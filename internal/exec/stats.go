package exec

import (
	"slices"
	"sync"
	"time"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/meter"
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

// StepStats is one step's part. The bytes are the most that was seen, and only when Options.Measure says to look.
type StepStats struct {
	Step         Step
	Core         int // 0 of the final step, which isn't any core's
	Seconds      float64
	MemoryBytes  int64 // that the process had
	SpilledBytes int64 // that lay in DuckDB's temporary files
}

// RouteStats is what the routing of one table's rows came to.
type RouteStats struct {
	Core, Table int
	Rows        int64 // that were read, aren't deleted, and satisfy the conditions on their table alone
	Dropped     int64 // of Rows, those that can't matter
	Bytes       int64 // written
}

// PackStats is one pack's part.
type PackStats struct {
	Core, Pack int
	Rows       int64 // that it gave
	Parts      int   // that it was run in: more than one where memory didn't suffice for all at once
	Seconds    float64
	Slice      *task.Slice // as in task.Pack, like the fields below
	Part       task.Part
	Alone      bool
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

func (s *Stream) addStep(step StepStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Steps = append(s.stats.Steps, step)
}

func (s *Stream) addRoutes(routes []RouteStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Routes = append(s.stats.Routes, routes...)
}

// step runs a step and measures it.
func (r *run) step(step Step, core int, do func() error) error {
	out, start := StepStats{Step: step, Core: core}, time.Now()
	stop := r.sample(&out)
	err := do()
	stop()
	out.Seconds = time.Since(start).Seconds()
	r.stream.addStep(out)
	return err
}

// sampleEvery is how often memory and temporary files are looked at: a look takes some 20 microseconds.
const sampleEvery = 10 * time.Millisecond

// sample looks at memory and temporary files until stop is called, if the options say to.
func (r *run) sample(out *StepStats) (stop func()) {
	if !r.opts.Measure {
		return func() {}
	}
	look := func() {
		out.MemoryBytes = max(out.MemoryBytes, meter.Memory())
		out.SpilledBytes = max(out.SpilledBytes, r.instances.spilled())
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			look()
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(end)
		<-ended
		look()
	}
}

// instances are those of DuckDB that a run has opened, closed ones among them.
type instances struct {
	mu   sync.Mutex
	list []*duck.DB
}

func (i *instances) add(db *duck.DB) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = append(i.list, db)
}

// spilled returns how many bytes lie in temporary files.
func (i *instances) spilled() (sum int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, db := range i.list {
		sum += db.SpilledBytes()
	}
	return sum
}
