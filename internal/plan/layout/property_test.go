package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
	"github.com/tarndb/tarn/internal/plantest"
)

// TestProperties prints the layout property of each relation of a query, inputs first: its keys, and the columns that
// carry them, the weak ones with a question mark.
func TestProperties(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		p := plantest.New(t, "")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "tables" {
				if err := p.Catalog.Add(d.Input); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return ""
			}
			planned, err := p.Plan(t.Context(), d.Input, plantest.Options{})
			if err != nil {
				return err.Error() + "\n"
			}
			w := &walk{planned: planned}
			w.block(planned.Query.Root)
			return w.text.String()
		})
	})
}

// walk computes properties as package spj does, and writes each.
type walk struct {
	planned *plantest.Planned
	text    strings.Builder
}

func (w *walk) block(b *plan.Block) layout.Property {
	var p layout.Property
	switch {
	case b.Whole != "":
		p.Why = b.Whole
	case b.Union != nil:
		var sides []layout.Property
		for _, u := range b.Union {
			sides = append(sides, w.block(u))
		}
		p = layout.ForUnion(sides)
	default:
		p = layout.ForBlock(b, w.rel(b.From))
	}
	w.write("block", p, func(c plan.Col) string { return b.Output[c.Index].Name })
	return p
}

func (w *walk) rel(r plan.Rel) layout.Property {
	switch r := r.(type) {
	case *plan.ScanRel:
		p := layout.ForScan(r.Scan, w.planned.Layouts[r.Scan])
		w.write("scan "+r.Scan.Alias, p, w.column)
		return p
	case *plan.BlockRel:
		return layout.OfRel(r.Source, w.block(r.Block))
	case *plan.Join:
		p := layout.ForJoin(r, w.rel(r.Left), w.rel(r.Right))
		w.write(r.Kind.String()+" join", p, w.column)
		return p
	}
	return layout.Property{Why: "nothing is known"}
}

func (w *walk) write(what string, p layout.Property, name func(plan.Col) string) {
	fmt.Fprintf(&w.text, "%s:", what)
	if len(p.Slots) == 0 {
		fmt.Fprintf(&w.text, " none: %s", p.Why)
	}
	for _, s := range p.Slots {
		var carriers []string
		for c, strength := range s.Carriers {
			text := name(c)
			if strength == layout.Weak {
				text += "?"
			}
			carriers = append(carriers, text)
		}
		slices.Sort(carriers)
		fmt.Fprintf(&w.text, " %s{%s}", s.Column.Name, strings.Join(carriers, " "))
	}
	w.text.WriteString("\n")
}

// column names a column by its scan's alias, by its derived table's, or as USING's.
func (w *walk) column(c plan.Col) string {
	for _, s := range w.planned.Query.Scans {
		if s.Source == c.Source {
			for _, f := range s.Table.Schema.Fields {
				if int(f.ID) == c.Index {
					return s.Alias + "." + f.Name
				}
			}
		}
	}
	for _, b := range w.planned.Query.Blocks {
		if name := mention(b.From, c); name != "" {
			return name
		}
	}
	return fmt.Sprintf("using[%d]", c.Index)
}

func mention(r plan.Rel, c plan.Col) string {
	switch r := r.(type) {
	case *plan.BlockRel:
		if r.Source == c.Source {
			return r.Alias + "." + r.Block.Output[c.Index].Name
		}
	case *plan.Join:
		return mention(r.Left, c) + mention(r.Right, c)
	}
	return ""
}
