package duck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// session returns a new instance and a connection to it, closed when the test ends.
func session(t testing.TB, opts Options) (*DB, *Conn) {
	t.Helper()
	if opts.TempDir == "" {
		opts.TempDir = t.TempDir()
	}
	db, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, c
}

// rowsOf runs sql and returns each row as text, values parted by bars.
func rowsOf(ctx context.Context, c *Conn, sql string, args ...any) ([]string, error) {
	res, err := c.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var rows []string
	for {
		chunk, err := res.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rec, err := chunk.Record()
		if err != nil {
			return rows, err
		}
		if chunk.Rows() != int(rec.NumRows()) {
			return rows, fmt.Errorf("a chunk of %d rows became a record of %d", chunk.Rows(), rec.NumRows())
		}
		chunk.Close()
		for i := range int(rec.NumRows()) {
			values := make([]string, rec.NumCols())
			for j := range values {
				values[j] = rec.Column(j).ValueStr(i) // memory of the record, until joined
			}
			rows = append(rows, strings.Clone(strings.Join(values, "|")))
		}
		rec.Release()
	}
}

func mustRows(t testing.TB, c *Conn, sql string, args ...any) []string {
	t.Helper()
	rows, err := rowsOf(t.Context(), c, sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

func wantRows(t testing.TB, c *Conn, sql string, want ...string) {
	t.Helper()
	if got := mustRows(t, c, sql); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s:\n got %q\nwant %q", sql, got, want)
	}
}

// wantError checks kind and, by a part of it, text.
func wantError(t testing.TB, err error, kind errs.Kind, part string) {
	t.Helper()
	if err == nil || errs.KindOf(err) != kind || !strings.Contains(err.Error(), part) {
		t.Errorf("got %v (%v), want %v with %q", err, errs.KindOf(err), kind, part)
	}
}

func mustExec(t testing.TB, c *Conn, sql string) {
	t.Helper()
	if err := c.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

var (
	longType   = transform.Type{Kind: transform.Long}
	stringType = transform.Type{Kind: transform.String}
)

func primitive(id catalog.FieldID, name string, t transform.Type) catalog.Field {
	return catalog.Field{ID: id, Name: name, Type: catalog.Type{Primitive: t}}
}

// writeFile writes the rows of sql to a Parquet file named name, with the IDs of fields.
func writeFile(t testing.TB, c *Conn, name, sql string, fields ...catalog.Field) ScanFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if _, err := c.CopyParquet(t.Context(), sql, fields, path, CopyOptions{RowGroupRows: vectorRows}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return ScanFile{Ref: catalog.FileRef{Path: "s3://lake/" + name, Local: path, Bytes: info.Size()}}
}

func mustScan(t testing.TB, s Scan) string {
	t.Helper()
	text, err := ScanSQL(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// register registers a check until the test ends.
func registerCheck(t testing.TB, db *DB, k KeyCheck) int64 {
	t.Helper()
	id, release, err := db.RegisterKeyCheck(k)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return id
}
