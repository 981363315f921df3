package metrics

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Metrics are those of one file, by field ID.
type Metrics struct {
	Rows         int64
	Sizes        map[int]int64 // bytes in the file
	Values       map[int]int64 // NULLs and NaN included
	Nulls        map[int]int64
	NaNs         map[int]int64
	Lower, Upper map[int][]byte // as the spec's appendix D has single values
	Splits       []int64        // where row groups start

	modes *Modes
}

// Want is what the footer doesn't say of a leaf: the number of NULLs, of NaN, or the bounds of the other values.
type Want struct {
	Leaf   Leaf
	Nulls  bool
	NaNs   bool
	Bounds bool
}

// FromFooter takes the metrics of a Parquet file of the schema's columns, which it knows by their IDs, from its footer.
func FromFooter(meta *metadata.FileMetaData, s *catalog.Schema, modes *Modes) (*Metrics, []Want, error) {
	ids := make([]catalog.FieldID, meta.Schema.NumColumns())
	for i := range ids {
		ids[i] = catalog.FieldID(meta.Schema.Column(i).SchemaNode().FieldID())
	}
	return FromLeaves(meta, ids, s, modes)
}

// FromLeaves is FromFooter of a file whose leaves have the IDs; without any it has no metrics but its rows.
func FromLeaves(meta *metadata.FileMetaData, ids []catalog.FieldID, s *catalog.Schema, modes *Modes) (*Metrics, []Want, error) {
	m := &Metrics{
		Rows: meta.GetNumRows(), Sizes: map[int]int64{}, Values: map[int]int64{}, Nulls: map[int]int64{}, NaNs: map[int]int64{},
		Lower: map[int][]byte{}, Upper: map[int][]byte{}, modes: modes,
	}
	columns := map[catalog.FieldID]int{}
	for i, id := range ids {
		columns[id] = i
	}
	if err := m.splits(meta); err != nil {
		return nil, nil, err
	}
	var wants []Want
	for _, l := range Leaves(s) {
		at, ok := columns[l.Field().ID]
		if !ok || modes.Of(l.Field().ID).Kind == None {
			continue
		}
		want, err := m.column(meta, at, l)
		if err != nil {
			return nil, nil, err
		}
		if want.Nulls || want.NaNs || want.Bounds {
			wants = append(wants, want)
		}
	}
	return m, wants, nil
}

func (m *Metrics) splits(meta *metadata.FileMetaData) error {
	for g := range meta.NumRowGroups() {
		first, err := meta.RowGroup(g).ColumnChunk(0)
		if err != nil {
			return err
		}
		at := first.DataPageOffset()
		if first.HasDictionaryPage() && first.DictionaryPageOffset() > 0 {
			at = min(at, first.DictionaryPageOffset())
		}
		m.Splits = append(m.Splits, at)
	}
	slices.Sort(m.Splits)
	return nil
}

// span is what the row groups say of a column.
type span struct {
	size, values, nulls int64
	noNulls             bool // some row group doesn't say how many NULLs it has
	lower, upper        transform.Value
	open                bool // some row group has values and no usable bounds
}

// column fills in what the footer says of a leaf.
func (m *Metrics) column(meta *metadata.FileMetaData, at int, l Leaf) (Want, error) {
	var s span
	for g := range meta.NumRowGroups() {
		chunk, err := meta.RowGroup(g).ColumnChunk(at)
		if err != nil {
			return Want{}, err
		}
		if err := s.add(chunk, meta.Schema.Column(at), l); err != nil {
			return Want{}, err
		}
	}
	id, want := int(l.Field().ID), Want{Leaf: l}
	m.Sizes[id], m.Values[id] = s.size, s.values
	// DuckDB counts too many NULLs below a list or a map where a struct in it is NULL.
	want.Nulls = s.noNulls || isDuckDB(meta) && l.IsRepeated() && s.nulls > 0
	if !want.Nulls {
		m.Nulls[id] = s.nulls
	}
	kind, mode := l.Field().Type.Primitive.Kind, m.modes.Of(l.Field().ID)
	isFloat := kind == transform.Float || kind == transform.Double
	want.Bounds = l.hasBounds() && mode.Kind >= Truncate && (s.open || mode.tooLong(s.lower) || mode.tooLong(s.upper))
	if isFloat {
		// DuckDB leaves out the bounds of a row group with NaN in it. Other writers leave out NaN, and don't say so.
		if want.NaNs = s.open || want.Nulls || !isDuckDB(meta); !want.NaNs {
			m.NaNs[id] = 0
		}
	}
	if !l.hasBounds() || want.Bounds {
		return want, nil
	}
	return want, m.bounds(l, s.lower, s.upper)
}

