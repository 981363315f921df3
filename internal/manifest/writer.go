package manifest

import (
	"bytes"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Header is what a manifest says of itself.
type Header struct {
	Version    int // the table's format version
	Content    Content
	Spec       catalog.PartitionSpec
	SpecJSON   string // the spec's fields, as table metadata has them
	SchemaJSON string // the table's schema
}

// Writer makes a manifest in memory. Its entries should be sorted by partition, so that readers who want few partitions
// find them in few manifests.
type Writer struct {
	header   Header
	snapshot int64
	types    []transform.Type
	file     *avro.Writer
	info     Info
	ranges   []fieldRange
}

// NewWriter begins a manifest of a snapshot.
func NewWriter(h Header, snapshot int64) (*Writer, error) {
	types, err := WrittenTypes(h.Spec)
	if err != nil {
		return nil, err
	}
	content := "data"
	if h.Content != Data {
		content = "deletes"
	}
	head := map[string]string{
		"schema": h.SchemaJSON, "partition-spec": h.SpecJSON, "partition-spec-id": strconv.Itoa(int(h.Spec.ID)),
		"format-version": strconv.Itoa(h.Version),
	}
	if h.Version > 1 {
		head["content"] = content
	}
	return &Writer{
		header: h, snapshot: snapshot, types: types, ranges: make([]fieldRange, len(types)),
		file: avro.NewWriter(entrySchemaText(h.Version, partitionSchemaText(h.Spec, types)), head),
		info: Info{Spec: h.Spec.ID, Content: h.Content, Sequence: NoSequence, MinSequence: NoSequence, SnapshotID: &snapshot},
	}, nil
}

// Len returns about how many bytes the manifest has so far.
func (w *Writer) Len() int { return w.file.Len() }

// Add writes an entry as it is. A sequence number that is NoSequence is left for the entry to inherit, which only an added
// one may do.
func (w *Writer) Add(e *Entry) error {
	if err := w.check(e); err != nil {
		return err
	}
	w.count(e)
	enc := w.file.Encoder()
	enc.Long(int64(e.Status))
	if w.header.Version == 1 {
		enc.Long(*e.SnapshotID)
	} else {
		optional(enc, e.SnapshotID, (*avro.Encoder).Long)
		sequence(enc, e.Sequence)
		sequence(enc, e.FileSequence)
	}
	err := w.addFile(enc, &e.File)
	w.file.EndObject()
	return err
}

func (w *Writer) check(e *Entry) error {
	wrong := func(what string) error {
		return errs.New(errs.Internal, "write manifest entry of", e.Path, "%s", what)
	}
	switch {
	case e.Path == "" || e.Spec != w.header.Spec.ID || len(e.Partition) != len(w.types):
		return wrong("it has no path, or is of another spec than its manifest")
	case (e.Content == Data) != (w.header.Content == Data):
		return wrong("its content isn't its manifest's")
	case e.SnapshotID == nil:
		return wrong("it has no snapshot ID")
	case w.header.Version > 1 && e.Status == Existing && e.Sequence == NoSequence:
		return wrong("it has no sequence number, though its file isn't new")
	case w.header.Version == 1 && e.Content != Data:
		return wrong("format version 1 has no delete files")
	}
	return nil
}

// count adds the entry to what the manifest list will say.
func (w *Writer) count(e *Entry) {
	files, rows := &w.info.ExistingFiles, &w.info.ExistingRows
	switch e.Status {
	case Added:
		files, rows = &w.info.AddedFiles, &w.info.AddedRows
	case Deleted:
		files, rows = &w.info.DeletedFiles, &w.info.DeletedRows
	}
	*files++
	*rows += e.Rows
	if e.IsLive() && e.Sequence != NoSequence && (w.info.MinSequence == NoSequence || e.Sequence < w.info.MinSequence) {
		w.info.MinSequence = e.Sequence
	}
	for i, t := range w.types {
		w.ranges[i].add(t, e.Partition[i])
	}
}

// v1BlockSize is what writers put into a field that format version 1 requires and nobody reads.
const v1BlockSize = 64 << 20

// addFile encodes a file by the schema of fileColumns.
func (w *Writer) addFile(enc *avro.Encoder, f *File) error {
	version := w.header.Version
	if version > 1 {
		enc.Long(int64(f.Content))
	}
	enc.String(f.Path)
	enc.String(strings.ToUpper(string(f.Format))) // as Iceberg's own engines spell it
	for i, t := range w.types {
		if err := encodeValue(enc, t, f.Partition[i]); err != nil {
			return errs.Wrap(errs.Internal, "write partition of", f.Path, err)
		}
	}
	enc.Long(f.Rows)
	enc.Long(f.Bytes)
	if version == 1 {
		enc.Long(v1BlockSize)
	}
	for _, m := range []map[int]int64{f.ColumnSizes, f.ValueCounts, f.NullCounts, f.NaNCounts} {
		pairs(enc, m, (*avro.Encoder).Long)
	}
	pairs(enc, f.Lower, (*avro.Encoder).Bytes)
	pairs(enc, f.Upper, (*avro.Encoder).Bytes)
	raw(enc, f.KeyMetadata)
	array(enc, f.SplitOffsets)
	if version > 1 {
		array(enc, f.EqualityIDs)
	}
	optional(enc, f.SortOrderID, func(enc *avro.Encoder, id int) { enc.Long(int64(id)) })
	if version > 2 {
		optional(enc, f.FirstRowID, (*avro.Encoder).Long)
	}
	if version > 1 {
		text := &f.Referenced
		if *text == "" {
			text = nil
		}
		optional(enc, text, (*avro.Encoder).String)
	}
	if version > 2 {
		optional(enc, f.Offset, (*avro.Encoder).Long)
		optional(enc, f.Length, (*avro.Encoder).Long)
	}
	return nil
}

// Finish ends the manifest, which will lie at path, and returns its bytes and what a list says of it. Sequence numbers that
// it inherits are NoSequence there.
func (w *Writer) Finish(path string) ([]byte, Info, error) {
	data, err := w.file.Bytes()
	if err != nil {
		return nil, Info{}, errs.Wrap(errs.Internal, "write manifest", path, err)
	}
	w.info.Path, w.info.Length = path, int64(len(data))
	w.info.Partitions = w.summaries()
	return data, w.info, nil
}

func optional[T any](enc *avro.Encoder, v *T, encode func(*avro.Encoder, T)) {
	if v == nil {
		enc.Index(0)
		return
	}
	enc.Index(1)
	encode(enc, *v)
}

func sequence(enc *avro.Encoder, v int64) {
	if v == NoSequence {
		enc.Index(0)
		return
	}
	enc.Index(1)
	enc.Long(v)
}

func raw(enc *avro.Encoder, v []byte) {
	if v == nil {
		enc.Index(0)
		return
	}
	enc.Index(1)
	enc.Bytes(v)
}

func pairs[T any](enc *avro.Encoder, m map[int]T, encode func(*avro.Encoder, T)) {
	if m == nil {
		enc.Index(0)
		return
	}
	enc.Index(1)
	enc.Items(len(m))
	for _, id := range slices.Sorted(maps.Keys(m)) {
		enc.Long(int64(id))
		encode(enc, m[id])
	}
	enc.EndItems()
}

func array[T int | int64](enc *avro.Encoder, list []T) {
	if list == nil {
		enc.Index(0)
		return
	}
	enc.Index(1)
	enc.Items(len(list))
	for _, v := range list {
		enc.Long(int64(v))
	}
	enc.EndItems()
}

// encodeValue encodes a partition value as valueSchemaText has it.
func encodeValue(enc *avro.Encoder, t transform.Type, v transform.Value) error {
	if v == nil {
		enc.Index(0)
		return nil
	}
	fitting, ok := FitValue(t, v)
	if !ok {
		return errs.New(errs.Internal, "", "", "%v isn't a %s", v, t)
	}
	enc.Index(1)
	switch v := fitting.(type) {
	case bool:
		enc.Boolean(v)
	case int32:
		enc.Long(int64(v))
	case int64:
		enc.Long(v)
	case float32:
		enc.Float(v)
	case float64:
		enc.Double(v)
	case string:
		enc.String(v)
	case [16]byte:
		enc.Fixed(v[:])
	case *big.Int:
		digits, err := decimalFixed(v, decimalBytes(t.Precision))
		if err != nil {
			return err
		}
		enc.Fixed(digits)
	case []byte:
		if t.Kind == transform.Binary {
			enc.Bytes(v)
			return nil
		}
		if len(v) != t.Length {
			return errs.New(errs.Internal, "", "", "%d bytes aren't a %s", len(v), t)
		}
		enc.Fixed(v)
	}
	return nil
}

// decimalFixed returns a number as big-endian two's complement of so many bytes.
func decimalFixed(v *big.Int, size int) ([]byte, error) {
	if v.BitLen() >= 8*size {
		return nil, errs.New(errs.Internal, "", "", "the decimal's digits %s have more than %d bytes", v, size)
	}
	if v.Sign() >= 0 {
		return v.FillBytes(make([]byte, size)), nil
	}
	inverted := new(big.Int).Not(v).FillBytes(make([]byte, size))
	for i := range inverted {
		inverted[i] = ^inverted[i]
	}
	return inverted, nil
}

// summaries sums up the entries' tuples for the manifest list. Where a bound can't be encoded there are none at all, since
// readers take an absent bound for the absence of values.
func (w *Writer) summaries() []FieldSummary {
	out := make([]FieldSummary, len(w.types))
	for i, t := range w.types {
		r := &w.ranges[i]
		lower, errLower := catalog.EncodeValue(t, r.lower)
		upper, errUpper := catalog.EncodeValue(t, r.upper)
		if errLower != nil || errUpper != nil {
			return nil
		}
		nan := r.nan
		out[i] = FieldSummary{ContainsNull: r.null, ContainsNaN: &nan, Lower: bytes.Clone(lower), Upper: bytes.Clone(upper)}
	}
	return out
}

// fieldRange gathers the values of one partition field.
type fieldRange struct {
	null, nan    bool
	lower, upper transform.Value
}

func (r *fieldRange) add(t transform.Type, v transform.Value) {
	switch {
	case v == nil:
		r.null = true
	case isNaN(v):
		r.nan = true
	default:
		if r.lower == nil || transform.Compare(t, v, r.lower) < 0 {
			r.lower = v
		}
		if r.upper == nil || transform.Compare(t, v, r.upper) > 0 {
			r.upper = v
		}
	}
}

func isNaN(v transform.Value) bool {
	switch v := v.(type) {
	case float32:
		return v != v
	case float64:
		return v != v
	}
	return false
}
