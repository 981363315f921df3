package avro

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzReader reads bytes that may be anything. It must end, in an error or not.
func FuzzReader(f *testing.F) {
	for _, codec := range codecs {
		f.Add(sample(f, codec))
	}
	for _, pattern := range []string{"dels/v2to3/metadata/*.avro", "keys/*/metadata/snap-*.avro", "broken/cut_*/metadata/*.avro", "py/bk/metadata/*.avro"} {
		files, err := filepath.Glob(filepath.Join(goldenFolder, pattern))
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds at %s: %v", pattern, err)
		}
		for _, file := range files[:min(len(files), 4)] {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = readAll(data)
	})
}

// FuzzValues reads values of a schema that may be anything, too.
func FuzzValues(f *testing.F) {
	f.Add([]byte(allTypes), []byte{1, 2, 3})
	f.Add([]byte(`{"type": "array", "items": {"type": "map", "values": ["null", "bytes"]}}`), []byte{3, 8, 2, 'a', 0, 0})
	f.Fuzz(func(t *testing.T, schema, data []byte) {
		s, err := ParseSchema(schema)
		if err != nil {
			return
		}
		d := NewDecoder(data)
		d.Skip(s)
		if d.Offset() > len(data) {
			t.Errorf("read %d bytes of %d", d.Offset(), len(data))
		}
	})
}
