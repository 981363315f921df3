package evolve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

// TestEvolve runs the statements of testdata, each on a line of its own, on one table after the other: run prints each
// error and what the table is in the end, which SHOW CREATE TABLE must be able to make again; refuse prints the errors of
// statements that change nothing; snapshots gives it snapshots of the IDs, the last of which is the current one.
func TestEvolve(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s State
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "snapshots":
				s.Snapshots = map[catalog.SnapshotID]bool{}
				for _, id := range strings.Fields(d.Input) {
					var n catalog.SnapshotID
					if _, err := fmt.Sscan(id, &n); err != nil {
						t.Fatal(err)
					}
					s.Snapshots[n] = true
					s.Refs = map[string]Ref{MainBranch: {Snapshot: n}}
				}
				return ""
			case "run", "refuse":
				var out strings.Builder
				before := s.text()
				for _, stmt := range strings.Split(d.Input, "\n") {
					next, err := run(s, stmt)
					if err != nil {
						out.WriteString(errorText(err))
					}
					s = next
				}
				if d.Cmd == "run" {
					checkScript(t, s)
					return out.String() + s.text()
				}
				if s.text() != before {
					t.Errorf("%s: statements that are refused changed the table", d.Pos)
				}
				return out.String()
			}
			t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			return ""
		})
	})
}

// run runs one statement, with ALTER TABLE and the name left out.
func run(s State, stmt string) (State, error) {
	if !strings.HasPrefix(stmt, "CREATE TABLE") && !strings.HasPrefix(stmt, "REPLACE TABLE") {
		stmt = "ALTER TABLE s.t " + stmt
	}
	st, err := sql.Parse(stmt)
	if err != nil {
		return s, err
	}
	switch st := st.(type) {
	case sql.CreateTable:
		if st.Replace {
			return Replace(s, st)
		}
		next, err := Create(st)
		if err != nil {
			return s, err
		}
		return next, nil
	case sql.AlterTable:
		return Apply(s, st.Changes)
	}
	return s, fmt.Errorf("%T is no such statement", st)
}

func errorText(err error) string {
	text := fmt.Sprintf("%s: %v\n", errs.KindOf(err), err)
	if hint := errs.HintOf(err); hint != "" {
		text += "  hint: " + hint + "\n"
	}
	return text
}
