package explain

import (
	"fmt"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/dynamic"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/units"
)

// Dynamic is a dynamic filter, or one that doesn't pay.
type Dynamic struct {
	Column      string  `json:"column"` // whose files are left out
	From        string  `json:"from"`   // the column that has the values
	State       string  `json:"state"`  // planned: by a run; applied; rejected; told: applied, by what manifests say
	Reason      string  `json:"reason,omitempty"`
	SourceBytes int64   `json:"source_bytes"`    // that are read for the values
	TargetBytes int64   `json:"target_bytes"`    // that other conditions leave
	Values      int     `json:"values"`          // how many there are; -1: too many to keep, so that it is a range or a Bloom filter
	Bloom       bool    `json:"bloom,omitempty"` // a Bloom filter of the values, which leaves out rows and no files
	Seconds     float64 `json:"seconds"`
	Files       int     `json:"files"`        // of the column's table
	FilesPruned int     `json:"files_pruned"` // of Files, those that its dynamic filters leave out, all together
}

var dynamicStates = [...]string{dynamic.Planned: "planned", dynamic.Found: "applied", dynamic.Rejected: "rejected", dynamic.Told: "told"}

// AddDynamic adds the dynamic filters of a query.
func (r *Report) AddDynamic(filters []dynamic.Filter, layouts map[*plan.Scan]*catalog.TableLayout) {
	for _, f := range filters {
		d := Dynamic{
			Column: columnText(f.To), From: columnText(f.From), State: dynamicStates[f.State], Reason: f.Why,
			SourceBytes: f.SourceBytes, TargetBytes: f.TargetBytes, Values: f.Values, Bloom: f.Bloom, Seconds: f.Seconds,
		}
		if f.State == dynamic.Found || f.State == dynamic.Told {
			c := layouts[f.To.Scan].Counts
			d.Files, d.FilesPruned = c.Files, c.FilesPruned-f.Before
		}
		r.Dynamic = append(r.Dynamic, d)
	}
}

// columnText names a column by its table, and by the table's alias where it has one.
func columnText(c dynamic.Column) string {
	name := c.Scan.Table.Ident.String()
	if alias := aliasOf(c.Scan); alias != "" {
		name = catalog.ShownName(alias)
	}
	return name + "." + catalog.ShownName(c.Field.Name)
}

func (d Dynamic) line() string {
	text := fmt.Sprintf("dynamic filter on %s (%s): ", d.Column, units.Bytes(d.TargetBytes))
	from := fmt.Sprintf("%s (%s)", d.From, units.Bytes(d.SourceBytes))
	switch {
	case d.Bloom && d.State == "planned":
		return text + "a run makes a Bloom filter of the values of " + from + " first"
	case d.Bloom && d.State == "applied":
		return text + fmt.Sprintf("a Bloom filter of the values of %s, made in %.3f s, leaves out rows", from, d.Seconds)
	}
	switch d.State {
	case "planned":
		return text + "a run looks up the values of " + from + " first"
	case "rejected":
		return text + "none by " + from + ": " + d.Reason
	}
	values := units.Count(d.Values, "value")
	if d.Values < 0 {
		values = "the range of all values"
	}
	if d.State == "told" {
		return text + fmt.Sprintf("%s of %s, by its manifests; %s of %d left out", values, from, units.Count(d.FilesPruned, "file"), d.Files)
	}
	return text + fmt.Sprintf("%s of %s, found in %.3f s; %s of %d left out", values, from, d.Seconds, units.Count(d.FilesPruned, "file"), d.Files)
}
