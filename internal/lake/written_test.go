package lake

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
)

// TestManifestsWrittenAgain writes every manifest of the golden tables once more, in the table's format version, and has our
// reader and iceberg-go find in it what was in the old one.
func TestManifestsWrittenAgain(t *testing.T) {
	seen := map[int]int{}
	for _, g := range goldenTables(t) {
		_, refused := goldenRefusals[g.id.String()]
		table, err := g.catalog.LoadTable(t.Context(), g.id, catalog.Version{})
		if refused {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		h, err := g.catalog.handleOf(table)
		if err != nil {
			t.Fatal(err)
		}
		version, err := g.catalog.version(h)
		if err != nil {
			t.Fatal(err)
		}
		list, err := g.catalog.manifests(t.Context(), h.snapshot)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			var entries []*manifest.Entry
			err := manifest.NewReader(g.catalog.fio, table.Specs).Visit(t.Context(), &list[i], manifest.StatColumns{All: true}, func(e *manifest.Entry) error {
				entries = append(entries, e.Clone())
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			head := manifest.Header{
				Version: version.Format, Content: list[i].Content, Spec: version.Specs[list[i].Spec], SpecJSON: version.SpecJSON[list[i].Spec], SchemaJSON: version.SchemaJSON,
			}
			checkWritten(t, g.id.String(), table, head, entries)
			seen[version.Format] += len(entries)
		}
	}
	if seen[1] < 50 || seen[2] < 500 || seen[3] < 100 {
		t.Errorf("only %v entries by format version", seen)
	}
}

func checkWritten(t *testing.T, name string, of *catalog.Table, head manifest.Header, entries []*manifest.Entry) {
	t.Helper()
	const snapshot = 7
	w, err := manifest.NewWriter(head, snapshot)
	if errs.KindOf(err) == errs.Unsupported && strings.Contains(err.Error(), "hilbert") { // as one of the tables has it
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "m.avro")
	data, info, err := w.Finish(path)
	if err == nil {
		err = fileio.Disk{}.Create(t.Context(), path, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := manifest.List{Version: head.Version, SnapshotID: snapshot, Sequence: 1 << 40, NextRowID: 1 << 50}.Encode([]manifest.Info{info})
	if err == nil {
		err = fileio.Disk{}.Create(t.Context(), filepath.Join(dir, "list.avro"), list)
	}
	if err != nil {
		t.Fatal(err)
	}
	read, err := manifest.ReadList(t.Context(), fileio.Disk{}, filepath.Join(dir, "list.avro"))
	if err != nil || len(read) != 1 {
		t.Fatal(read, err)
	}
	var want, got, theirs []string
	for _, e := range entries {
		want = append(want, ownLine(e))
	}
	err = manifest.NewReader(fileio.Disk{}, of.Specs).Visit(t.Context(), &read[0], manifest.StatColumns{All: true}, func(e *manifest.Entry) error {
		if e.FirstRowID != nil && *e.FirstRowID >= 1<<50 { // the entry had none, and the list gave it one
			e.FirstRowID = nil
		}
		got = append(got, ownLine(e))
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v, we read\n%s\nwant\n%s", name, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	listed, err := iceberg.ReadManifestList(bytes.NewReader(list))
	if err != nil || len(listed) != 1 {
		t.Fatal(listed, err)
	}
	found, err := iceberg.ReadManifest(listed[0], bytes.NewReader(data), false)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, e := range found {
		line := theirLine(e, of.Specs[head.Spec.ID], head.Spec.ID)
		if line.firstRow != nil && *line.firstRow >= 1<<50 {
			line.firstRow = nil
		}
		theirs = append(theirs, line.String())
	}
	if !slices.Equal(theirs, want) {
		t.Errorf("%s: iceberg-go reads\n%s\nwant\n%s", name, strings.Join(theirs, "\n"), strings.Join(want, "\n"))
	}
}
