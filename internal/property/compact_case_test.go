package property

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
)

// compactDeleted is MNT-1: while files are rewritten as one, a statement deletes a row of them, and then an equality delete does. Neither row
// may come back.
func compactDeleted(c *changing) {
	name := c.text("ns.t")
	c.do("CREATE TABLE ns.t (k INT, v INT) WITH v", "INSERT INTO ns.t VALUES (1, 1), (2, 2)", "INSERT INTO ns.t VALUES (3, 3)")
	begin := func(rows ...string) (compact func(keepsAge bool) error) {
		base, old := c.load(name), c.files(name)
		whole := c.dataFile(name, nil, rows...)
		return func(keepsAge bool) error {
			change := commit.Change{Kind: commit.Rewrite, Add: []manifest.File{whole.File}, Remove: old}
			if keepsAge {
				oldest := old[0].Sequence
				for _, f := range old {
					oldest = min(oldest, f.Sequence)
				}
				change.DataSequence = &oldest
			}
			_, err := c.catalog.Commit(context.Background(), base, change)
			return err
		}
	}
	compact := begin("(1, 1)", "(2, 2)", "(3, 3)")
	c.do("DELETE FROM ns.t WHERE k = 2")
	for _, keepsAge := range []bool{false, true} {
		if err := compact(keepsAge); errs.KindOf(err) != errs.Conflict {
			c.t.Errorf("%v: files whose rows were deleted are rewritten: %v", c.mode, err)
		}
	}
	c.has("ns.t", "(1, 1)", "(3, 3)")
	c.do("UPDATE ns.t SET v = v + 10 WHERE k > 0") // and no delete files but new ones
	if err := begin("(1, 11)", "(3, 13)")(false); err != nil {
		c.t.Errorf("%v: %v", c.mode, err)
	}
	c.has("ns.t", "(1, 11)", "(3, 13)")
	if c.format == "1" { // which has no delete files
		return
	}
	compact = begin("(1, 11)", "(3, 13)")
	c.delta(name, nil, c.equal(name, "SELECT 3::INT AS k", catalog.Field{ID: 1, Name: "k", Type: c.load(name).Schema.Fields[0].Type}))
	c.do("INSERT INTO ns.t VALUES (4, 4)")
	if err := compact(false); errs.KindOf(err) != errs.Conflict {
		c.t.Errorf("%v: a file that would be newer than a delete of its rows: %v", c.mode, err)
	}
	if err := compact(true); err != nil {
		c.t.Errorf("%v: %v", c.mode, err)
	}
	c.has("ns.t", "(1, 11)", "(4, 4)")
}
