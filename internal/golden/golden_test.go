package golden

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// TestChecks runs every check in each mode. A check in pending.txt must fail, so that the list only shrinks.
func TestChecks(t *testing.T) {
	checks, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	pending := readPending(t, checks)
	l := newLab(t)
	for _, c := range checks {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if why, ok := pending[c.ID]; ok {
				if l.wrong(t, c) == "" {
					t.Error("the check passes: take it off pending.txt")
				}
				t.Skip("pending: " + why)
			}
			for _, m := range Modes {
				t.Run(string(m), func(t *testing.T) {
					if wrong := l.judge(t, c, m); wrong != "" {
						t.Errorf("%s\n%s", c.SQL, wrong)
					}
				})
			}
		})
	}
}

// wrong returns what the first mode that fails has against the check.
func (l *lab) wrong(t *testing.T, c *Check) string {
	for _, m := range Modes {
		if w := l.judge(t, c, m); w != "" {
			return w
		}
	}
	return ""
}

// judge runs a check in one mode, and looks at its plan.
func (l *lab) judge(t *testing.T, c *Check, m Mode) string {
	e := l.engine(t, c)
	s := session(t, e, m)
	if c.Statement != "" {
		a := Ask(t.Context(), s, c.Statement)
		switch {
		case c.Expect == "error":
			return c.Judge(m, a)
		case a.Err != nil:
			return a.Err.Error()
		}
	}
	a := Ask(t.Context(), s, c.SQL)
	if errs.KindOf(a.Err) == errs.Syntax {
		return a.Err.Error()
	}
	if wrong := c.Judge(m, a); wrong != "" || a.Err != nil || m == Off {
		return wrong
	}
	// What a check says of groups and files holds without the filters that its own rows give.
	if a := Ask(t.Context(), s, "RESET tarn.dynamic_filter"); a.Err != nil {
		return a.Err.Error()
	}
	return judgePlan(t, s, c, m)
}

// readPending reads the checks that can't pass yet: an id and a reason a line. Storage-partitioned joins over one spec,
// the kind k1, are what the engine is for: none of them may be there.
func readPending(t *testing.T, checks []*Check) map[string]string {
	t.Helper()
	f, err := os.Open(folder + "/pending.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known := map[string]bool{}
	for _, c := range checks {
		known[c.ID] = c.Kind != "k1"
	}
	pending := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		id, why, _ := strings.Cut(lines.Text(), " ")
		if id == "" || id == "#" {
			continue
		}
		if !known[id] || why == "" || pending[id] != "" {
			t.Errorf("pending.txt: %q is no check, has no reason, stands there twice, or is of kind k1", id)
		}
		pending[id] = why
	}
	return pending
}
