package property

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// changed makes a table and changes it by each kind of commit, so that its manifests have entries of every status, of files that
// came with others, and manifests that were merged and written again.
func (l *lab) changed(name string, version int) {
	l.t.Helper()
	l.table(definition{
		name: name, columns: []string{"p string", "n long"}, spec: []string{"identity p"}, version: version,
		props: map[string]string{"commit.manifest.min-count-to-merge": "2"},
	}, []string{"('', 1)", "('a', 2)", "(NULL, 3)", "('b', 4)"})
	in := func(p transform.Value) (found []catalog.DataFile) {
		for _, f := range l.files(name) {
			if f.Partition[0] == p {
				found = append(found, f)
			}
		}
		return found
	}
	file := func(p transform.Value, rows ...string) []manifest.File {
		return []manifest.File{l.dataFile(name, []transform.Value{p}, rows...).File}
	}
	put := func(c commit.Change, mirror ...string) {
		l.t.Helper()
		_, err := l.catalog.Commit(l.t.Context(), l.load(name), c)
		l.must(err)
		for _, statement := range mirror {
			l.exec(statement, name)
		}
	}
	two := in("a")
	l.append(name, "('', 5)", "('a', 6)", "(NULL, 7)")
	add := file("", "('', 10)", "('', 11)")
	put(commit.Change{Kind: commit.Overwrite, Add: add, Replace: commit.PartitionsOf(l.load(name).Spec(), add)},
		"DELETE FROM %s WHERE p = ''", "INSERT INTO %s VALUES ('', 10), ('', 11)")
	put(commit.Change{Kind: commit.Overwrite, Add: file("a", "('a', 20)"), Remove: two},
		"DELETE FROM %s WHERE n = 2", "INSERT INTO %s VALUES ('a', 20)")
	put(commit.Change{Kind: commit.Overwrite, Remove: in("b")}, "DELETE FROM %s WHERE p = 'b'")
	l.append(name, "('c', 30)", "(NULL, 31)")
	old := in(nil)
	sequence := slices.MinFunc(old, func(a, b catalog.DataFile) int { return int(a.Sequence - b.Sequence) }).Sequence
	rewrite := commit.Change{Kind: commit.Rewrite, Add: file(nil, "(NULL, 3)", "(NULL, 7)", "(NULL, 31)"), Remove: old}
	if version > 1 {
		rewrite.DataSequence = &sequence
	}
	put(rewrite)
	l.append(name, "('c', 32)")
}

// files lists a table's data files.
func (l *lab) files(name string) (files []catalog.DataFile) {
	l.t.Helper()
	layout, err := l.catalog.Survey(l.t.Context(), l.load(name), catalog.Filter{})
	l.must(err)
	l.must(layout.Files(l.t.Context(), func(f catalog.DataFile) error { files = append(files, f); return nil }))
	return files
}

// TestChangedTables reads tables back after each kind of commit.
func TestChangedTables(t *testing.T) {
	l := newLab(t)
	for version := 1; version <= 3; version++ {
		name := fmt.Sprintf("changed.v%d", version)
		l.changed(name, version)
		l.agree("SELECT * FROM " + name)
		l.agree("SELECT p, count(*), sum(n) FROM " + name + " GROUP BY p")
	}
}
