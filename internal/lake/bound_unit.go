package lake

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"
)

// inTableUnits makes bounds that were taken from a file's statistics those of the table's columns. Statistics are in the
// file's own units of time, and bounds in the type's: microseconds, or nanoseconds. What can't be told exactly is no bound.
func inTableUnits(bounds map[int][]byte, table *iceberg.Schema, meta *metadata.FileMetaData) map[int][]byte {
	for i := range meta.Schema.NumColumns() {
		column := meta.Schema.Column(i)
		id := int(column.SchemaNode().FieldID())
		b, ok := bounds[id]
		unit := nanosPerUnit(column.LogicalType())
		if !ok || unit == 0 {
			continue
		}
		field, ok := table.FindFieldByID(id)
		if !ok {
			continue
		}
		if scaled := scaleBound(b, unit, typeUnit(field.Type)); scaled != nil {
			bounds[id] = scaled
		} else {
			delete(bounds, id)
		}
	}
	return bounds
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

// typeUnit returns how many nanoseconds one unit of a type's bounds is; 0 for other types than times.
func typeUnit(t iceberg.Type) int64 {
	switch t.(type) {
	case iceberg.TimeType, iceberg.TimestampType, iceberg.TimestampTzType:
		return 1e3
	case iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		return 1
	}
	return 0
}

// scaleBound converts a bound from one unit to another that is no coarser; nil where that isn't so, or it overflows.
func scaleBound(b []byte, from, to int64) []byte {
	switch {
	case from == to:
		return b
	case to == 0 || from < to || len(b) != 8:
		return nil
	}
	n, factor := int64(binary.LittleEndian.Uint64(b)), from/to
	if n > math.MaxInt64/factor || n < math.MinInt64/factor {
		return nil
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(n*factor))
}
