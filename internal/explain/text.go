package explain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tarndb/tarn/internal/units"
)

// JSON writes the report for programs.
func (r *Report) JSON() string {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil { // a Report holds nothing that JSON can't
		return "{}"
	}
	return string(b)
}

// Text writes the report for people, in lines that scripts may search for strategy=.
func (r *Report) Text() string {
	var b strings.Builder
	if r.Write != nil {
		r.Write.write(&b)
	}
	for i, c := range r.Cores {
		c.write(&b, i+1)
	}
	for _, op := range r.Whole {
		b.WriteString(op.line("") + "\n")
	}
	for _, op := range r.Aggregates {
		b.WriteString(op.line("") + "\n")
	}
	if r.Final != nil {
		fmt.Fprintf(&b, "final step: %s\n", r.Final.Does)
	}
	for _, d := range r.Dynamic {
		b.WriteString(d.line() + "\n")
	}
	for _, s := range r.Scans {
		b.WriteString(s.line() + "\n")
	}
	if r.Run != nil {
		r.Run.write(&b)
	}
	return b.String()
}

func (c Core) write(b *strings.Builder, n int) {
	fmt.Fprintf(b, "core %d: strategy=%s keys=[%s] groups=%d packs=%d rows=%s\n",
		n, StoragePartitioned, strings.Join(c.Keys, ", "), c.Groups, c.Packs, c.Rows)
	for _, op := range c.Ops {
		b.WriteString(op.line("  ") + "\n")
	}
	fmt.Fprintf(b, "  bytes not shuffled: %s; per group: smallest %s, median %s, largest %s\n", units.Bytes(c.NotShuffle),
		units.Bytes(c.GroupBytes[0]), units.Bytes(c.GroupBytes[1]), units.Bytes(c.GroupBytes[2]))
	looked := ""
	if c.Dropped.LookedFiles > 0 {
		looked = fmt.Sprintf(", and %s (%s) that only the dynamic filter read", units.Count(c.Dropped.LookedFiles, "file"), units.Bytes(c.Dropped.LookedBytes))
	}
	fmt.Fprintf(b, "  dropped unread: %s, %s (%s)%s; NULL group: %s; stragglers: %s\n", units.Count(c.Dropped.Groups, "group"),
		units.Count(c.Dropped.Files, "file"), units.Bytes(c.Dropped.Bytes), looked, c.NullGroup, units.Count(c.Stragglers, "file"))
	for _, r := range c.Routed {
		fmt.Fprintf(b, "  exchanged: %s of %d (%s of %s) of %s: %s\n", units.Count(r.Files, "file"), r.Of.Files, units.Bytes(r.Bytes), units.Bytes(r.Of.Bytes), r.Name, r.Reason)
	}
	for _, t := range c.Everywhere {
		fmt.Fprintf(b, "  read by each pack: %s, %s (%s)\n", t.Name, units.Count(t.Files, "file"), units.Bytes(t.Bytes))
	}
	for _, s := range c.Sieves {
		fmt.Fprintf(b, "  large packs leave out rows of %s by a Bloom filter of the values that they have of %s\n", s.Column, s.From)
	}
	for _, text := range c.Divided {
		fmt.Fprintf(b, "  divided: %s\n", text)
	}
	if len(c.Short) > 0 {
		fmt.Fprintf(b, "  grouped by as numbers, while texts are short: %s\n", strings.Join(c.Short, ", "))
	}
	if len(c.Costs) > 0 {
		fmt.Fprintf(b, "  costs as reading: %s\n", costText(c.Costs))
	}
}

func costText(costs []Cost) string {
	var parts []string
	for _, c := range costs {
		parts = append(parts, c.Strategy+" "+units.Bytes(c.Bytes))
	}
	return strings.Join(parts, ", ")
}

func (o Op) line(indent string) string {
	s := indent + o.Name
	if o.Detail != "" {
		s += " (" + o.Detail + ")"
	}
	s += " strategy=" + o.Strategy
	if o.Reason != "" {
		s += fmt.Sprintf(" reason=%q", o.Reason)
	}
	return s
}

func (s Scan) line() string {
	name := s.Table
	if s.Alias != "" {
		name += " AS " + s.Alias
	}
	if s.Version != nil {
		name += " " + s.Version.text()
	}
	c := s.Counts
	text := fmt.Sprintf("scan %s: %s of %d kept (%s; pruned by manifest %d, partition %d, bounds %d), manifests %d of %d read",
		name, units.Count(c.Files-c.FilesPruned, "file"), c.Files, units.Bytes(c.Bytes),
		c.FilesPruned-c.PrunedByPartition-c.PrunedByBounds, c.PrunedByPartition, c.PrunedByBounds,
		c.Manifests-c.ManifestsPruned, c.Manifests)
	if c.DeleteFiles > 0 {
		text += ", " + units.Count(c.DeleteFiles, "delete file")
	}
	return text
}
