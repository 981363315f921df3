package plainreader

import (
	"fmt"
	"os"

	"github.com/hamba/avro/v2/ocf"
)

// File is a live data file: where it lies, how many rows its manifest claims, and its partition tuple by field name.
type File struct {
	Path      string // as the metadata says
	Rows      int64
	Partition map[string]any
}

// The values of a manifest entry's status and of a file's content.
const (
	statusDeleted = 2
	contentData   = 0
)

// records calls use for each record of an Avro file.
func records(path string, use func(map[string]any) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	dec, err := ocf.NewDecoder(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	for dec.HasNext() {
		var r map[string]any
		if err := dec.Decode(&r); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if err := use(r); err != nil {
			return err
		}
	}
	return dec.Error()
}

// whole returns an integer of a record, which may be absent.
func whole(v any) int64 {
	switch n := v.(type) {
	case int:
		return int64(n)
	case int32:
		return int64(n)
	case int64:
		return n
	}
	return 0
}

// manifests returns the paths of a snapshot's manifests.
func (t *Table) manifests(s *snapshot) ([]string, error) {
	if s.ManifestList == "" {
		return s.Manifests, nil
	}
	var out []string
	err := records(t.Local(s.ManifestList), func(r map[string]any) error {
		path, ok := r["manifest_path"].(string)
		if !ok {
			return fmt.Errorf("%s has an entry without a path", s.ManifestList)
		}
		out = append(out, path)
		return nil
	})
	return out, err
}

// liveFiles adds a manifest's live data files.
func (t *Table) liveFiles(manifest string) error {
	return records(t.Local(manifest), func(r map[string]any) error {
		if whole(r["status"]) == statusDeleted {
			return nil
		}
		f, ok := r["data_file"].(map[string]any)
		if !ok {
			return fmt.Errorf("%s has an entry without a file", manifest)
		}
		path, _ := f["file_path"].(string)
		if whole(f["content"]) != contentData {
			return fmt.Errorf("%w: %s is a delete file", ErrUnknown, path)
		}
		if format, _ := f["file_format"].(string); format != "PARQUET" && format != "parquet" {
			return fmt.Errorf("%w: %s has the format %s", ErrUnknown, path, format)
		}
		tuple, _ := f["partition"].(map[string]any)
		t.Files = append(t.Files, File{Path: path, Rows: whole(f["record_count"]), Partition: tuple})
		return nil
	})
}
