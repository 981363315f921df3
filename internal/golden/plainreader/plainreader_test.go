package plainreader

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
)

const (
	warehouse   = "../../../testdata/golden/warehouse"
	pendingFile = "../../../testdata/golden/plain_pending.txt"
)

// leastTables is how many golden tables must be compared: with fewer, one of the two readers has become too shy.
const leastTables = 145

// unread are the tables that the plain reader refuses, by what it must name.
var unread = map[string]string{
	"broken/bad_footer":       "data/",
	"broken/bad_page":         "data/",
	"broken/cut_manifest":     "metadata/",
	"broken/cut_metadata":     "metadata.json",
	"broken/cut_mlist":        "metadata/snap-",
	"broken/dv_crc":           "checksum",
	"broken/dv_magic":         "magic number",
	"broken/missing_data":     "data/",
	"broken/missing_delete":   "deletes.parquet",
	"broken/missing_manifest": "metadata/",
	"broken/missing_mlist":    "metadata/snap-",
	"broken/no_schema":        "schema",
	"broken/no_snapshot":      "snapshot",
	"broken/v4":               "version 4",
	"broken/v99":              "version 99",
	"dels/eq_formats":         "orc",
	"py/nanos":                "metadata.json", // an empty file
	"sch/var":                 "variant",
	"wr/mixed":                "orc",
	"wr/orc":                  "orc",
}

// ownAffair are tables of which a reader may make what it likes: their files and manifests disagree, or the hint is wrong.
var ownAffair = map[string]bool{"broken/hint_ahead": true, "broken/lying_bucket": true, "broken/lying_identity": true}

// lab holds what the comparisons share.
type lab struct {
	engine    *tarn.Engine
	warehouse string
	pending   map[string]string
}

func newLab(t *testing.T) *lab {
	root, err := filepath.Abs(warehouse)
	if err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(t.TempDir(), "py_catalog.db") // a copy: SQLite writes beside what it reads
	data, err := os.ReadFile(filepath.Join(root, "py_catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(db, data, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := tarn.Open(t.Context(), tarn.Config{
		Catalogs: []tarn.CatalogConfig{
			{Name: "files", Type: "hadoop", Warehouse: "/warehouse"}, {Name: "py", Type: "sql", URI: "sqlite:///" + db},
		},
		Relocate: []tarn.Relocation{{From: "/warehouse", To: root}}, TempDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return &lab{e, root, readPending(t)}
}

// readPending reads what the engine doesn't read yet: a table, its @versions or its @lineage, and a reason a line.
func readPending(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(pendingFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		id, why, _ := strings.Cut(lines.Text(), " ")
		if id == "" || id == "#" {
			continue
		}
		folder, _, _ := strings.Cut(id, "@")
		if _, err := os.Stat(filepath.Join(warehouse, folder, "metadata")); err != nil || why == "" || out[id] != "" {
			t.Errorf("plain_pending.txt: %q is no table, has no reason, or stands there twice", id)
		}
		out[id] = why
	}
	return out
}

// folders returns all tables, as <namespace>/<name>.
func (l *lab) folders(t *testing.T) []string {
	found, err := filepath.Glob(filepath.Join(l.warehouse, "*", "*", "metadata"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, metadata := range found {
		name, err := filepath.Rel(l.warehouse, filepath.Dir(metadata))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, filepath.ToSlash(name))
	}
	return out
}

// TestUnread holds the list of what isn't read to what it says.
func TestUnread(t *testing.T) {
	root, err := filepath.Abs(warehouse)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range unread {
		table, err := Open(root, name)
		if err == nil {
			_, err = table.Rows(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, wanted one that names %q", name, err, want)
		}
		if !strings.HasPrefix(name, "broken/") && name != "py/nanos" && !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTables compares SELECT * of the engine with what lies in the files, for each golden table: its current snapshot, also
// with row lineage, all its snapshots, its branches and its tags. What the engine doesn't support yet must be listed.
func TestTables(t *testing.T) {
	l := newLab(t)
	var compared atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, name := range l.folders(t) {
			if unread[name] != "" || ownAffair[name] {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				table, err := Open(l.warehouse, name)
				if err != nil {
					t.Fatal(err)
				}
				if l.compare(t, name, []version{{"*", "", table}}) {
					compared.Add(1)
				}
				l.compare(t, name+"@versions", versions(t, table))
				if table.meta.Version >= 3 {
					l.compare(t, name+"@lineage", []version{{"*, _row_id, _last_updated_sequence_number", "", table.Lineage()}})
				}
			})
		}
	})
	if n := compared.Load(); n < leastTables {
		t.Errorf("%d tables were compared, wanted at least %d", n, leastTables)
	}
}

// version is a snapshot of a table, and how SQL asks for it.
type version struct {
	columns, clause string
	table           *Table
}

// versions are all snapshots of a table, its other branches and its tags.
func versions(t *testing.T, table *Table) []version {
	var out []version
	add := func(what string, v *Table, err error) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, version{"*", " VERSION AS OF " + what, v})
	}
	for _, id := range table.Snapshots() {
		v, err := table.At(id)
		add(fmt.Sprint(id), v, err)
	}
	for _, name := range table.Refs() {
		if name == "main" {
			continue // the current snapshot
		}
		v, err := table.AtRef(name)
		add("'"+name+"'", v, err)
	}
	return out
}

// compare says whether all versions were compared. What the engine doesn't support must be listed as pending, and what is
// listed must give an error for one of them; rows are always compared.
func (l *lab) compare(t *testing.T, id string, versions []version) bool {
	folder, _, _ := strings.Cut(id, "@")
	name := strings.ReplaceAll(folder, "/", ".")
	if strings.HasPrefix(name, "py.") {
		name = "py." + name
	} else {
		name = "files." + name
	}
	_, listed := l.pending[id]
	var refused []error
	for _, v := range versions {
		a := golden.Ask(t.Context(), l.engine.Session(), "SELECT "+v.columns+" FROM "+name+v.clause)
		if a.Err != nil && (listed || errs.KindOf(a.Err) == errs.Unsupported) {
			refused = append(refused, a.Err)
			continue
		}
		v.compare(t, a)
	}
	switch {
	case len(refused) > 0 && !listed:
		t.Errorf("%s is not supported, nor in plain_pending.txt: %v", id, refused[0])
	case len(refused) == 0 && listed:
		t.Errorf("the engine reads %s: take it off plain_pending.txt", id)
	}
	return len(refused) == 0
}

func (v version) compare(t *testing.T, a golden.Answer) {
	t.Helper()
	if a.Err != nil {
		t.Errorf("%s: %v", v.clause, a.Err)
		return
	}
	rows, err := v.table.Rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := golden.DiffNames(v.table.Names, a.Names); d != "" {
		t.Errorf("%s: %s", v.clause, d)
		return
	}
	if d := golden.Diff(rows, a.Rows); d != "" {
		t.Errorf("%s: %s", v.clause, d)
	}
}

// TestPendingIsKnown keeps the list of what isn't read here off the engine's: nobody would compare it.
func TestPendingIsKnown(t *testing.T) {
	var both []string
	for id := range readPending(t) {
		folder, _, _ := strings.Cut(id, "@")
		if unread[folder] != "" || ownAffair[folder] {
			both = append(both, id)
		}
	}
	slices.Sort(both)
	if len(both) > 0 {
		t.Errorf("%v stand in plain_pending.txt, and the plain reader doesn't read them", both)
	}
}