func isDuckDB(meta *metadata.FileMetaData) bool {
	v := meta.WriterVersion()
	return v != nil && strings.Contains(strings.ToLower(v.App), "duckdb")
}

// exactBytes is below what writers cut strings in statistics to; DuckDB cuts to 256 bytes. A longer one may not be a value.
const exactBytes = 200

// tooLong says whether a bound may have been cut by who wrote it, at a place that the mode would show.
func (m Mode) tooLong(v transform.Value) bool {
	const bytesPerRune = 4
	switch x := v.(type) {
	case string:
		return len(x) >= exactBytes && (m.Kind == Full || m.Length*bytesPerRune >= exactBytes || !utf8.ValidString(x))
	case []byte:
		return len(x) >= exactBytes && (m.Kind == Full || m.Length >= exactBytes)
	}
	return false
}

func (s *span) add(chunk *metadata.ColumnChunkMetaData, column *schema.Column, l Leaf) error {
	s.size += chunk.TotalCompressedSize()
	s.values += chunk.NumValues()
	stats, err := chunk.Statistics()
	if err != nil {
		return err
	}
	hasValues := chunk.NumValues() > 0
	if stats == nil || !stats.HasNullCount() {
		s.noNulls = true
	} else {
		s.nulls += stats.NullCount()
		hasValues = stats.NullCount() < chunk.NumValues()
	}
	if stats == nil || !stats.HasMinMax() {
		s.open = s.open || hasValues
		return nil
	}
	t := l.Field().Type.Primitive
	low, okLow := valueOf(t, column, stats.EncodeMin())
	high, okHigh := valueOf(t, column, stats.EncodeMax())
	if !okLow || !okHigh {
		s.open = true
		return nil
	}
	if s.lower == nil || transform.Compare(t, low, s.lower) < 0 {
		s.lower = low
	}
	if s.upper == nil || transform.Compare(t, high, s.upper) > 0 {
		s.upper = high
	}
	return nil
}

// Put fills in what the footer didn't say: how many values a leaf has that aren't NULL, how many of those are NaN, and the least
// and greatest of the others; nil when there is none.
func (m *Metrics) Put(w Want, values, nans int64, lower, upper transform.Value) error {
	id := int(w.Leaf.Field().ID)
	if w.Nulls {
		m.Nulls[id] = m.Values[id] - values
	}
	if w.NaNs {
		m.NaNs[id] = nans
	}
	if !w.Bounds {
		return nil
	}
	return m.bounds(w.Leaf, lower, upper)
}

// BoundLength returns how many code points or bytes of the least and greatest value Put needs to be given at least; 0 for all.
func (m *Metrics) BoundLength(w Want) int {
	if mode := m.modes.Of(w.Leaf.Field().ID); mode.Kind == Truncate {
		return mode.Length + 1 // one more tells whether there is more
	}
	return 0
}

func (m *Metrics) bounds(l Leaf, lower, upper transform.Value) error {
	f := l.Field()
	t, mode := f.Type.Primitive, m.modes.Of(f.ID)
	if v := mode.lowerBound(t, lower); v != nil {
		b, err := transform.EncodeBound(cutType(t, v), v)
		if err != nil {
			return errs.Wrap(errs.Internal, "write bounds of", l.Path(), err)
		}
		m.Lower[int(f.ID)] = b
	}
	if v := mode.upperBound(t, upper); v != nil {
		b, err := transform.EncodeBound(cutType(t, v), v)
		if err != nil {
			return errs.Wrap(errs.Internal, "write bounds of", l.Path(), err)
		}
		m.Upper[int(f.ID)] = b
	}
	return nil
}

