package lake

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// CheckFooters reads the Parquet footer of each file that files yields, which are files of t's pinned snapshot, and
// fails if a scan of the columns could give wrong rows: the file is cut or missing, has other rows than its manifest
// entry says, has no field IDs, or stores one of the columns in a way that can't be read yet. It reads no data. What it
// has read of a file it remembers, so that checking the same files again costs nothing.
func (c *Catalog) CheckFooters(ctx context.Context, t *catalog.Table, columns []catalog.FieldID,
	files func(ctx context.Context, yield func(catalog.DataFile) error) error,
) error {
	check, err := newFooterCheck(t, columns)
	if err != nil {
		return err
	}
	workers, ctx := errgroup.WithContext(ctx)
	// Reading a footer waits for the disk or the network more than it computes.
	workers.SetLimit(4 * runtime.GOMAXPROCS(0))
	listed := files(ctx, func(f catalog.DataFile) error {
		workers.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			foot, err := c.footer(ctx, f.Ref)
			if err != nil {
				return err
			}
			return check.file(f, foot)
		})
		return ctx.Err()
	})
	// A failed check cancels the listing, so that its own error says less than the check's.
	if err := workers.Wait(); err != nil {
		return err
	}
	return listed
}

// footer is what a scan needs to know of a data file.
type footer struct {
	rows   int64
	size   int64             // of the file, in bytes
	schema *schema.GroupNode // one and the same for all files with equal schemas
}

// footerCache remembers footers by path: data files never change.
type footerCache struct {
	mu      sync.Mutex
	files   map[string]footer
	schemas map[string]*schema.GroupNode
}

// maxCachedFooters bounds the cache. An entry is about 150 bytes, mostly its path.
const maxCachedFooters = 100_000

func (k *footerCache) get(path string) (footer, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.files[path]
	return f, ok
}

func (k *footerCache) put(path string, f footer) footer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files == nil || len(k.files) >= maxCachedFooters {
		k.files, k.schemas = map[string]footer{}, map[string]*schema.GroupNode{}
	}
	print := fingerprint(f.schema)
	if known, ok := k.schemas[print]; ok {
		f.schema = known
	} else {
		k.schemas[print] = f.schema
	}
	k.files[path] = f
	return f
}

func (c *Catalog) footer(ctx context.Context, ref catalog.FileRef) (footer, error) {
	if f, ok := c.footers.get(ref.Path); ok {
		return f, nil
	}
	meta, size, err := c.readFooter(ctx, ref.Path)
	if err != nil {
		return footer{}, err
	}
	return c.footers.put(ref.Path, footer{rows: meta.GetNumRows(), size: size, schema: meta.Schema.Root()}), nil
}

// footerGuess is how many bytes are read from the end of a file at first: most footers fit.
const footerGuess = 64 << 10

