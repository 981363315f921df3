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
	Version         int               `json:"format-version"`
	CurrentSnapshot *int64            `json:"current-snapshot-id"`
	CurrentSchema   int               `json:"current-schema-id"`
	Schema          *schema           `json:"schema"` // version 1
	Schemas         []schema          `json:"schemas"`
	Spec            []specField       `json:"partition-spec"` // version 1
	Specs           []spec            `json:"partition-specs"`
	Snapshots       []snapshot        `json:"snapshots"`
	Log             []logEntry        `json:"snapshot-log"`
	Refs            map[string]ref    `json:"refs"`
	Properties      map[string]string `json:"properties"`
}

type schema struct {
	ID     int     `json:"schema-id"`
	Fields []field `json:"fields"`
}

type spec struct {
	ID     int         `json:"spec-id"`
	Fields []specField `json:"fields"`
}

type specField struct {
	Source    int    `json:"source-id"`
	ID        int    `json:"field-id"`
	Name      string `json:"name"`
	Transform string `json:"transform"`
}

type snapshot struct {
	ID           int64    `json:"snapshot-id"`
	Schema       *int     `json:"schema-id"`
	ManifestList string   `json:"manifest-list"`
	Manifests    []string `json:"manifests"` // version 1 without a list
}

type logEntry struct {
	Time     int64 `json:"timestamp-ms"`
	Snapshot int64 `json:"snapshot-id"`
}

type ref struct {
	Snapshot int64  `json:"snapshot-id"`
	Type     string `json:"type"`
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
	if err := json.NewDecoder(in).Decode(m); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if m.Version < 1 || m.Version > 3 {
		return nil, fmt.Errorf("%w: %s has the format version %d", ErrUnknown, path, m.Version)
	}
	m.modernize()
	return m, nil
}

// modernize brings metadata of version 1 into the form of the later ones.
func (m *metadata) modernize() {
	if len(m.Schemas) == 0 && m.Schema != nil {
		m.Schemas, m.CurrentSchema = []schema{*m.Schema}, m.Schema.ID
	}
	if len(m.Specs) == 0 {
		m.Specs = []spec{{Fields: m.Spec}}
	}
	for _, s := range m.Specs {
		for i := range s.Fields {
			if s.Fields[i].ID == 0 {
				s.Fields[i].ID = 1000 + i // what the spec says of fields without an ID
			}
		}
	}
}

// columns returns a schema's columns.
func (m *metadata) columns(id int) ([]field, error) {
	for _, s := range m.Schemas {
		if s.ID == id {
			return s.Fields, nil
		}
	}
	return nil, fmt.Errorf("there is no schema %d", id)
}

func (m *metadata) snapshot(id int64) (*snapshot, error) {
	for i := range m.Snapshots {
		if m.Snapshots[i].ID == id {
			return &m.Snapshots[i], nil
		}
	}
	return nil, fmt.Errorf("there is no snapshot %d", id)
}

func (m *metadata) spec(id int) (spec, error) {
	for _, s := range m.Specs {
		if s.ID == id {
			return s, nil
		}
	}
	return spec{}, fmt.Errorf("there is no partition spec %d", id)
}

// everPath returns the path to a field of the columns, or, when it was dropped, of the latest schema that has it.
func (m *metadata) everPath(columns []field, id int) ([]field, error) {
	path, latest := pathTo(columns, id), -1
	if path != nil {
		return path, nil
	}
	for _, s := range m.Schemas {
		if p := pathTo(s.Fields, id); p != nil && s.ID > latest {
			path, latest = p, s.ID
		}
	}
	if path == nil {
		return nil, fmt.Errorf("no schema has a field %d", id)
	}
	return path, nil
}
