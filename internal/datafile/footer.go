package datafile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// footer is what a scan needs to know of a data file.
type footer struct {
	rows   int64
	size   int64             // of the file, in bytes
	schema *schema.GroupNode // one and the same for all files with equal schemas
	facts  footerFacts
}

// Footers remembers footers by path: data files never change. The zero value is empty and ready, and safe for concurrent use.
type Footers struct {
	mu      sync.Mutex
	files   map[string]footer
	schemas map[string]*schema.GroupNode
}

// The cache's bounds. A footer takes about 150 bytes, mostly its path; tables have few schemas.
const (
	maxCachedFooters = 100_000
	maxCachedSchemas = 1000
)

func (k *Footers) get(path string) (footer, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.files[path]
	return f, ok
}

func (k *Footers) put(path string, f footer) footer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files == nil || len(k.files) >= maxCachedFooters {
		k.files = map[string]footer{}
	}
	f.schema = k.share(f.schema)
	k.files[path] = f
	return f
}

// shared returns one and the same schema for all that are equal.
func (k *Footers) shared(s *schema.GroupNode) *schema.GroupNode {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.share(s)
}

// share is shared, under the lock.
func (k *Footers) share(s *schema.GroupNode) *schema.GroupNode {
	if k.schemas == nil || len(k.schemas) >= maxCachedSchemas {
		k.schemas = map[string]*schema.GroupNode{}
	}
	print := fingerprint(s)
	if known, ok := k.schemas[print]; ok {
		return known
	}
	k.schemas[print] = s
	return s
}

func (r Reader) footer(ctx context.Context, ref catalog.FileRef) (footer, error) {
	if f, ok := r.Footers.get(ref.Path); ok {
		return f, nil
	}
	_, f, err := r.readFooter(ctx, ref.Path)
	if err != nil {
		return footer{}, err
	}
	return r.Footers.put(ref.Path, f), nil
}

// footerGuess is how many bytes are read from the end of a file at first: most footers fit.
const footerGuess = 64 << 10

// readFooter reads and parses a Parquet file's footer.
func (r Reader) readFooter(ctx context.Context, path string) (meta *metadata.FileMetaData, foot footer, err error) {
	f, err := r.Files.Open(ctx, path)
	if err != nil {
		return nil, footer{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return parseFooter(f, path)
}

// parseFooter reads the footer of an open file. No bytes make it panic, or allocate much more than they are.
func parseFooter(f fileio.File, path string) (meta *metadata.FileMetaData, foot footer, err error) {
	tail, err := readTail(f, path, min(f.Size(), footerGuess))
	if err != nil {
		return nil, footer{}, err
	}
	length, err := footerLength(tail, f.Size(), path)
	if err != nil {
		return nil, footer{}, err
	}
	if int64(len(tail)) < length+8 {
		if tail, err = readTail(f, path, length+8); err != nil {
			return nil, footer{}, err
		}
	}
	end := int64(len(tail)) - 8
	err = fileio.Parse("read parquet footer", path, func() (err error) {
		if foot.facts, err = checkFooter(tail[end-length : end]); err != nil {
			return err
		}
		meta, err = metadata.NewFileMetaData(tail[end-length:end], nil)
		return err
	})
	if err != nil {
		return nil, footer{}, err
	}
	foot.rows, foot.size, foot.schema = meta.GetNumRows(), f.Size(), meta.Schema.Root()
	return meta, foot, nil
}

func readTail(f fileio.File, path string, n int64) ([]byte, error) {
	tail := make([]byte, n)
	if _, err := f.ReadAt(tail, f.Size()-n); err != nil && !errors.Is(err, io.EOF) {
		return nil, errs.OfFile("read", path, err)
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
		return 0, fileio.Encrypted(path)
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
