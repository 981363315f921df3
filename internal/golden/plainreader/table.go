package plainreader

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tarndb/tarn/internal/golden"
)

// ErrUnknown says that a table has something that isn't read here.
var ErrUnknown = errors.New("not known to the plain reader")

// Table is the current snapshot of a table.
type Table struct {
	Names     []string // of its columns
	Files     []File
	columns   []field
	warehouse string
}

// Open reads the metadata of the table that lies in a folder of the warehouse. Metadata calls the warehouse /warehouse.
func Open(warehouse, folder string) (*Table, error) {
	path, err := newest(filepath.Join(warehouse, folder))
	if err != nil {
		return nil, err
	}
	m, err := readMetadata(path)
	if err != nil {
		return nil, err
	}
	t := &Table{warehouse: warehouse}
	if t.columns, err = m.columns(); err != nil {
		return nil, err
	}
	for _, f := range t.columns {
		t.Names = append(t.Names, f.Name)
	}
	s, err := m.snapshot()
	if err != nil || s == nil {
		return t, err
	}
	manifests, err := t.manifests(s)
	if err != nil {
		return nil, err
	}
	for _, path := range manifests {
		if err := t.liveFiles(path); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Local returns where a path of the metadata lies.
func (t *Table) Local(path string) string {
	path = "/" + strings.TrimLeft(strings.TrimPrefix(path, "file:"), "/")
	return t.warehouse + strings.TrimPrefix(path, "/warehouse")
}

// Rows reads all rows of all files, in the order of Names.
func (t *Table) Rows(ctx context.Context) ([]golden.Row, error) {
	var out []golden.Row
	for _, f := range t.Files {
		rows, err := t.readFile(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Path, err)
		}
		if int64(len(rows)) != f.Rows {
			return nil, fmt.Errorf("%s has %d rows, its manifest says %d", f.Path, len(rows), f.Rows)
		}
		out = append(out, rows...)
	}
	return out, nil
}