// cutType returns the type of a bound: that of a fixed may be shorter than its values.
func cutType(t transform.Type, v transform.Value) transform.Type {
	if b, ok := v.([]byte); ok && t.Kind == transform.Fixed {
		t.Length = len(b)
	}
	return t
}

// valueOf reads a value of a footer's statistics as one of t.
func valueOf(t transform.Type, column *schema.Column, b []byte) (transform.Value, bool) {
	switch column.PhysicalType() {
	case parquet.Types.Boolean:
		return len(b) == 1 && b[0] != 0, t.Kind == transform.Boolean && len(b) == 1
	case parquet.Types.Int32:
		if len(b) != 4 {
			return nil, false
		}
		return integerOf(t, column, int64(int32(binary.LittleEndian.Uint32(b))))
	case parquet.Types.Int64:
		if len(b) != 8 {
			return nil, false
		}
		return integerOf(t, column, int64(binary.LittleEndian.Uint64(b)))
	case parquet.Types.Float:
		if len(b) != 4 {
			return nil, false
		}
		return floatOf(t, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case parquet.Types.Double:
		if len(b) != 8 || t.Kind != transform.Double {
			return nil, false
		}
		return floatOf(t, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return bytesOf(t, b)
	}
	return nil, false
}

func integerOf(t transform.Type, column *schema.Column, n int64) (transform.Value, bool) {
	switch t.Kind {
	case transform.Int, transform.Date:
		return int32(n), n == int64(int32(n))
	case transform.Long:
		return n, true
	case transform.Decimal:
		return big.NewInt(n), true
	case transform.Time, transform.Timestamp, transform.TimestampTZ:
		return inUnit(n, nanosPerUnit(column.LogicalType()), 1000)
	case transform.TimestampNS, transform.TimestampTZNS:
		return inUnit(n, nanosPerUnit(column.LogicalType()), 1)
	}
	return nil, false
}

// nanosPerUnit returns how many nanoseconds one unit of a time or timestamp column is; 0 for other columns.
func nanosPerUnit(t schema.LogicalType) int64 {
	var unit schema.TimeUnitType
	switch t := t.(type) {
	case schema.TimestampLogicalType:
		unit = t.TimeUnit()
	case schema.TimeLogicalType:
		unit = t.TimeUnit()
	default:
		return 0
	}
	return map[schema.TimeUnitType]int64{schema.TimeUnitMillis: 1e6, schema.TimeUnitMicros: 1e3, schema.TimeUnitNanos: 1}[unit]
}

// inUnit converts a time from one unit to another that is no coarser; false where that isn't so, or it overflows.
func inUnit(n, from, to int64) (transform.Value, bool) {
	if from == 0 || from < to {
		return nil, false
	}
	factor := from / to
	return n * factor, n <= math.MaxInt64/factor && n >= math.MinInt64/factor
}

func floatOf(t transform.Type, f float64) (transform.Value, bool) {
	if math.IsNaN(f) {
		return nil, false
	}
	switch t.Kind {
	case transform.Float:
		return float32(f), true
	case transform.Double:
		return f, true
	}
	return nil, false
}

func bytesOf(t transform.Type, b []byte) (transform.Value, bool) {
	switch t.Kind {
	case transform.String:
		return string(b), utf8.Valid(b)
	case transform.Binary, transform.Fixed:
		return b, true
	case transform.UUID:
		if len(b) != 16 {
			return nil, false
		}
		return [16]byte(b), true
	case transform.Decimal:
		if len(b) == 0 {
			return nil, false
		}
		n := new(big.Int).SetBytes(b)
		if b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return n, true
	}
	return nil, false
}
