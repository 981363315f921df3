package commit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// memTable is a table whose versions are in memory, and its manifests on disk.
type memTable struct {
	files fileio.Files

	mu      sync.Mutex
	current *Version
	before  func() // called once, before the next publish
	lost    bool   // the next answer of publish is lost
}

// newTable makes an empty table of one column, the int p, which the transforms partition by.
func newTable(t testing.TB, format int, transforms ...string) *memTable {
	t.Helper()
	m := &memTable{files: fileio.Disk{}, current: &Version{
		Format: format, Folder: t.TempDir(), Specs: map[catalog.SpecID]catalog.PartitionSpec{}, SpecJSON: map[catalog.SpecID]string{},
		SchemaJSON: `{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"p","required":false,"type":"int"}]}`,
		Properties: map[string]string{}, Refs: map[string]Ref{},
	}}
	m.addSpec(t, transforms...)
	return m
}

// addSpec gives the table one spec more.
func (m *memTable) addSpec(t testing.TB, transforms ...string) {
	t.Helper()
	next := *m.current
	id := catalog.SpecID(len(next.Specs))
	spec := catalog.PartitionSpec{ID: id}
	json := ""
	for i, text := range transforms {
		fn, err := transform.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		f := catalog.PartitionField{
			ID: catalog.PartitionFieldID(1000 + 10*int(id) + i), Name: fmt.Sprintf("p%d", i), Sources: []catalog.FieldID{1}, Transform: fn,
			SourceType: transform.Type{Kind: transform.Int},
		}
		spec.Fields = append(spec.Fields, f)
		if i > 0 {
			json += ","
		}
		json += fmt.Sprintf(`{"name":"%s","transform":"%s","source-id":1,"field-id":%d}`, f.Name, text, f.ID)
	}
	next.Specs, next.SpecJSON = maps.Clone(next.Specs), maps.Clone(next.SpecJSON)
	next.Specs[id], next.SpecJSON[id] = spec, "["+json+"]"
	m.current = &next
}

func (m *memTable) setProperty(name, value string) {
	next := *m.current
	next.Properties = maps.Clone(next.Properties)
	next.Properties[name] = value
	m.current = &next
}

func (m *memTable) Files() fileio.Files { return m.files }

func (m *memTable) Newest(ctx context.Context) (*Version, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current, ctx.Err()
}

func (m *memTable) Publish(ctx context.Context, on *Version, s *NewSnapshot, branch string) error {
	m.mu.Lock()
	before := m.before
	m.before = nil
	m.mu.Unlock()
	if before != nil {
		before()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.current != on {
		return errs.New(errs.Conflict, "publish", "t", "another version is current")
	}
	next := *on
	list, files := s.List, m.files
	next.Snapshots = append(slices.Clone(on.Snapshots), &OldSnapshot{
		ID: s.ID, Parent: s.Parent, Operation: s.Operation, Summary: s.Summary,
		Manifests: func(ctx context.Context) ([]manifest.Info, error) { return manifest.ReadList(ctx, files, list) },
	})
	next.Refs = maps.Clone(on.Refs)
	if branch != "" {
		next.Refs[branch] = Ref{Snapshot: s.ID}
	}
	next.LastUpdated = s.TimestampMs
	if on.Format > 1 {
		next.Sequence = s.Sequence
	}
	if on.Format > 2 {
		next.NextRowID += *s.AddedRows
	}
	m.current = &next
	if m.lost {
		m.lost = false
		return &errs.Error{Kind: errs.CommitUnknown, Op: "publish", Object: "t", Msg: "the answer is lost"}
	}
	return nil
}

// head returns the snapshot that a branch is at, nil for none.
func (m *memTable) head(branch string) *OldSnapshot {
	ref, ok := m.current.Refs[branch]
	if !ok {
		return nil
	}
	return m.current.snapshot(ref.Snapshot)
}

// entries returns the live entries of a snapshot by their paths, data files and delete files.
func (m *memTable) entries(t testing.TB, s *OldSnapshot) map[string]*manifest.Entry {
	t.Helper()
	out := map[string]*manifest.Entry{}
	m.visit(t, s, func(_ manifest.Info, e *manifest.Entry) {
		if !e.IsLive() {
			return
		}
		if _, twice := out[e.Path+e.Referenced]; twice {
			t.Errorf("%s is there twice", e.Path)
		}
		out[e.Path+e.Referenced] = e
	})
	return out
}

func (m *memTable) visit(t testing.TB, s *OldSnapshot, visit func(manifest.Info, *manifest.Entry)) {
	t.Helper()
	if s == nil {
		return
	}
	list, err := s.Manifests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reader := manifest.NewReader(m.files, m.current.Specs)
	for i := range list {
		err := reader.Visit(t.Context(), &list[i], manifest.StatColumns{All: true}, func(e *manifest.Entry) error {
			visit(list[i], e.Clone())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// apply commits a change that was decided on the current head of main.
func (m *memTable) apply(t testing.TB, c Change) (Result, error) {
	t.Helper()
	if head := m.head("main"); head != nil && c.Base == nil {
		id := catalog.SnapshotID(head.ID)
		c.Base = &id
	}
	return Apply(t.Context(), m, "t", m.current, c)
}

func (m *memTable) must(t testing.TB, c Change) Result {
	t.Helper()
	done, err := m.apply(t, c)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// file is a data file of the first spec and a partition.
func file(path string, partition ...transform.Value) manifest.File {
	return manifest.File{Path: path, Format: catalog.Parquet, Partition: partition, Rows: 10, Bytes: 100}
}
