package verdict_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn/internal/plantest"
	"github.com/tarndb/tarn/internal/verdict"
)

// TestVerdicts judges queries: "check" prints text, with width=N in lines of N characters; "spark" and "trino" that of one
// engine, without its settings' reasons; "json" what programs read.
func TestVerdicts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		p := plantest.New(t, "")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "tables" {
				if err := p.Catalog.Add(d.Input); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return ""
			}
			planned := p.MustPlan(t, d.Input, plantest.Options{})
			r := verdict.Judge(verdict.Input{Query: planned.Query, Layouts: planned.Layouts, Plan: planned.Report, Uses: verdict.UsesOf(planned.Tree)})
			width := 0
			d.MaybeScanArgs(t, "width", &width)
			switch d.Cmd {
			case "check":
				return r.Text(width)
			case "spark", "trino", "tarn":
				return r.Only(func(engine string) bool { return engine == d.Cmd }).Text(width)
			case "json":
				return jsonText(t, r)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// jsonText checks that programs read back what was written.
func jsonText(t *testing.T, r *verdict.Report) string {
	var back verdict.Report
	dec := json.NewDecoder(strings.NewReader(r.JSON()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&back); err != nil {
		t.Error(err)
	}
	if back.JSON() != r.JSON() {
		t.Errorf("a report changed on its way:\n%s\n%s", r.JSON(), back.JSON())
	}
	return r.JSON() + "\n"
}
