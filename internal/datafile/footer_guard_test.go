package datafile

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/seed"
)

// goldenFiles are tables that other engines wrote.
const goldenFiles = "../../testdata/golden/warehouse"

// memFile is a file in memory.
type memFile struct{ *strings.Reader }

func (memFile) Close() error { return nil }

func footerFile(footer []byte) fileio.File {
	data := append([]byte("PAR1"), footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	return memFile{strings.NewReader(string(data) + "PAR1")}
}

// footerOf returns the footer of a file.
func footerOf(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := len(data) - 8
	return data[end-int(binary.LittleEndian.Uint32(data[end:])) : end]
}

// schemaElement writes an element of a schema in Thrift's compact protocol: its name and its count of children.
func schemaElement(children uint64) []byte {
	return binary.AppendUvarint([]byte{0x48, 1, 'a', 0x15}, children<<1)
}

func TestHostileFooters(t *testing.T) {
	list := func(field byte, size uint64) []byte {
		return binary.AppendUvarint([]byte{field<<4 | thriftList, 0xf0 | thriftStruct}, size)
	}
	elements := func(n uint64, children uint64) []byte {
		out := list(2, n)
		for range n {
			out = append(append(out, schemaElement(children)...), 0)
		}
		return append(out, 0)
	}
	for name, footer := range map[string][]byte{
		"endless list":       list(2, 1<<31),
		"endless row groups": append(elements(1, 0)[:8:8], list(2, 1<<62)...),
		"endless text":       binary.AppendUvarint([]byte{6<<4 | thriftBinary}, 1<<40),
		"endless group":      append(append(list(2, 1), schemaElement(1<<30)...), 0, 0),
		"negative group":     append(append(list(2, 1), schemaElement(1<<63-1)...), 0, 0),
		"deep schema":        elements(5000, 1),
		"two roots":          elements(2, 0),
		"no schema":          {0},
		"deep structs":       slices.Repeat([]byte{0x1c}, 1<<20),
		"deep lists":         append([]byte{0x19}, slices.Repeat([]byte{0x19}, 1<<20)...),
		"unknown type":       {0x1f},
		"a map":              {0x1b, 0},
		"cut":                {0x15},
		"endless number":     append([]byte{0x16}, slices.Repeat([]byte{0xff}, 30)...),
		"unfinished":         list(2, 0),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := parseFooter(footerFile(footer), "the file")
		runtime.ReadMemStats(&after)
		wantError(t, name, err, errs.Corrupt, "the file")
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
			t.Errorf("%s: %d bytes make it allocate %d", name, len(footer), grown)
		}
	}
}

// TestDamagedFooterBytes changes bytes of real footers.
func TestDamagedFooterBytes(t *testing.T) {
	rng := seed.Rand(t)
	paths, _ := filepath.Glob(goldenFiles + "/sch/*/data/*.parquet")
	if len(paths) < 5 {
		t.Fatal("no files")
	}
	for _, path := range paths {
		footer := footerOf(t, path)
		if _, foot, err := parseFooter(footerFile(footer), "the file"); err != nil || foot.facts.encrypted || foot.facts.bareLists || foot.facts.geo {
			t.Errorf("%s: %v, %+v", path, err, foot.facts)
		}
		for range 300 {
			damaged := slices.Clone(footer)
			for range 1 + rng.IntN(3) {
				damaged[rng.IntN(len(damaged))] = byte(rng.Uint32())
			}
			_, foot, err := parseFooter(footerFile(damaged), "the file")
			if err != nil {
				if errs.KindOf(err) != errs.Corrupt {
					t.Errorf("%s: %v (%v)", path, err, errs.KindOf(err))
				}
				continue
			}
			nodesOf(foot.schema)
		}
	}
}

func TestFooterFacts(t *testing.T) {
	for name, codec := range map[string]uint32{"snappy": 1, "gzip": 2, "zstd": 6, "uncompressed": 0, "lz4": 5} {
		paths, _ := filepath.Glob(goldenFiles + "/wr/" + name + "/data/*/*.parquet")
		facts, err := checkFooter(footerOf(t, paths[0]))
		if err != nil || facts != (footerFacts{codecs: 1 << codec}) {
			t.Errorf("%s: %+v, %v", name, facts, err)
		}
	}
	for want, facts := range map[string]footerFacts{
		"": {codecs: 1<<codecLZ4 | 1}, "LZO": {codecs: 1 << codecLZO}, "number 8": {codecs: 1<<8 | 1}, "encrypted": {encrypted: true},
	} {
		wantError(t, want, facts.refusal(), errs.Unsupported, want)
	}
	// A root of one group, which is marked as a list by its logical type (field 10), and maybe by its converted type (field 6).
	isList := []byte{0x3c, 0, 0}
	leaf := append(schemaElement(0), 0)
	for want, marks := range map[bool][]byte{true: append([]byte{0x5c}, isList...), false: append([]byte{0x15, 6, 0x4c}, isList...)} {
		footer := append(schemaElement(1), 0)
		footer = append(append(append(footer, schemaElement(1)...), marks...), 0)
		footer = append([]byte{2<<4 | thriftList, 3<<4 | thriftStruct}, append(append(footer, leaf...), 0)...)
		if facts, err := checkFooter(footer); err != nil || facts.bareLists != want {
			t.Errorf("%x: %+v, %v", footer, facts, err)
		}
	}
	kv := []byte{5<<4 | thriftList, 1<<4 | thriftStruct, 0x18, 3, 'g', 'e', 'o', 0x18, 1, 'x', 0, 0}
	if facts, err := checkFooter(append([]byte{2<<4 | thriftList, 1<<4 | thriftStruct, 0x48, 1, 'a', 0}, append([]byte{3<<4 | thriftList}, kv[1:]...)...)); err != nil || !facts.geo {
		t.Errorf("%+v, %v", facts, err)
	}
}
