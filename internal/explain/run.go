package explain

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/internal/units"
)

// Run is what EXPLAIN ANALYZE measured.
type Run struct {
	Rows      int64   `json:"rows"`
	Seconds   float64 `json:"seconds"`
	Packs     int     `json:"packs"`
	Slowest   float64 `json:"slowest_pack_seconds"`
	InParts   int     `json:"packs_in_parts,omitempty"` // packs that memory didn't suffice for at once
	PeakBytes int64   `json:"peak_memory_bytes"`
	Steps     []Step  `json:"steps"`
	// SlowestPacks are a few, the slowest first.
	SlowestPacks []Pack `json:"slowest_packs"`
}

// Step is a part of a run: rows sent to their groups, packs side by side, packs by themselves, or the final step.
type Step struct {
	Name     string  `json:"step"`
	Core     int     `json:"core,omitempty"` // counted from 1; 0 of the final step
	Rows     int64   `json:"rows"`           // that it gave
	Seconds  float64 `json:"seconds"`
	Memory   int64   `json:"peak_memory_bytes"`
	Spilled  int64   `json:"spilled_bytes"` // by DuckDB, at most at once
	Unneeded int64   `json:"rows_dropped"`  // of a routing step: they can't matter
	Written  int64   `json:"bytes_written"` // of a routing step
}

// Pack is one statement over the rows of some groups.
type Pack struct {
	Core    int     `json:"core"` // counted from 1
	Pack    int     `json:"pack"` // from the largest, counted from 1
	Groups  int     `json:"groups"`
	Part    string  `json:"part,omitempty"` // of a group that is divided
	Bytes   int64   `json:"bytes"`
	Rows    int64   `json:"rows"` // that it gave
	Seconds float64 `json:"seconds"`
}

func (r *Run) write(b *strings.Builder) {
	fmt.Fprintf(b, "ran: %s in %.3f s, %s", units.Count(int(r.Rows), "row"), r.Seconds, units.Count(r.Packs, "pack"))
	if r.Packs > 0 {
		fmt.Fprintf(b, " (slowest %.3f s)", r.Slowest)
	}
	if r.InParts > 0 {
		fmt.Fprintf(b, ", %d of them in parts, for want of memory", r.InParts)
	}
	if r.PeakBytes > 0 {
		fmt.Fprintf(b, ", peak memory of the process %s", units.Bytes(r.PeakBytes))
	}
	b.WriteString("\n")
	for _, s := range r.Steps {
		s.write(b)
	}
	for _, p := range r.SlowestPacks {
		p.write(b)
	}
}

func (s Step) write(b *strings.Builder) {
	fmt.Fprintf(b, "  %s", s.Name)
	if s.Core > 0 {
		fmt.Fprintf(b, " of core %d", s.Core)
	}
	fmt.Fprintf(b, ": %s in %.3f s, peak memory %s, spilled %s", units.Count(int(s.Rows), "row"), s.Seconds, units.Bytes(s.Memory), units.Bytes(s.Spilled))
	if s.Written > 0 || s.Unneeded > 0 {
		fmt.Fprintf(b, "; wrote %s, %s left out since they can't matter", units.Bytes(s.Written), units.Count(int(s.Unneeded), "row"))
	}
	b.WriteString("\n")
}

func (p Pack) write(b *strings.Builder) {
	part := ""
	if p.Part != "" {
		part = " (" + p.Part + ")"
	}
	fmt.Fprintf(b, "  pack %d of core %d%s: %s, %s, %s in %.3f s\n", p.Pack, p.Core, part, units.Count(p.Groups, "group"), units.Bytes(p.Bytes),
		units.Count(int(p.Rows), "row"), p.Seconds)
}
