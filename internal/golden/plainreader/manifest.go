package plainreader

import (
	"fmt"
	"strconv"
)

// The values of a manifest entry's status.
const (
	statusAdded   = 1
	statusDeleted = 2
)

// The field IDs of a manifest list's and of a manifest's entries.
const (
	listPath     = 500
	listSpec     = 502
	listSequence = 515
	listFirstRow = 520

	entryStatus   = 0
	entryFile     = 2
	entrySequence = 3
)

// manifest is what the manifest list says of a manifest.
type manifest struct {
	path     string
	spec     *int64 // nil: the manifest itself knows
	sequence int64
	firstRow *int64
}

// manifests returns a snapshot's manifests. Version 1 has no sequence numbers, and may have no list.
func (t *Table) manifests(s *snapshot) ([]manifest, error) {
	var out []manifest
	if s.ManifestList == "" {
		for _, path := range s.Manifests {
			out = append(out, manifest{path: path})
		}
		return out, nil
	}
	entries, _, err := readAvro(t.Local(s.ManifestList), nil)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.ManifestList, err)
	}
	for _, e := range entries {
		m := manifest{path: e.text(listPath), sequence: e.wholeOr(listSequence, 0)}
		if id, ok := e.whole(listSpec); ok {
			m.spec = &id
		}
		if first, ok := e.whole(listFirstRow); ok {
			m.firstRow = &first
		}
		out = append(out, m)
	}
	return out, nil
}

// addFiles adds a manifest's live files.
func (t *Table) addFiles(m manifest) error {
	entries, header, err := readAvro(t.Local(m.path), nil)
	if err != nil {
		return fmt.Errorf("read %s: %w", m.path, err)
	}
	id, _ := strconv.Atoi(string(header["partition-spec-id"]))
	if m.spec != nil {
		id = int(*m.spec)
	}
	spec, err := t.meta.spec(id)
	if err != nil {
		return fmt.Errorf("read %s: %w", m.path, err)
	}
	for _, e := range entries {
		status := e.wholeOr(entryStatus, -1)
		in, ok := e[entryFile].(record)
		if !ok || in.text(filePath) == "" || status < 0 {
			return fmt.Errorf("%s has an entry without a file or a status", m.path)
		}
		if status == statusDeleted {
			continue
		}
		f := newFile(in, spec)
		// Only what a commit adds inherits its number: before the numbers there were none, which is to say 0.
		if f.sequence, ok = e.whole(entrySequence); !ok && status == statusAdded {
			f.sequence = m.sequence
		}
		if f.content != contentData {
			t.deletes = append(t.deletes, f)
			continue
		}
		if f.firstRow == nil && m.firstRow != nil {
			first, next := *m.firstRow, *m.firstRow+f.Rows
			f.firstRow, m.firstRow = &first, &next
		}
		t.Files = append(t.Files, f)
	}
	return nil
}