// readFooter reads and parses a Parquet file's footer; size is the file's, in bytes.
func (c *Catalog) readFooter(ctx context.Context, path string) (meta *metadata.FileMetaData, size int64, err error) {
	f, err := c.fio.Open(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	tail, err := readTail(f, path, min(f.Size(), footerGuess))
	if err != nil {
		return nil, 0, err
	}
	length, err := footerLength(tail, f.Size(), path)
	if err != nil {
		return nil, 0, err
	}
	if int64(len(tail)) < length+8 {
		if tail, err = readTail(f, path, length+8); err != nil {
			return nil, 0, err
		}
	}
	end := int64(len(tail)) - 8
	err = guard("read parquet footer", path, func() (err error) {
		meta, err = metadata.NewFileMetaData(tail[end-length:end], nil)
		return err
	})
	return meta, f.Size(), err
}

func readTail(f file, path string, n int64) ([]byte, error) {
	tail := make([]byte, n)
	if _, err := f.ReadAt(tail, f.Size()-n); err != nil && !errors.Is(err, io.EOF) {
		return nil, fileError("read", path, err)
	}
	return tail, nil
}

// footerLength reads the last eight bytes of a file: the footer's length and the magic number.
func footerLength(tail []byte, size int64, path string) (int64, error) {
	if size < 12 {
		return 0, errs.New(errs.Corrupt, "read parquet footer", path, "the file has %d bytes, too few for a parquet file", size)
	}
	end := tail[len(tail)-8:]
	switch string(end[4:]) {
	case "PAR1":
	case "PARE":
		return 0, encrypted(path)
	default:
		return 0, errs.New(errs.Corrupt, "read parquet footer", path, "the file doesn't end as a parquet file does: it may be cut short")
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > size-12 {
		return 0, errs.New(errs.Corrupt, "read parquet footer", path, "it says that it is %d bytes long, in a file of %d", length, size)
	}
	return length, nil
}

// fingerprint writes down all that checks look at in a schema, so that files of equal schemas are checked once.
func fingerprint(n schema.Node) string {
	var b strings.Builder
	writeFingerprint(&b, n)
	return b.String()
}

func writeFingerprint(b *strings.Builder, n schema.Node) {
	fmt.Fprintf(b, "%q %d %d %v %d", n.Name(), n.FieldID(), n.RepetitionType(), n.LogicalType(), n.ConvertedType())
	switch n := n.(type) {
	case *schema.PrimitiveNode:
		fmt.Fprintf(b, " %d %d %v;", n.PhysicalType(), n.TypeLength(), n.DecimalMetadata())
	case *schema.GroupNode:
		b.WriteByte('{')
		for i := range n.NumFields() {
			writeFingerprint(b, n.Field(i))
		}
		b.WriteByte('}')
	}
}

// footerCheck checks footers against the columns that a scan wants.
type footerCheck struct {
	table   *catalog.Table
	columns []catalog.Field

	mu       sync.Mutex
	verdicts map[*schema.GroupNode]schemaVerdict
}

// schemaVerdict is what a check finds in a file's schema alone.
type schemaVerdict struct {
	err    error
	absent []catalog.Field // columns that the file doesn't have
}

func newFooterCheck(t *catalog.Table, columns []catalog.FieldID) (*footerCheck, error) {
	check := &footerCheck{table: t, verdicts: map[*schema.GroupNode]schemaVerdict{}}
	for _, id := range columns {
		f, ok := t.Schema.Field(id)
		if !ok {
			return nil, errs.New(errs.Internal, "check footers of", t.Ident.String(), "the table has no column with field ID %d", id)
		}
		check.columns = append(check.columns, f)
	}
	return check, nil
}

func (c *footerCheck) file(f catalog.DataFile, foot footer) error {
	if foot.size != f.Ref.Bytes {
		return errs.New(errs.Corrupt, "read data file", f.Ref.Path, "it has %d bytes, but its manifest entry says %d: it isn't the file that was committed",
			foot.size, f.Ref.Bytes)
	}
	if foot.rows != f.Rows {
		return errs.New(errs.Corrupt, "read data file", f.Ref.Path, "its footer says %d rows, but its manifest entry %d", foot.rows, f.Rows)
	}
	v := c.verdict(foot.schema)
	if v.err != nil {
		return errs.Wrap(errs.Internal, "read data file", f.Ref.Path, v.err)
	}
	for _, column := range v.absent {
		if value, ok := c.identityValue(f, column.ID); ok {
			return errs.New(errs.Unsupported, "read data file", f.Ref.Path,
				"it lacks the column %q, whose value %v is in its partition only", column.Name, value)
		}
	}
	return nil
}

// identityValue returns the value that the file's partition gives to a column that the file lacks.
func (c *footerCheck) identityValue(f catalog.DataFile, id catalog.FieldID) (transform.Value, bool) {
	for i, field := range c.table.Specs[f.Spec].Fields {
		isSource := len(field.Sources) == 1 && field.Sources[0] == id
		if isSource && field.Transform.Op == transform.Identity && i < len(f.Partition) && f.Partition[i] != nil {
			return f.Partition[i], true
		}
	}
	return nil, false
}

func (c *footerCheck) verdict(root *schema.GroupNode) schemaVerdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.verdicts[root]
	if !ok {
		v.absent, v.err = checkSchema(root, c.columns)
		c.verdicts[root] = v
	}
	return v
}
