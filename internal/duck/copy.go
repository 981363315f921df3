package duck

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

// CopyOptions say how a Parquet file is written. The zero value of each field is its default.
type CopyOptions struct {
	Compression  string // "zstd" (the default), "snappy", "gzip", "lz4_raw", "brotli" or "uncompressed"
	Level        int    // of zstd; 0: its default
	RowGroupRows int    // rows in a row group; 0: 122,880. DuckDB rounds up to its vector size
	// RowGroupBytes is how many bytes of rows, as they lie in memory, are enough for a row group; 0: any number.
	RowGroupBytes int64
	// FileBytes, if it isn't 0, cuts the rows into files of about so many bytes. In their paths {i} stands for their number.
	FileBytes int64
	Ordered   bool  // keep the order of the SELECT; else threads write in any order
	Trusted   bool  // the SELECT's columns are known to be those of the fields
	Args      []any // of the SELECT
}

// WrittenFile is a file that CopyParquet wrote.
type WrittenFile struct {
	Path  string
	Rows  int64
	Bytes int64
}

// CopyParquet runs selectSQL and writes its rows to one Parquet file at path, which must not be there yet, or to several, with the
// IDs of fields. The SELECT's columns must be those of fields, by order, name and type: nothing is cast on the way. Of several
// files some may be left after an error.
func (c *Conn) CopyParquet(ctx context.Context, selectSQL string, fields []catalog.Field, path string, opts CopyOptions) ([]WrittenFile, error) {
	if !opts.Trusted {
		if err := c.CheckColumns(ctx, selectSQL, fields); err != nil {
			return nil, err
		}
	}
	text := copySQL(selectSQL, fields, path, opts)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil, errs.New(errs.Exists, "write file", path, "there is a file of that name")
	}
	files, err := c.copyTo(ctx, text, opts.Args)
	if err != nil {
		_ = os.Remove(path) // what DuckDB left of it, if anything; the error above says more
	}
	return files, err
}

// copyTo runs a COPY statement and returns what it reports.
func (c *Conn) copyTo(ctx context.Context, text string, args []any) ([]WrittenFile, error) {
	res, err := c.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	chunk, err := res.Next(ctx)
	if err != nil {
		return nil, errs.Wrap(errs.Internal, "write file", "", err)
	}
	defer chunk.Close()
	rec, err := chunk.Record()
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	return writtenFiles(rec)
}

// writtenFiles reads what RETURN_STATS gives.
func writtenFiles(rec arrow.RecordBatch) ([]WrittenFile, error) {
	path, ok1 := rec.Column(0).(*array.String)
	rows, ok2 := rec.Column(1).(*array.Uint64)
	size, ok3 := rec.Column(2).(*array.Uint64)
	if !ok1 || !ok2 || !ok3 {
		return nil, errs.New(errs.Internal, "write file", "", "DuckDB reports on the file in an unknown form, %s", rec.Schema())
	}
	files := make([]WrittenFile, rec.NumRows())
	for i := range files {
		files[i] = WrittenFile{Path: strings.Clone(path.Value(i)), Rows: int64(rows.Value(i)), Bytes: int64(size.Value(i))}
	}
	return files, nil
}

// CheckColumns compares what selectSQL gives with fields, as DuckDB names types.
func (c *Conn) CheckColumns(ctx context.Context, selectSQL string, fields []catalog.Field) error {
	got, err := c.Describe(ctx, selectSQL)
	if err != nil {
		return err
	}
	casts := make([]string, len(fields))
	for i, f := range fields {
		t, err := fieldSQL(f)
		if err != nil {
			return err
		}
		casts[i] = fmt.Sprintf("CAST(NULL AS %s) AS %s", t, quote.Name(f.Name))
	}
	if len(got) != len(fields) || len(fields) == 0 {
		return errs.New(errs.Invalid, "write file", "", "the query gives %d columns, %d are to be written", len(got), len(fields))
	}
	want, err := c.Describe(ctx, "SELECT "+strings.Join(casts, ", "))
	if err != nil {
		return err
	}
	for i := range want {
		if got[i] != want[i] {
			return errs.New(errs.Invalid, "write file", want[i].Name, "the query gives %q of type %s, type %s is to be written",
				got[i].Name, got[i].Type, want[i].Type)
		}
	}
	return nil
}

func copySQL(selectSQL string, fields []catalog.Field, path string, opts CopyOptions) string {
	compression := opts.Compression
	if compression == "" {
		compression = "zstd"
	}
	options := []string{
		"FORMAT parquet", "FIELD_IDS {" + fieldIDs(fields) + "}", "COMPRESSION " + quote.Text(compression),
		"RETURN_STATS", fmt.Sprintf("PRESERVE_ORDER %t", opts.Ordered),
	}
	if opts.Level != 0 {
		options = append(options, fmt.Sprintf("COMPRESSION_LEVEL %d", opts.Level))
	}
	if opts.RowGroupRows > 0 {
		options = append(options, fmt.Sprintf("ROW_GROUP_SIZE %d", opts.RowGroupRows))
	}
	if opts.FileBytes > 0 {
		dir, name := filepath.Split(path)
		path = dir
		options = append(options, fmt.Sprintf("FILE_SIZE_BYTES %d", opts.FileBytes), "OVERWRITE_OR_IGNORE", // which looks at no file that is there
			"FILENAME_PATTERN "+quote.Text(strings.TrimSuffix(name, ".parquet")))
	}
	if opts.RowGroupBytes > 0 {
		options = append(options, fmt.Sprintf("ROW_GROUP_SIZE_BYTES %d", opts.RowGroupBytes))
	}
	return fmt.Sprintf("COPY (%s) TO %s (%s)", selectSQL, quote.Text(path), strings.Join(options, ", "))
}

// fieldIDs returns the IDs of fields as COPY wants them: a nested field's own ID stands among its children's.
func fieldIDs(fields []catalog.Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = quote.Name(f.Name) + ": " + fieldID(f)
	}
	return strings.Join(parts, ", ")
}

func fieldID(f catalog.Field) string {
	children := f.Type.Fields
	switch f.Type.Nested {
	case catalog.NotNested:
		return fmt.Sprint(int(f.ID))
	case catalog.List:
		children = renamed(children, "element")
	case catalog.Map:
		children = renamed(children, "key", "value")
	}
	return fmt.Sprintf("{__duckdb_field_id: %d, %s}", f.ID, fieldIDs(children))
}

// renamed returns fields under the names that Parquet gives to the parts of lists and maps.
func renamed(fields []catalog.Field, names ...string) []catalog.Field {
	out := append([]catalog.Field{}, fields...)
	for i := range out {
		out[i].Name = names[i]
	}
	return out
}
