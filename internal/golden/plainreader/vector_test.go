package plainreader

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func le(n int, sizes ...int) []byte {
	size := 2
	if len(sizes) > 0 {
		size = sizes[0]
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(n))[:size]
}

// bitmap is a Roaring bitmap of two halves, written by hand: under 0 a list and all even values below 65536, without runs;
// under 1 a run, a list and two more lists, so that there are offsets.
func bitmap() []byte {
	var even []byte
	for range 8192 {
		even = append(even, 0x55)
	}
	return slices.Concat(le(2, 8),
		le(0, 4), le(cookiePlain, 4), le(2, 4), le(0), le(1), le(1), le(32767), le(0, 4), le(0, 4), le(5), le(65535), even,
		le(1, 4), le(cookieRuns|3<<16, 4), []byte{0b0001},
		le(0), le(3), le(1), le(0), le(2), le(0), le(65535), le(0), le(0, 4), le(0, 4), le(0, 4), le(0, 4),
		le(2), le(10), le(1), le(20), le(1), le(7), le(8), le(9))
}

// vectorFile writes a deletion vector behind three other bytes.
func vectorFile(t *testing.T, body []byte) string {
	path := filepath.Join(t.TempDir(), "v.puffin")
	data := append([]byte("abc"), binary.BigEndian.AppendUint32(nil, uint32(len(body)))...)
	data = append(data, body...)
	data = binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(body))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readBody(t *testing.T, body []byte, rows int64) (map[int64]bool, error) {
	table := &Table{}
	return table.readVector(File{Path: vectorFile(t, body), Rows: rows, offset: 3, size: int64(len(body) + 8)})
}

func TestVector(t *testing.T) {
	got, err := readBody(t, append([]byte(vectorMagic), bitmap()...), 2+32768+7)
	if err != nil {
		t.Fatal(err)
	}
	high := int64(1) << 32
	for _, at := range []int64{
		5, 65535, 65536, 65536 + 65534, high + 10, high + 11, high + 20, high + 21, high + 65536 + 7, high + 2*65536 + 8,
		high + 65535*65536 + 9,
	} {
		if !got[at] {
			t.Errorf("%d isn't there", at)
		}
	}
	for _, at := range []int64{0, 6, 65537, high + 9, high + 12, high + 65536 + 8} {
		if got[at] {
			t.Errorf("%d is there", at)
		}
	}
}

func TestBrokenVectors(t *testing.T) {
	whole := append([]byte(vectorMagic), bitmap()...)
	for name, c := range map[string]struct {
		body []byte
		rows int64
		want string
	}{
		"count":   {whole, 1, "its manifest says 1"},
		"cut":     {whole[:len(whole)-1], 2 + 32768 + 7, "length"},
		"longer":  {append(slices.Clone(whole), 0), 2 + 32768 + 7, "length"},
		"magic":   {append([]byte("none"), bitmap()...), 2 + 32768 + 7, "magic"},
		"cookie":  {slices.Concat([]byte(vectorMagic), le(1, 8), le(0, 4), le(1, 4)), 0, "begins with 1"},
		"endless": {slices.Concat([]byte(vectorMagic), le(-1, 8)), 0, "broken"},
	} {
		if _, err := readBody(t, c.body, c.rows); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, wanted one that says %q", name, err, c.want)
		}
	}
	table := &Table{}
	if _, err := table.readVector(File{Path: vectorFile(t, whole), offset: 3, size: 1 << 40}); err == nil {
		t.Error("a vector reaches beyond its file")
	}
}
