package golden

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
)

// strategy is how a check's joins and groupings must run. Without whole all of them are storage-partitioned, by this many
// groups; with it the query runs in one statement, for a reason that has all parts of whole in it, which are parted by &.
// Both are given where a part of a query runs by groups. Routed says that all of it does when rows may be sent to their
// groups.
type strategy struct {
	groups int
	whole  string
	routed bool
}

// report is the part of EXPLAIN (ANALYZE, FORMAT json) that is checked. Without ANALYZE there is no Run.
type report struct {
	Cores []struct {
		Groups    int `json:"groups"`
		Packs     int `json:"packs"`
		Operators []struct {
			Strategy string `json:"strategy"`
		} `json:"operators"`
	} `json:"cores"`
	Whole []struct {
		Strategy string `json:"strategy"`
		Reason   string `json:"reason"`
	} `json:"whole"`
	Run struct {
		Packs int `json:"packs"`
	} `json:"run"`
}

const storagePartitioned = "storage-partitioned"

// judgePlan tells what is wrong with a check's plan, or "".
func judgePlan(t *testing.T, s *tarn.Session, c *Check, m Mode) string {
	want, ok := strategies[c.ID]
	if !ok {
		if c.Kind == "k1" || c.SparkSPJ != nil {
			return "no strategy is known for this check: " + observed(t, s, c)
		}
		return ""
	}
	if m == Auto {
		return judgeText(t, s, c, want)
	}
	r, err := explain(t, s, c.SQL, m == Groups)
	if err != nil {
		return err.Error()
	}
	if m == Routed {
		return want.judgeRouted(r)
	}
	return want.judge(r)
}

// judgeRouted looks at a plan in which rows are sent to their groups.
func (want strategy) judgeRouted(r *report) string {
	switch {
	case want.whole == "" || want.routed:
		if len(r.Whole) > 0 || len(r.Cores) == 0 {
			return fmt.Sprintf("some of it runs whole: %v", r.Whole)
		}
	case len(r.Whole) == 0:
		return "all of it runs by groups"
	}
	return ""
}

// judgeText looks for the strategy in what a person sees.
func judgeText(t *testing.T, s *tarn.Session, c *Check, want strategy) string {
	a := Ask(t.Context(), s, "EXPLAIN "+c.SQL)
	if a.Err != nil {
		return a.Err.Error()
	}
	var lines []string
	for _, r := range a.Rows {
		lines = append(lines, fmt.Sprint(r[0]))
	}
	text := strings.Join(lines, "\n")
	if by := strings.Contains(text, "strategy="+storagePartitioned); by != (want.whole == "" || want.groups > 0) {
		return "EXPLAIN says\n" + text
	}
	if whole := strings.Contains(text, "strategy=hash"); whole != (want.whole != "") {
		return "EXPLAIN says\n" + text
	}
	return ""
}

// change runs a check's statement. Where it joins tables, with one group per pack, in format version 3, it is looked at how it ran.
func change(t *testing.T, s *tarn.Session, c *Check, m Mode, w way) (wrong string, err error) {
	joins := strings.Contains(c.Statement, "USING") || strings.Contains(c.Statement, "dml.src")
	if m != Groups || w.format != "3" || c.Expect == "error" || !joins {
		return "", Ask(t.Context(), s, c.Statement).Err
	}
	// Which groups survive is told without the filters that rows give.
	if a := Ask(t.Context(), s, "SET tarn.dynamic_filter = 'off'"); a.Err != nil {
		return "", a.Err
	}
	r, err := explain(t, s, c.Statement, true)
	if err != nil {
		return "", err
	}
	want, ok := changes[c.ID]
	if !ok {
		return "no strategy is known for this check: " + c.line(r), nil
	}
	return want.judge(r), nil
}

// explain returns a statement's plan, and with analyze what came of running it.
func explain(t *testing.T, s *tarn.Session, statement string, analyze bool) (*report, error) {
	text, err := s.Explain(t.Context(), statement, tarn.ExplainOptions{Analyze: analyze, JSON: true})
	if err != nil {
		return nil, err
	}
	r := &report{}
	return r, json.Unmarshal([]byte(text), r)
}

func (want strategy) judge(r *report) string {
	groups, packs := 0, 0
	for _, c := range r.Cores {
		groups += c.Groups
		packs += c.Packs
		for _, op := range c.Operators {
			if op.Strategy != storagePartitioned {
				return "an operator inside a core has the strategy " + op.Strategy
			}
		}
	}
	switch {
	case len(r.Cores) == 0 && want.whole == "":
		return fmt.Sprintf("nothing runs by groups: %v", r.Whole)
	case groups != want.groups:
		return fmt.Sprintf("%d groups survive, wanted %d", groups, want.groups)
	case packs != groups || r.Run.Packs != groups:
		return fmt.Sprintf("%d packs planned and %d run for %d groups", packs, r.Run.Packs, groups)
	case want.whole == "" && len(r.Whole) > 0:
		return fmt.Sprintf("some of it runs whole: %v", r.Whole)
	}
	if want.whole == "" {
		return ""
	}
	for _, op := range r.Whole {
		if hasParts(op.Reason, want.whole) {
			return ""
		}
	}
	return fmt.Sprintf("no reason says %q: %v", want.whole, r.Whole)
}

func hasParts(text, parts string) bool {
	for _, part := range strings.Split(parts, " & ") {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// observed writes the table's line for the plan that a check has now.
func observed(t *testing.T, s *tarn.Session, c *Check) string {
	r, err := explain(t, s, c.SQL, false)
	if err != nil {
		return err.Error()
	}
	return c.line(r)
}

func (c *Check) line(r *report) string {
	groups, whole := 0, ""
	for _, core := range r.Cores {
		groups += core.Groups
	}
	if len(r.Whole) > 0 {
		whole = r.Whole[0].Reason
	}
	line := fmt.Sprintf("\t%q: {%d, %q},", c.ID, groups, whole)
	if f := os.Getenv("TARN_STRATEGIES"); f != "" {
		if out, err := os.OpenFile(f, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(out, line)
			out.Close()
		}
	}
	return line
}
