package plainreader

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// metadata is the part of a table's metadata file that is read.
type metadata struct {
	CurrentSnapshot *int64     `json:"current-snapshot-id"`
	CurrentSchema   int        `json:"current-schema-id"`
	Schema          *schema    `json:"schema"` // version 1
	Schemas         []schema   `json:"schemas"`
	Snapshots       []snapshot `json:"snapshots"`
}

type schema struct {
	ID     int     `json:"schema-id"`
	Fields []field `json:"fields"`
}

type field struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Type any    `json:"type"`
}

type snapshot struct {
	ID           int64    `json:"snapshot-id"`
	ManifestList string   `json:"manifest-list"`
	Manifests    []string `json:"manifests"` // version 1 without a list
}

// versionName takes v3.metadata.json, v3.gz.metadata.json and 00003-<uuid>.metadata.json.
var versionName = regexp.MustCompile(`^v?(\d+)[-.].*metadata\.json(\.gz)?$`)

// newest returns the table's metadata file of the highest version.
func newest(folder string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(folder, "metadata"))
	if err != nil {
		return "", err
	}
	best, name := -1, ""
	for _, e := range entries {
		m := versionName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		if n, _ := strconv.Atoi(m[1]); n > best {
			best, name = n, e.Name()
		}
	}
	if name == "" {
		return "", fmt.Errorf("%s has no metadata file", folder)
	}
	return filepath.Join(folder, "metadata", name), nil
}

func readMetadata(path string) (*metadata, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.Contains(filepath.Base(path), ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	m := &metadata{}
	return m, json.NewDecoder(in).Decode(m)
}

// columns returns the current schema's columns.
func (m *metadata) columns() ([]field, error) {
	for _, s := range m.Schemas {
		if s.ID == m.CurrentSchema {
			return s.Fields, nil
		}
	}
	if m.Schema == nil || len(m.Schemas) > 0 {
		return nil, fmt.Errorf("there is no schema %d", m.CurrentSchema)
	}
	return m.Schema.Fields, nil
}

// snapshot returns the current snapshot, nil when there is none.
func (m *metadata) snapshot() (*snapshot, error) {
	if m.CurrentSnapshot == nil || *m.CurrentSnapshot == -1 {
		return nil, nil
	}
	for i := range m.Snapshots {
		if m.Snapshots[i].ID == *m.CurrentSnapshot {
			return &m.Snapshots[i], nil
		}
	}
	return nil, fmt.Errorf("there is no snapshot %d", *m.CurrentSnapshot)
}
