package golden

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
)

// TestChecks runs every check in each mode that may make a difference for it, and those that change rows in each way to do that. A check in pending.txt must fail, so
// that the list only shrinks.
func TestChecks(t *testing.T) {
	t.Parallel()
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
			for _, m := range modesOf(c) {
				for _, w := range waysOf(c, m) {
					t.Run(string(m)+w.name, func(t *testing.T) {
						if wrong := l.judge(t, c, m, w); wrong != "" {
							t.Errorf("%s\n%s\n%s", c.Statement, c.SQL, wrong)
						}
					})
				}
			}
		})
	}
}

// wrong returns what the first mode that fails has against the check.
func (l *lab) wrong(t *testing.T, c *Check) string {
	for _, m := range modesOf(c) {
		for _, way := range waysOf(c, m) {
			if w := l.judge(t, c, m, way); w != "" {
				return w
			}
		}
	}
	return ""
}

// modesOf returns the modes that a check runs in: all, but that rows are sent to their groups only for a join, a grouping or a change.
func modesOf(c *Check) []Mode {
	if _, ok := strategies[c.ID]; ok || c.Statement != "" || os.Getenv("TARN_WAYS") == "all" {
		return Modes
	}
	return []Mode{Auto, Groups, Off}
}

// way is how a check's statement changes rows. The zero value is for checks that change none.
type way struct {
	name   string
	mode   string // tarn.row_change_mode
	format string // that the tables are altered to before; "" is their own
}

// waysOf returns the ways in which a check runs in a mode: all of them with one group per pack, else one, which differs from check to
// check and from mode to mode, unless TARN_WAYS=all.
func waysOf(c *Check, m Mode) []way {
	if c.Statement == "" {
		return []way{{}}
	}
	var all []way
	for _, mode := range []string{"copy-on-write", "merge-on-read"} {
		all = append(all, way{"-" + mode + "-2", mode, ""}, way{"-" + mode + "-3", mode, "3"})
	}
	if m == Groups || os.Getenv("TARN_WAYS") == "all" {
		return all
	}
	n := slices.Index(Modes, m)
	for _, b := range []byte(c.ID) {
		n += int(b)
	}
	return all[n%len(all):][:1]
}

// set brings a session and the check's tables there.
func (w way) set(ctx context.Context, s *tarn.Session, c *Check) error {
	if w.mode == "" {
		return nil
	}
	statements := []string{"SET tarn.row_change_mode = '" + w.mode + "'"}
	for _, table := range c.Tables {
		if w.format != "" {
			statements = append(statements, "ALTER TABLE "+table+" SET TBLPROPERTIES ('format-version' = '"+w.format+"')")
		}
	}
	for _, st := range statements {
		if a := Ask(ctx, s, st); a.Err != nil {
			return fmt.Errorf("%s: %w", st, a.Err)
		}
	}
	return nil
}

// judge runs a check in one mode and way, and looks at its plan.
func (l *lab) judge(t *testing.T, c *Check, m Mode, w way) string {
	e := l.engine(t, c)
	s := session(t, e, m)
	if err := w.set(t.Context(), s, c); err != nil {
		return err.Error()
	}
	if c.Statement != "" {
		var before Answer
		if c.Expect == "error" {
			before = Ask(t.Context(), s, c.SQL)
		}
		wrong, err := change(t, s, c, m, w)
		switch {
		case c.Expect == "error":
			if wrong := c.Judge(m, Answer{Err: err}); wrong != "" {
				return wrong
			}
			return Diff(before.Rows, Ask(t.Context(), s, c.SQL).Rows) // nothing is changed
		case err != nil:
			return err.Error()
		case wrong != "":
			return wrong
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
