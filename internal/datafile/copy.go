package datafile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// copier makes Parquet copies, of the columns wanted, of files that can't be read as they are.
type copier struct {
	reader Reader
	dir    string
	busy   chan struct{} // has room for as many as work at a time: rows are decoded and encoded, which takes a core each
}

func newCopier(r Reader, dir string) *copier {
	return &copier{reader: r, dir: dir, busy: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// path returns where the copy of a file lies. Scans of the same columns, as one version of the table has them, share it.
func (c *copier) path(j *judge, path string) string {
	h := sha256.New()
	for _, f := range j.wants {
		fmt.Fprintf(h, "%d %s ", f.ID, f.Type)
	}
	h.Write([]byte(path))
	return filepath.Join(c.dir, hex.EncodeToString(h.Sum(nil)[:16])+".parquet")
}

// copied makes a copy by write, unless there is one, and returns its footer. write returns errors without a kind for bytes
// that make no sense.
func (c *copier) copied(ctx context.Context, j *judge, s source, write func(in fileio.File, to string) (rows int64, err error)) (footer, error) {
	select {
	case c.busy <- struct{}{}:
		defer func() { <-c.busy }()
	case <-ctx.Done():
		return footer{}, ctx.Err()
	}
	path := c.path(j, s.ref.Path)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := c.make(ctx, s, path, write); err != nil {
			return footer{}, err
		}
	}
	foot, err := copyFooter(ctx, path)
	if err == nil {
		foot.schema = c.reader.Footers.shared(foot.schema)
	}
	return foot, err
}

// make writes to a name of its own first: a copy is there whole or not at all.
func (c *copier) make(ctx context.Context, s source, path string, write func(in fileio.File, to string) (rows int64, err error)) (err error) {
	in, err := c.reader.Files.Open(ctx, s.ref.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	temp, err := os.CreateTemp(c.dir, filepath.Base(path)+"-*")
	if err != nil {
		return errs.OfFile("create", path, err)
	}
	if err := temp.Close(); err != nil {
		return errs.OfFile("create", path, err)
	}
	var rows int64
	err = fileio.Parse("read", s.ref.Path, func() (err error) {
		rows, err = write(in, temp.Name())
		return err
	})
	if err == nil {
		err = s.check(in.Size(), rows)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return errs.OfFile("create", path, os.Rename(temp.Name(), path))
}

func copyFooter(ctx context.Context, path string) (foot footer, err error) {
	f, err := fileio.Disk{}.Open(ctx, path)
	if err != nil {
		return footer{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, foot, err = parseFooter(f, path)
	return foot, err
}

// A row group of a copy, or of a metadata table's file, has so many rows at most, or about so many bytes: it is all that is
// in memory.
const (
	GroupRows  = 64 << 10
	GroupBytes = 16 << 20
)

// copyWriter writes record batches to a copy, each as a row group.
type copyWriter struct {
	file *os.File
	out  *pqarrow.FileWriter
	rows int64
	path string
}

// WriterProperties are those of files that are read once, and soon.
func WriterProperties() *parquet.WriterProperties {
	return parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(false),
		parquet.WithStats(false), parquet.WithMaxRowGroupLength(GroupRows))
}

// bareKey marks the copy of a file without field IDs: of such a file, partition values win over columns found by name.
const bareKey = "tarn.bare"

func newCopyWriter(path string, schema *arrow.Schema, isBare bool) (*copyWriter, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return nil, errs.OfFile("write", path, err)
	}
	out, err := pqarrow.NewFileWriter(schema, f, WriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, errors.Join(errs.Wrap(errs.Unsupported, "", "", err), f.Close())
	}
	w := &copyWriter{file: f, out: out, path: path}
	if isBare {
		err = w.fault(out.AppendKeyValueMetadata(bareKey, ""))
	}
	if err != nil {
		return nil, w.close(err)
	}
	return w, nil
}

func (w *copyWriter) add(batch arrow.RecordBatch) error {
	w.rows += batch.NumRows()
	return w.fault(w.out.Write(batch))
}

// close finishes the copy, or gives it up when err isn't nil.
func (w *copyWriter) close(err error) error {
	closed := errors.Join(w.out.Close(), ignoreClosed(w.file.Close()))
	if err != nil {
		return err
	}
	return w.fault(closed)
}

// ignoreClosed forgives that the Parquet writer has closed the file too.
func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// fault gives an error of writing a kind, so that it isn't taken for one of the bytes that are read.
func (w *copyWriter) fault(err error) error {
	var system *fs.PathError
	if err == nil || !errors.As(err, &system) {
		return errs.Wrap(errs.Unsupported, "write copy", "", err)
	}
	return errs.OfFile("write", w.path, err)
}
