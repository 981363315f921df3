package explain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/plantest"
	"github.com/tarndb/tarn/internal/task"
)

// TestReports prints reports as text or JSON. The argument ran adds what a run would have measured, looked has a dynamic filter have read the
// first table.
func TestReports(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		p := plantest.New(t, "")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "tables" {
				if err := p.Catalog.Add(d.Input); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return ""
			}
			planned := p.MustPlan(t, d.Input, plantest.Options{Task: task.Options{PackBytes: 1 << 21, Workers: 1}})
			r := planned.Report
			if d.HasArg("looked") {
				planned.Query.Scans[0].Looked = true
				r = explain.New(planned.Physical, planned.Layouts, planned.Graph)
			}
			if d.HasArg("ran") {
				r.Run = &explain.Run{
					Rows: 1, Seconds: 1.23456, Packs: 2, Slowest: 0.5, PeakBytes: 123456789,
					Steps: []explain.Step{
						{Name: "exchange", Core: 1, Rows: 10, Seconds: 0.1, Memory: 1 << 20, Unneeded: 1, Written: 2048},
						{Name: "final step", Rows: 1, Seconds: 0.25, Memory: 2 << 20, Spilled: 3 << 20},
					},
					SlowestPacks: []explain.Pack{
						{Core: 1, Pack: 2, Groups: 3, Bytes: 4096, Rows: 5, Seconds: 0.5},
						{Core: 1, Pack: 1, Groups: 1, Part: "slice 1 of 2", Bytes: 8192, Rows: 6, Seconds: 0.25},
					},
				}
			}
			switch d.Cmd {
			case "text":
				return r.Text()
			case "json":
				return jsonText(t, r)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// jsonText checks that programs read back what was written.
func jsonText(t *testing.T, r *explain.Report) string {
	var back explain.Report
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
