package lake

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
)

// TestPublishOneOfTwo: other engines stage several changes under one ID, and which one it publishes would be anyone's guess.
func TestPublishOneOfTwo(t *testing.T) {
	c := newLake(t, "sql", t.TempDir())
	rng := rand.New(rand.NewPCG(1, 2))
	table := createTest(t, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema()})
	for range 2 {
		files := dataFilesOf(writeFiles(t, c, table, testRows(rng, 10)))
		if _, err := c.Commit(t.Context(), table, commit.Change{Kind: commit.Append, Add: files, Properties: map[string]string{commit.WAPProperty: "x"}}); err != nil {
			t.Fatal(err)
		}
		table = load(t, c, table.Ident)
	}
	if _, _, err := c.PublishChanges(t.Context(), table, "x"); errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), "all staged") {
		t.Errorf("publishing gives %v", err)
	}
}
