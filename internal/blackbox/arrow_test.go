package blackbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowBatches writes a file of batches, of so many rows each: a number, and half a kilobyte of text.
func arrowBatches(t *testing.T, path string, batches, rows int, options ...ipc.Option) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "pad", Type: arrow.BinaryTypes.String}}, nil)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := ipc.NewFileWriter(file, append(options, ipc.WithSchema(schema))...)
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for n := range batches {
		for i := range rows {
			b.Field(0).(*array.Int64Builder).Append(int64(n*rows + i))
			b.Field(1).(*array.StringBuilder).Append(strings.Repeat(fmt.Sprintf("%08d", n*rows+i), 64))
		}
		batch := b.NewRecordBatch()
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		batch.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestArrowWithinMemory: of an Arrow file a batch at a time is in memory. One that is too large for it is refused.
func TestArrowWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 0.6 GB of disk")
	}
	const limit, batches, rows = 224 * mib, 60, 10_000
	dir := t.TempDir()
	for _, file := range []struct {
		name    string
		batches int
		options []ipc.Option
		code    int
	}{
		{"plain.arrow", batches, nil, 0},
		{"packed.arrow", batches, []ipc.Option{ipc.WithZstd()}, 0},
		{"one batch.arrow", 1, nil, 9},
		{"one packed batch.arrow", 1, []ipc.Option{ipc.WithLZ4()}, 9},
	} {
		path := filepath.Join(dir, file.name)
		arrowBatches(t, path, file.batches, batches*rows/file.batches, file.options...)
		flags, usage := usageFlags(t)
		temp := t.TempDir()
		lake := []string{"--type", "hadoop", "--warehouse", t.TempDir(), "--format", "csv"}
		tarn(t, append(lake, "sql", "-c", "CREATE NAMESPACE n", "-c", "CREATE TABLE n.t (k BIGINT, pad STRING) PARTITIONED BY (bucket(8, k))")...).ok(t)
		out := tarn(t, append(append(lake, flags...), "--memory", fmt.Sprintf("%dMiB", limit/mib), "--temp", temp,
			"sql", "-c", "INSERT INTO n.t FROM '"+path+"'")...)
		if out.code != file.code || file.code != 0 && (!strings.Contains(out.stderr, path) || !strings.Contains(out.stderr, "memory")) {
			t.Errorf("%s: exit %d, wanted %d: %s", file.name, out.code, file.code, clip(out.stderr))
		}
		wantEmpty(t, temp)
		peak := usage().PeakBytes
		t.Logf("%s: exit %d, peak %d MiB", file.name, out.code, peak/mib)
		if peak == 0 || peak > limit {
			t.Errorf("%s: the peak is %d MiB", file.name, peak/mib)
		}
		want := "0,,"
		if file.code == 0 {
			want = fmt.Sprintf("%d,%d,512", batches*rows, batches*rows*(batches*rows-1)/2)
		}
		if got := tarn(t, append(lake, "sql", "-c", "SELECT count(*), sum(k), max(length(pad)) FROM n.t")...).ok(t); !strings.HasSuffix(strings.TrimSpace(got), want) {
			t.Errorf("%s: the rows are %s, wanted %s", file.name, got, want)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongTextsOutOfMemory: what memory doesn't suffice for is an error, also where DuckDB runs out of it within a call of ours.
func TestLongTextsOutOfMemory(t *testing.T) {
	text, path := arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.BinaryTypes.String}}, nil), filepath.Join(t.TempDir(), "long.arrow")
	b := array.NewRecordBuilder(memory.DefaultAllocator, text)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).Append(strings.Repeat("a", 17*mib))
	batch := b.NewRecordBatch()
	defer batch.Release()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(batch), w.Close()); err != nil {
		t.Fatal(err)
	}
	out := tarn(t, "--memory", "128MiB", "sql", "-c", "SELECT length(v) FROM '"+path+"'")
	if out.code != 9 || !strings.Contains(out.stderr, "--memory") { // by whoever finds it first
		t.Errorf("exit %d: %s", out.code, clip(out.stderr))
	}
	tarn(t, "--memory", "512MiB", "sql", "-c", "SELECT length(v) FROM '"+path+"'").ok(t)
}
