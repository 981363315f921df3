package arrowfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/seed"
)

// sample is batches of numbers, texts of a dictionary, views and lists.
func sample(t *testing.T) []arrow.RecordBatch {
	t.Helper()
	field := func(name string, typ arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: typ, Nullable: true}
	}
	schema := arrow.NewSchema([]arrow.Field{
		field("k", arrow.PrimitiveTypes.Int64), field("d", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}),
		field("v", arrow.BinaryTypes.StringView), field("l", arrow.ListOf(arrow.StructOf(field("x", arrow.FixedWidthTypes.Boolean)))),
	}, nil)
	var all []arrow.RecordBatch
	for n := range 3 {
		rows := fmt.Sprintf(`[{"k": %d, "d": "a", "v": "more than twelve bytes", "l": [{"x": true}, null]}, {"k": null, "d": "b", "v": null, "l": null}]`, n)
		batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, batch)
	}
	return all
}

// sampleText is what the sample's batches are.
const sampleText = `[{"d":"a","k":%d,"l":[{"x":true},null],"v":"more than twelve bytes"},{"d":"b","k":null,"l":null,"v":null}]`

// encode returns batches as a file of the format.
func encode(t *testing.T, isStream bool, batches []arrow.RecordBatch, options ...ipc.Option) []byte {
	t.Helper()
	var buf bytes.Buffer
	options = append(options, ipc.WithSchema(batches[0].Schema()))
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	} = ipc.NewWriter(&buf, options...)
	if !isStream {
		var err error
		if w, err = ipc.NewFileWriter(&buf, options...); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// forms are the sample in each form.
func forms(t *testing.T) map[string][]byte {
	batches := sample(t)
	return map[string][]byte{
		"file":   encode(t, false, batches),
		"lz4":    encode(t, false, batches, ipc.WithLZ4()),
		"stream": encode(t, true, batches),
		"zstd":   encode(t, true, batches, ipc.WithZstd()),
		"old":    legacy(encode(t, true, batches)),
	}
}

// legacy returns a stream as it was before version 0.15 of Arrow, without the marks before messages.
func legacy(stream []byte) (out []byte) {
	for at := 0; at < len(stream); {
		length := int(binary.LittleEndian.Uint32(stream[at+4:]))
		end := at + 8 + length
		if length > 0 {
			end += int(inspect(stream[at+8 : end]).bodyBytes)
		}
		out = append(out, stream[at+4:end]...)
		at = end
	}
	return out
}

// read is readFile of a new file of those bytes.
func read(t *testing.T, path string, content []byte, limit int64) ([]string, error) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return readFile(path, limit)
}

// readFile reads a file to its end, values too, and returns its batches as JSON.
func readFile(path string, limit int64) (texts []string, err error) {
	f, err := Open(path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		batch, _, err := f.Next()
		if errors.Is(err, io.EOF) {
			return texts, nil
		}
		if err != nil {
			return texts, err
		}
		text, ok := jsonOf(batch)
		if !ok {
			return texts, errs.New(errs.Corrupt, "", "", "values can't be taken out")
		}
		texts = append(texts, text)
	}
}

// jsonOf returns a batch as JSON; false where Arrow's accessors panic.
func jsonOf(batch arrow.RecordBatch) (text string, ok bool) {
	defer func() { _ = recover() }()
	bytes, err := batch.MarshalJSON()
	return strings.ReplaceAll(string(bytes), "\n", ""), err == nil
}

func TestForms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	var want []string
	for n := range 3 {
		want = append(want, fmt.Sprintf(sampleText, n))
	}
	for name, content := range forms(t) {
		if got, err := read(t, path, content, 1<<20); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want)
		}
	}
	empty := sample(t)[0].NewSlice(0, 0)
	for _, isStream := range []bool{false, true} {
		if got, err := read(t, path, encode(t, isStream, []arrow.RecordBatch{empty}), 0); err != nil || fmt.Sprint(got) != "[[]]" {
			t.Errorf("without rows: %v %s", err, got)
		}
	}
}

// TestCutFiles: a file that ends anywhere too soon is Corrupt. None of its rows is taken for all.
func TestCutFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut")
	for name, content := range forms(t) {
		if _, err := read(t, path, content, 1<<20); err != nil {
			t.Fatal(err)
		}
		for at := len(content) - 1; at >= 0; at-- {
			if err := os.Truncate(path, int64(at)); err != nil {
				t.Fatal(err)
			}
			if _, err := readFile(path, 1<<20); errs.KindOf(err) != errs.Corrupt || !strings.Contains(err.Error(), path) {
				t.Fatalf("%s, cut at %d of %d bytes: %v", name, at, len(content), err)
			}
		}
	}
}

