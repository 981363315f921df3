package spj_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/plantest"
)

// TestPlans plans each query of testdata and compares what EXPLAIN says. Arguments of a plan say what must hold, however
// the text is rewritten:
//
//	fires   all joins and groupings run group by group
//	whole   none does
//	partly  some do
//	fails   it is an error
//	spj=off, spj=require, exchange=force, exchange=off
//	broadcast: bytes of a table that may be read everywhere; workers: how many, with packs of 8 MiB
//	sql     print the texts that run; scans: print what is read of each table
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		p := plantest.New(t, "")
		var failures []string // kept until the end: a failed test isn't rewritten
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "tables":
				if err := p.Catalog.Add(d.Input); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return ""
			case "plan":
				text, err := planText(t, d, p)
				if err != nil {
					failures = append(failures, fmt.Sprintf("%s: %v\n%s", d.Pos, err, d.Input))
				}
				return text
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
		for _, f := range failures {
			t.Error(f)
		}
	})
}

// planText returns what a test prints, and an error when what must hold doesn't.
func planText(t *testing.T, d *datadriven.TestData, p *plantest.Planner) (string, error) {
	opts := plantest.Options{SPJ: spj.Auto}
	if d.HasArg("spj") {
		var mode string
		d.ScanArgs(t, "spj", &mode)
		opts.SPJ = spj.Mode(mode)
	}
	var exchange string
	var broadcast int
	d.MaybeScanArgs(t, "exchange", &exchange)
	d.MaybeScanArgs(t, "broadcast", &broadcast)
	d.MaybeScanArgs(t, "workers", &opts.Task.Workers)
	opts.Exchange, opts.BroadcastBytes = spj.Exchange(exchange), int64(broadcast)
	if d.HasArg("workers") {
		opts.Task.PackBytes = 8 << 20
	}
	planned, err := p.Plan(t.Context(), d.Input, opts)
	if err != nil {
		return errorText(err), expect(d, "fails")
	}
	again := p.MustPlan(t, d.Input, opts)
	if a, b := everything(planned), everything(again); a != b {
		return "", fmt.Errorf("two plans of one text differ:\n%s\n%s", a, b)
	}
	text := planned.Report.Text()
	if d.HasArg("scans") {
		text += planned.Scans()
	} else {
		text = scanLine.ReplaceAllString(text, "")
	}
	if d.HasArg("sql") {
		text += planned.SQL()
	}
	return text, expect(d, outcome(planned))
}

var scanLine = regexp.MustCompile(`(?m)^scan .*\n`)

// clock matches a folded reading of the clock.
var clock = regexp.MustCompile(`CAST\('[^']*' AS TIMESTAMP WITH TIME ZONE\)`)

func everything(p *plantest.Planned) string {
	return clock.ReplaceAllString(p.Report.Text()+p.Scans()+p.SQL(), "CLOCK")
}

func errorText(err error) string {
	text := fmt.Sprintf("error %s: %s\n", errs.KindOf(err), strings.ReplaceAll(err.Error(), "\n", " "))
	if hint := errs.HintOf(err); hint != "" {
		text += "hint: " + hint + "\n"
	}
	return text
}

// outcome says in one word how far a plan runs group by group.
func outcome(p *plantest.Planned) string {
	switch {
	case len(p.Physical.Cores) == 0:
		return "whole"
	case len(p.Physical.Reasons) == 0:
		return "fires"
	}
	return "partly"
}

// expect compares the outcome with the one that the test names.
func expect(d *datadriven.TestData, got string) error {
	for _, want := range []string{"fires", "whole", "partly", "fails"} {
		if d.HasArg(want) && want != got {
			return fmt.Errorf("the plan %s, want %s", got, want)
		}
	}
	if !d.HasArg("fires") && !d.HasArg("whole") && !d.HasArg("partly") && !d.HasArg("fails") {
		return fmt.Errorf("one of fires, whole, partly or fails is needed; the plan %s", got)
	}
	return nil
}
