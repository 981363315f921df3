package dml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/catalog/testcat"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

// TestStatements prints the query that each statement of testdata becomes, and what its actions are. The source has the columns k and
// V where a star asks for them.
func TestStatements(t *testing.T) {
	c, err := testcat.New(`
CREATE TABLE db.t (k long, v int, "two words" string)
CREATE TABLE db.u (k long, v int)
`)
	if err != nil {
		t.Fatal(err)
	}
	datadriven.RunTest(t, "testdata/statements.txt", func(t *testing.T, d *datadriven.TestData) string {
		parsed, err := sql.Parse(d.Input)
		if err != nil {
			t.Fatal(err)
		}
		st := parsed.(sql.ChangeRows)
		table, err := c.LoadTable(t.Context(), st.Rows().Table, catalog.Version{})
		if err != nil {
			t.Fatal(err)
		}
		if table.Ident[1] == "u" {
			table.FormatVersion = 3
		}
		out, err := New(st, table, Sources{
			Names:       func(s Scope) ([]string, error) { return []string{"k", "V"}, nil },
			HasSubquery: func(f sql.Fragment) (bool, error) { return strings.Contains(f.Text, "("), nil },
		})
		if err != nil {
			return fmt.Sprintf("%s: %v\n", errs.KindOf(err), err)
		}
		var b strings.Builder
		fmt.Fprintln(&b, out.Query)
		for i, a := range out.Actions {
			fmt.Fprintf(&b, "%d: edits=%v writes=%v matched=%v\n", i, a.Edits, a.Writes, a.Matched)
		}
		for _, s := range out.Scopes {
			fmt.Fprintf(&b, "must bind: %s\n", s.Query)
		}
		return b.String()
	})
}

// TestModes: how rows are changed is what the table's property says, unless the session does.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		format      int
		prop, asked string
		want        Mode
		kind        errs.Kind
		hint        string
	}{
		{1, "", "", CopyOnWrite, 0, ""},
		{2, "", "", CopyOnWrite, 0, ""},
		{2, "Merge-On-Read", "", MergeOnRead, 0, ""},
		{3, "merge-on-read", "copy-on-write", CopyOnWrite, 0, ""},
		{3, "copy-on-write", "merge-on-read", MergeOnRead, 0, ""},
		{1, "merge-on-read", "", "", errs.Unsupported, "set the property write.merge.mode"},
		{1, "copy-on-write", "merge-on-read", "", errs.Unsupported, "RESET tarn.row_change_mode"},
		{2, "both", "", "", errs.Invalid, ""},
	} {
		table := &catalog.Table{Ident: catalog.Ident{"t"}, FormatVersion: c.format, Properties: map[string]string{"write.update.mode": "both", "write.merge.mode": c.prop}}
		if c.prop == "" {
			delete(table.Properties, "write.merge.mode")
		}
		got, err := ModeOf(table, "MERGE", c.asked)
		if got != c.want || (err != nil) != (c.want == "") || err != nil && errs.KindOf(err) != c.kind || !strings.HasPrefix(errs.HintOf(err), c.hint) {
			t.Errorf("%+v: %q, %v, %q", c, got, err, errs.HintOf(err))
		}
	}
}
