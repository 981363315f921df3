package tarn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/meter"
	"github.com/tarndb/tarn/internal/task"
)

// measure runs a planned query whose rows a sink takes, or nobody if it is nil.
func (s *Session) measure(ctx context.Context, graph *task.Graph, sink exec.Sink) (*explain.Run, error) {
	begin := time.Now()
	opts := s.execOptions()
	opts.Measure, opts.Sink = true, sink
	stream, err := exec.Run(ctx, graph, opts)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	if err := drain(ctx, stream); err != nil {
		return nil, err
	}
	stats := stream.Stats()
	run := &explain.Run{
		Rows: stats.Rows, Seconds: time.Since(begin).Seconds(), Packs: len(stats.Packs), PeakBytes: meter.PeakMemory(),
		Steps: stepsOf(&stats), SlowestPacks: slowest(graph, &stats),
	}
	for _, pack := range stats.Packs {
		run.Slowest = max(run.Slowest, pack.Seconds)
		if pack.Parts > 1 {
			run.InParts++
		}
	}
	return run, nil
}

// stepNames are what people call the steps of a run.
var stepNames = map[exec.Step]string{
	exec.RouteStep: "exchange", exec.PackStep: "packs", exec.AloneStep: "packs run alone", exec.FinalStep: "final step",
}

func stepsOf(stats *exec.Stats) []explain.Step {
	out := []explain.Step{}
	for _, s := range stats.Steps {
		step := explain.Step{Name: stepNames[s.Step], Core: s.Core + 1, Seconds: s.Seconds, Memory: s.MemoryBytes, Spilled: s.SpilledBytes}
		switch s.Step {
		case exec.RouteStep:
			for _, r := range stats.Routes {
				if r.Core == s.Core {
					step.Rows += r.Rows - r.Dropped
					step.Unneeded += r.Dropped
					step.Written += r.Bytes
				}
			}
		case exec.FinalStep:
			step.Core, step.Rows = 0, stats.Rows
		default:
			for _, pack := range stats.Packs {
				if pack.Core == s.Core && pack.Alone == (s.Step == exec.AloneStep) {
					step.Rows += pack.Rows
				}
			}
		}
		out = append(out, step)
	}
	return out
}

// slowestShown is how many packs EXPLAIN ANALYZE tells of: enough to see whether one is slow or all are.
const slowestShown = 3

func slowest(graph *task.Graph, stats *exec.Stats) []explain.Pack {
	slices.SortStableFunc(stats.Packs, func(a, b exec.PackStats) int { return cmp.Compare(b.Seconds, a.Seconds) })
	out := []explain.Pack{}
	for _, s := range stats.Packs[:min(slowestShown, len(stats.Packs))] {
		pack := &graph.Cores[s.Core].Packs[s.Pack]
		shown := explain.Pack{
			Core: s.Core + 1, Pack: s.Pack + 1, Groups: len(pack.Groups), Bytes: pack.Bytes, Rows: s.Rows, Seconds: s.Seconds,
		}
		switch {
		case s.Slice != nil:
			shown.Part = fmt.Sprintf("slice %d of %d", s.Slice.Index+1, s.Slice.Of)
		case s.Part.Of > 0:
			shown.Part = fmt.Sprintf("part %d of %d", s.Part.Index+1, s.Part.Of)
		case s.Alone:
			shown.Part = "alone"
		}
		out = append(out, shown)
	}
	return out
}
