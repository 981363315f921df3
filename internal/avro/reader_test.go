package avro

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hamba/avro/v2/ocf"

	"github.com/tarndb/tarn/internal/errs"
)

const goldenFolder = "../../testdata/golden/warehouse"

// readAll skips over all objects of a file and returns how many there are.
func readAll(data []byte) (objects int, err error) {
	r, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	schema, err := r.Schema()
	if err != nil {
		return 0, err
	}
	for r.Next() {
		r.Decoder().Skip(schema)
		objects++
	}
	return objects, r.Err()
}

// TestGoldenFiles counts the objects of every Avro file of the golden tables as another reader does.
func TestGoldenFiles(t *testing.T) {
	files, cut := 0, 0
	err := filepath.WalkDir(goldenFolder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".avro" {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		got, err := readAll(data)
		if err != nil && strings.Contains(path, "/broken/cut_") {
			cut++
			return nil
		}
		if want := countObjects(t, data); err != nil || got != want {
			t.Errorf("%s: %d objects, %v, want %d", path, got, err, want)
		}
		return nil
	})
	if err != nil || files < 100 || cut != 2 {
		t.Errorf("%d files, %d of them cut, %v", files, cut, err)
	}
}

func countObjects(t *testing.T, data []byte) (n int) {
	t.Helper()
	d, err := ocf.NewDecoder(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for d.HasNext() {
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// allTypes has every kind of schema, and what Iceberg adds to them.
const allTypes = `{"type": "record", "name": "r", "namespace": "n", "fields": [
	{"name": "flag", "type": "boolean", "field-id": 1},
	{"name": "i", "type": {"type": "int", "logicalType": "date"}, "field-id": 2},
	{"name": "l", "type": "long", "field-id": 3},
	{"name": "f", "type": "float", "field-id": 4},
	{"name": "d", "type": "double", "field-id": 5},
	{"name": "b", "type": "bytes", "field-id": 6},
	{"name": "s", "type": ["null", "string"], "field-id": 7},
	{"name": "x", "type": {"type": "fixed", "name": "dec", "size": 3, "logicalType": "decimal", "precision": 5, "scale": 2}, "field-id": 8},
	{"name": "e", "type": {"type": "enum", "name": "colour", "symbols": ["RED", "BLUE"]}},
	{"name": "a", "type": {"type": "array", "items": "long", "element-id": 9}, "field-id": 10},
	{"name": "m", "type": {"type": "map", "values": "n.dec", "key-id": 11, "value-id": 12}, "field-id": 13},
	{"name": "nothing", "type": "null"}
]}`

// sample has two records of allTypes.
func sample(t testing.TB, codec ocf.CodecName) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := ocf.NewEncoder(allTypes, &out, ocf.WithCodec(codec), ocf.WithSchemaMarshaler(ocf.FullSchemaMarshaler), ocf.WithMetadata(map[string][]byte{"content": []byte("data")}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		text := "text"
		err := w.Encode(map[string]any{
			"flag": true, "i": 300, "l": int64(-1) << 40, "f": float32(1.5), "d": -2.5, "b": []byte{0, 255}, "s": map[string]any{"string": text},
			"x": [3]byte{1, 2, 3}, "e": "BLUE", "a": []int64{1, int64(i)}, "m": map[string]any{"k": [3]byte{9}}, "nothing": nil,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var codecs = []ocf.CodecName{ocf.Null, ocf.Deflate, ocf.Snappy, ocf.ZStandard}

func TestValuesOfAllTypes(t *testing.T) {
	for _, codec := range codecs {
		data := sample(t, codec)
		r, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		s, err := r.Schema()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if !r.Next() {
				t.Fatalf("%s: no object %d: %v", codec, i, r.Err())
			}
			want := fmt.Sprintf("true 300 %d 1.5 -2.5 00ff text 010203 1 [1 %d] map[k:090000]", int64(-1)<<40, i)
			if got := readSample(r.Decoder(), s); got != want || r.Decoder().Err() != nil {
				t.Errorf("%s: got %s, %v", codec, got, r.Decoder().Err())
			}
		}
		if r.Next() || r.Err() != nil {
			t.Errorf("%s: at the end %v", codec, r.Err())
		}
	}
}

func readSample(d *Decoder, s *Schema) string {
	flag, i, l, f, b64, bytes := d.Boolean(), d.Int(), d.Long(), d.Float(), d.Double(), d.Bytes()
	text := ""
	if o, ok := s.Fields[6].Type.Optional(); ok && d.Present(o) {
		text = string(d.Bytes())
	}
	fixed, symbol := d.Fixed(s.Fields[7].Type.Size), d.Int()
	var list []int64
	for it := d.Items(s.Fields[9].Type); it.Next(); {
		list = append(list, d.Long())
	}
	m := map[string]string{}
	for it := d.Items(s.Fields[10].Type); it.Next(); {
		key := string(d.Bytes())
		m[key] = fmt.Sprintf("%x", d.Fixed(3))
	}
	return fmt.Sprintf("%v %d %d %v %v %x %s %x %d %v %v", flag, i, l, f, b64, bytes, text, fixed, symbol, list, m)
}

// TestCutFiles cuts a file everywhere. Only a cut between blocks can go unseen, and there is none here.
func TestCutFiles(t *testing.T) {
	for _, codec := range codecs {
		data := sample(t, codec)
		for n := range data {
			objects, err := readAll(data[:n])
			if err == nil && objects != 0 {
				t.Errorf("%s: %d of %d bytes read as %d objects", codec, n, len(data), objects)
			}
		}
		if objects, err := readAll(data); err != nil || objects != 2 {
			t.Errorf("%s: %d objects, %v", codec, objects, err)
		}
		long := append(bytes.Clone(data), 0)
		if _, err := readAll(long); err == nil {
			t.Errorf("%s: a byte after the last block goes unseen", codec)
		}
	}
}

func TestCodecs(t *testing.T) {
	data := bytes.Replace(sample(t, ocf.Null), []byte("\x08null"), []byte("\x08lzma"), 1)
	if _, err := readAll(data); errs.KindOf(err) != errs.Unsupported || !strings.Contains(err.Error(), "lzma") {
		t.Errorf("an unknown codec: %v", err)
	}
	data = sample(t, ocf.Snappy)
	data[len(data)-syncSize-1] ^= 1
	if _, err := readAll(data); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a wrong checksum: %v", err)
	}
	data = sample(t, ocf.Null)
	data[len(data)-1] ^= 1
	if _, err := readAll(data); err == nil || !strings.Contains(err.Error(), "sync marker") {
		t.Errorf("a wrong sync marker: %v", err)
	}
}

var errDisk = errors.New("the disk is gone")

type brokenDisk struct{}

func (brokenDisk) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

func TestReadErrorsPassThrough(t *testing.T) {
	if _, err := Open(brokenDisk{}, 100); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	data := sample(t, ocf.Null)
	if _, err := Open(bytes.NewReader(data[:10]), int64(len(data))); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("a file shorter than it says: %v", err)
	}
}
