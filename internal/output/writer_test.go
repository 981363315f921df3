package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tarndb/tarn/internal/errs"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// result is one result, or the counts of a statement without rows.
type result struct {
	columns []Column
	batches []arrow.RecordBatch
	counts  []Count
}

// rowsOf builds a result of one batch from column names, types and JSON values.
func rowsOf(t *testing.T, columns ...[4]any) result {
	t.Helper()
	var r result
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range columns {
		r.columns = append(r.columns, Column{Name: c[0].(string), Type: c[1].(string)})
		fields = append(fields, arrow.Field{Name: c[0].(string), Type: c[2].(arrow.DataType), Nullable: true})
		arrays = append(arrays, fromJSON(t, c[2].(arrow.DataType), c[3].(string)))
	}
	r.batches = []arrow.RecordBatch{array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(arrays[0].Len()))}
	return r
}

func write(w Writer, results ...result) error {
	for _, r := range results {
		if r.columns == nil {
			if err := w.Done(r.counts); err != nil {
				return err
			}
			continue
		}
		if err := w.Begin(r.columns); err != nil {
			return err
		}
		for _, b := range r.batches {
			if err := w.Write(b); err != nil {
				return err
			}
		}
		if err := w.End(); err != nil {
			return err
		}
	}
	return w.Close()
}

func render(t *testing.T, format string, opts Options, results ...result) string {
	t.Helper()
	var out bytes.Buffer
	w, err := New(format, &out, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(w, results...); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// sample is a result that each format has some trouble with, one without rows, and an empty one.
func sample(t *testing.T) []result {
	t.Helper()
	first := rowsOf(t,
		[4]any{"id", "BIGINT", arrow.PrimitiveTypes.Int64, `[1, 20, null]`},
		[4]any{"na|me", "VARCHAR", arrow.BinaryTypes.String, `["plain", "a \"b\", c\nd|<e>", ""]`},
		[4]any{"id", "DECIMAL(9,2)", &arrow.Decimal128Type{Precision: 9, Scale: 2}, `["1.50", null, "-0.05"]`},
		[4]any{"wide 漢字", "VARCHAR[]", arrow.ListOf(arrow.BinaryTypes.String), `[["漢字", "é"], null, []]`},
	)
	empty := result{columns: []Column{{"a", "INTEGER"}, {"b", "VARCHAR"}}}
	return []result{first, {counts: []Count{{"rows-inserted", 1234567}}}, empty}
}

func TestTextFormatsMatchTheirGoldens(t *testing.T) {
	for _, c := range []struct {
		file, format string
		opts         Options
	}{
		{"table", Table, Options{}},
		{"table_narrow", Table, Options{Width: 36, Bold: true}},
		{"csv", CSV, Options{}},
		{"json", JSON, Options{}},
		{"jsonl", JSONL, Options{}},
		{"markdown", Markdown, Options{}},
	} {
		got := render(t, c.format, c.opts, sample(t)...)
		path := filepath.Join("testdata", c.file+".golden")
		if *rewrite {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.file, got, want)
		}
	}
}

func TestJSONCanBeReadBack(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(render(t, JSON, Options{}, sample(t)...), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("three results make %d lines", len(lines))
	}
	for _, line := range append(lines, strings.Split(strings.TrimSpace(render(t, JSONL, Options{}, sample(t)...)), "\n")...) {
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Errorf("%v in %s", err, line)
		}
	}
}

func TestTablesAreSizedByTheirFirstRows(t *testing.T) {
	numbers := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString(`"row",`)
		}
		return "[" + b.String() + `"a much longer text"]`
	}
	columns := func(values string) result {
		return rowsOf(t, [4]any{"s", "VARCHAR", arrow.BinaryTypes.String, values},
			[4]any{"t", "VARCHAR", arrow.BinaryTypes.String, values})
	}
	long := columns(numbers(0, sampleRows))
	lines := strings.Split(render(t, Table, Options{Width: 80}, long), "\n")
	if got := lines[sampleRows+2]; got != " a … │ a …" {
		t.Errorf("after the sample, on a terminal: %q", got)
	}
	lines = strings.Split(render(t, Table, Options{}, long), "\n")
	if got := lines[sampleRows+2]; got != " a much longer text │ a much longer text" {
		t.Errorf("after the sample, not on a terminal: %q", got)
	}
	if got := lines[len(lines)-2]; got != "(1,001 rows)" {
		t.Errorf("the last line is %q", got)
	}
	for _, line := range strings.Split(render(t, Table, Options{Width: 20}, columns(`["漢字漢字漢字漢字", "abcdefghijklmno"]`)), "\n") {
		if textWidth(line) > 20 {
			t.Errorf("%q is wider than the terminal", line)
		}
	}
}

func TestTablesCannotDriveATerminal(t *testing.T) {
	got := render(t, Table, Options{Width: 80}, rowsOf(t, [4]any{"s", "VARCHAR", arrow.BinaryTypes.String, `["\u001b[2J\r\u202e\u0007\u009b"]`}))
	if want := ` \x1b[2J\r\u202e\x07\x9b`; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
}

func TestGroupDigits(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100", 1234567: "1,234,567"} {
		if got := groupDigits(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}

func TestUnknownFormats(t *testing.T) {
	_, err := New("jsn", &bytes.Buffer{}, Options{})
	if errs.KindOf(err) != errs.Syntax || errs.HintOf(err) != "did you mean json?" {
		t.Errorf("got %v (hint %q)", err, errs.HintOf(err))
	}
}

type brokenPipe struct{}

var errPipe = errors.New("pipe is closed")

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

func TestAFailedWriteIsReported(t *testing.T) {
	for _, format := range []string{Table, CSV, JSON, JSONL, Markdown, Parquet, Arrow} {
		w, err := New(format, brokenPipe{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := write(w, sample(t)[0]); !errors.Is(err, errPipe) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestTypesWithoutATrueTextAreRefused(t *testing.T) {
	for _, r := range []result{
		rowsOf(t, [4]any{"d", "DURATION", arrow.FixedWidthTypes.Duration_s, `[1]`}),
		rowsOf(t, [4]any{"d", "TIME WITH TIME ZONE", arrow.FixedWidthTypes.Time64us, `[1]`}),
		rowsOf(t, [4]any{"d", "TIME WITH TIME ZONE[]", arrow.ListOf(arrow.FixedWidthTypes.Time64us), `[[1]]`}),
	} {
		w, err := New(CSV, &bytes.Buffer{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := write(w, r); errs.KindOf(err) != errs.Unsupported || !strings.Contains(err.Error(), "write column d") {
			t.Errorf("got %v", err)
		}
	}
}

func TestFilesAppearWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	for _, text := range []string{"first", "second"} {
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		f.Abort()
	}
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("third"); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	got, err := os.ReadFile(path)
	left, _ := os.ReadDir(dir)
	if err != nil || string(got) != "second" || len(left) != 1 {
		t.Errorf("the file holds %q (%v) beside %d others", got, err, len(left)-1)
	}
	if _, err := Create(filepath.Join(dir, "no", "such", "folder")); errs.KindOf(err) != errs.NotFound {
		t.Errorf("in a missing folder: %v", err)
	}
	if _, err := Create(dir); errs.KindOf(err) != errs.Invalid {
		t.Errorf("onto a folder: %v", err)
	}
	device, err := Create(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if err := device.Commit(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device was replaced: %v %v", info.Mode(), err)
	}
}
