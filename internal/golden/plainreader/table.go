package plainreader

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ErrUnknown says that a table has something that isn't read here.
var ErrUnknown = errors.New("not known to the plain reader")

// Table is a snapshot of a table, seen with a schema.
type Table struct {
	Names     []string // of its columns
	Files     []File   // the live data files
	deletes   []File
	columns   []field
	mapping   []mapped
	meta      *metadata
	warehouse string
}

// Open reads the current snapshot, with the current schema, of the table that lies in a folder of the warehouse. Metadata
// calls the warehouse /warehouse.
func Open(warehouse, folder string) (*Table, error) {
	path, err := newest(filepath.Join(warehouse, folder))
	if err != nil {
		return nil, err
	}
	m, err := readMetadata(path)
	if err != nil {
		return nil, err
	}
	t := &Table{warehouse: warehouse, meta: m}
	if t.mapping, err = m.nameMapping(); err != nil {
		return nil, err
	}
	if m.CurrentSnapshot == nil || *m.CurrentSnapshot == -1 {
		return t.with(nil, m.CurrentSchema)
	}
	s, err := m.snapshot(*m.CurrentSnapshot)
	if err != nil {
		return nil, err
	}
	return t.with(s, m.CurrentSchema)
}

// Snapshots returns the IDs of the table's snapshots.
func (t *Table) Snapshots() []int64 {
	var out []int64
	for _, s := range t.meta.Snapshots {
		out = append(out, s.ID)
	}
	return out
}

// Refs returns the names of the table's branches and tags.
func (t *Table) Refs() []string {
	var out []string
	for name := range t.meta.Refs {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// At returns a snapshot of the table, with the snapshot's schema.
func (t *Table) At(id int64) (*Table, error) {
	s, err := t.meta.snapshot(id)
	if err != nil {
		return nil, err
	}
	if s.Schema == nil {
		return t.with(s, t.meta.CurrentSchema)
	}
	return t.with(s, *s.Schema)
}

// AtRef returns the snapshot of a tag, with the snapshot's schema, or that of a branch, with the table's.
func (t *Table) AtRef(name string) (*Table, error) {
	r, ok := t.meta.Refs[name]
	if !ok {
		return nil, fmt.Errorf("there is no ref %s", name)
	}
	if r.Type == "tag" {
		return t.At(r.Snapshot)
	}
	s, err := t.meta.snapshot(r.Snapshot)
	if err != nil {
		return nil, err
	}
	return t.with(s, t.meta.CurrentSchema)
}

// AtTime returns the snapshot that was the current one at a time, in milliseconds since 1970, with the snapshot's schema.
func (t *Table) AtTime(ms int64) (*Table, error) {
	var found *logEntry
	for i, e := range t.meta.Log {
		if e.Time <= ms {
			found = &t.meta.Log[i]
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there was no snapshot at %d", ms)
	}
	return t.At(found.Snapshot)
}

// Lineage returns the table with the columns of row lineage behind its own.
func (t *Table) Lineage() *Table {
	out := *t
	for _, f := range []field{{ID: fieldRowID, Name: "_row_id"}, {ID: fieldLastUpdated, Name: "_last_updated_sequence_number"}} {
		f.Type.name = "long"
		out.Names = append(slices.Clip(out.Names), f.Name)
		out.columns = append(slices.Clip(out.columns), f)
	}
	return &out
}

// with returns the table at a snapshot, nil for none, with a schema.
func (t *Table) with(s *snapshot, schema int) (*Table, error) {
	out := &Table{warehouse: t.warehouse, meta: t.meta, mapping: t.mapping}
	var err error
	if out.columns, err = t.meta.columns(schema); err != nil {
		return nil, err
	}
	for _, f := range out.columns {
		out.Names = append(out.Names, f.Name)
	}
	if s == nil {
		return out, nil
	}
	manifests, err := out.manifests(s)
	if err != nil {
		return nil, err
	}
	for _, m := range manifests {
		if err := out.addFiles(m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Local returns where a path of the metadata lies.
func (t *Table) Local(path string) string {
	path = "/" + strings.TrimLeft(strings.TrimPrefix(path, "file:"), "/")
	return t.warehouse + strings.TrimPrefix(path, "/warehouse")
}