// TestChangedFiles: whatever the bytes are, a file is read or refused.
func TestChangedFiles(t *testing.T) {
	path, random := filepath.Join(t.TempDir(), "changed"), seed.Rand(t)
	for name, content := range forms(t) {
		if _, err := read(t, path, content, 1<<20); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		put := func(at int, b byte) {
			if _, err := file.WriteAt([]byte{b}, int64(at)); err != nil {
				t.Fatal(err)
			}
		}
		for at, was := range content {
			to := was ^ 1<<random.IntN(8)
			if random.IntN(2) == 0 {
				to = byte(random.Uint32())
			}
			put(at, to)
			if _, err := readFile(path, 1<<20); err != nil && errs.KindOf(err) == errs.Internal {
				t.Errorf("%s, byte %d became %#x: %v", name, at, to, err)
			}
			put(at, was)
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.arrow")
	batches := sample(t)
	stream := encode(t, true, batches)
	large := make([]byte, 1<<20)
	for name, refused := range map[string]struct {
		content []byte
		limit   int64
		kind    errs.Kind
		part    string
	}{
		"nothing":           {nil, 0, errs.Corrupt, "it has 0 bytes"},
		"Feather 1":         {[]byte("FEA1 and more"), 0, errs.Unsupported, "version 1 of Feather"},
		"Parquet":           {[]byte("PAR1 and more"), 0, errs.Invalid, "it is a Parquet file"},
		"text":              {[]byte("a,b,c\n1,2,3\n"), 0, errs.Corrupt, "its beginning is neither"},
		"two streams":       {append(bytes.Clone(stream), stream...), 0, errs.Unsupported, "something follows the end"},
		"no end":            {stream[:len(stream)-8], 0, errs.Corrupt, "the stream has no end"},
		"no memory":         {stream, 300, errs.Resource, "more than the 300 B that there are"},
		"a large schema":    {append([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 8, 0}, large...), 1000, errs.Resource, "more than the 1000 B"},
		"lists of nothing":  {listsOfNothing(t, true), 0, errs.Unsupported, `column "empty" is a fixed_size_list of size 0`},
		"files of them":     {listsOfNothing(t, false), 0, errs.Unsupported, `column "empty" is a fixed_size_list of size 0`},
		"unpacked":          {encode(t, true, manyZeros(), ipc.WithZstd()), 500_000, errs.Resource, "take 977 KiB"},
		"unpacked in files": {encode(t, false, manyZeros(), ipc.WithLZ4()), 500_000, errs.Resource, "take 981 KiB"},
	} {
		_, err := read(t, path, refused.content, refused.limit)
		if errs.KindOf(err) != refused.kind || !strings.Contains(err.Error(), refused.part) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v (%v), wanted %v with %q", name, err, errs.KindOf(err), refused.kind, refused.part)
		}
	}
	if got, err := read(t, path, append(bytes.Clone(stream), make([]byte, 100)...), 0); err != nil || len(got) != 3 {
		t.Errorf("zeros behind a stream: %v, %d batches", err, len(got))
	}
	for path, kind := range map[string]errs.Kind{dir: errs.Invalid, dir + "/none": errs.NotFound, "/dev/null": errs.Invalid} {
		if _, err := Open(path, 0); errs.KindOf(err) != kind || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v (%v), wanted %v", path, err, errs.KindOf(err), kind)
		}
	}
}

// manyZeros is a batch of a megabyte.
func manyZeros() []arrow.RecordBatch {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(make([]int64, 125_000), nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: "z", Type: arrow.PrimitiveTypes.Int64}}, nil)
	return []arrow.RecordBatch{array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, 125_000)}
}

// listsOfNothing is a file of a struct with lists of size 0, which Arrow's library can't write.
func listsOfNothing(t *testing.T, isStream bool) []byte {
	t.Helper()
	const size = 0x0d2e1f33
	list := arrow.Field{Name: "empty", Type: arrow.FixedSizeListOf(size, arrow.PrimitiveTypes.Int32), Nullable: true}
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.StructOf(list)}}, nil)
	b := array.NewBuilder(memory.DefaultAllocator, schema.Field(0).Type)
	content := encode(t, isStream, []arrow.RecordBatch{array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, 0)})
	written := binary.LittleEndian.AppendUint32(nil, size)
	if !bytes.Contains(content, written) {
		t.Fatal("the file doesn't say how long lists are")
	}
	return bytes.ReplaceAll(content, written, make([]byte, len(written)))
}
