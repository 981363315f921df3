package plantest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// SQL writes the texts of a plan: what each pack runs, then the final step, each with the views that it needs.
func (p *Planned) SQL() string {
	var b strings.Builder
	for i, c := range p.Physical.Cores {
		for _, v := range c.Views {
			fmt.Fprintf(&b, "core %d view %s: %s\n", i+1, v.Name, v.SQL)
		}
		fmt.Fprintf(&b, "core %d as %s: %s\n", i+1, c.Name, c.SQL)
	}
	if f := p.Physical.Final; f != nil {
		for _, s := range f.Scans {
			fmt.Fprintf(&b, "final scan %s: %s\n", s.ViewName(), s.Table.Ident)
		}
		for _, v := range f.Views {
			fmt.Fprintf(&b, "final view %s: %s\n", v.Name, v.SQL)
		}
		fmt.Fprintf(&b, "final: %s\n", f.SQL)
	}
	return b.String()
}

// Scans writes what each mention of a table reads: its columns, and the filter that leaves files out.
func (p *Planned) Scans() string {
	var b strings.Builder
	for _, s := range p.Query.Scans {
		var columns []string
		for _, id := range s.Columns {
			columns = append(columns, fieldName(s, id))
		}
		fmt.Fprintf(&b, "%s: %s AS %s (%s) filter %s\n", s.ViewName(), s.Table.Ident, s.Alias, strings.Join(columns, ", "),
			filterText(s, s.Filter))
		for _, c := range s.Conditions {
			fmt.Fprintf(&b, "  leaves out rows without %s\n", c.SQL)
		}
		for _, c := range slices.Concat(s.Dynamic, s.Sifts) {
			fmt.Fprintf(&b, "  reads no rows without %s\n", c)
		}
		for _, v := range s.Sieves {
			fmt.Fprintf(&b, "  reads no rows in a pack but by %s = %s.%s\n", fieldName(s, v.Column), v.From.Alias, fieldName(v.From, v.Key))
		}
	}
	return b.String()
}

func fieldName(s *plan.Scan, id catalog.FieldID) string {
	f, _ := s.Field(id)
	return f.Name
}

var predicateSigns = map[transform.PredicateOp]string{
	transform.IsNull: "is null", transform.NotNull: "is not null", transform.LT: "<", transform.LE: "<=", transform.EQ: "=",
	transform.NE: "<>", transform.GE: ">=", transform.GT: ">", transform.In: "in", transform.NotIn: "not in",
	transform.StartsWith: "starts with", transform.NotStartsWith: "not starts with",
	transform.IsNaN: "is nan", transform.NotNaN: "is not nan",
}

func filterText(s *plan.Scan, f catalog.Filter) string {
	switch f.Op {
	case catalog.AlwaysTrue:
		return "true"
	case catalog.AlwaysFalse:
		return "false"
	case catalog.Test:
		var values []string
		for _, v := range f.Pred.Values {
			values = append(values, transform.FormatValue(f.Type, v))
		}
		return strings.TrimSpace(fieldName(s, f.Field) + " " + predicateSigns[f.Pred.Op] + " " + strings.Join(values, ", "))
	}
	word := " and "
	if f.Op == catalog.Or {
		word = " or "
	}
	var terms []string
	for _, t := range f.Terms {
		terms = append(terms, filterText(s, t))
	}
	return "(" + strings.Join(terms, word) + ")"
}
