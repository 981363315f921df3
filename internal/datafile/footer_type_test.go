package datafile

import (
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/transform"
)

func TestStoredTypes(t *testing.T) {
	types := parquet.Types
	micros, millis, nanos := schema.TimeUnitMicros, schema.TimeUnitMillis, schema.TimeUnitNanos
	for _, c := range []struct {
		stored storedType
		table  string
		want   fitness
	}{
		{storedType{physical: types.Boolean}, "boolean", fits},
		{storedType{physical: types.Int32}, "int", fits},
		{storedType{physical: types.Int32}, "long", fits},
		{storedType{physical: types.Int64}, "int", unfit},
		{storedType{physical: types.Int32, logical: schema.NewIntLogicalType(16, true)}, "int", fits},
		{storedType{physical: types.Int32, logical: schema.NewIntLogicalType(32, false)}, "long", unfit},
		{storedType{physical: types.Int32, logical: schema.DateLogicalType{}}, "int", unfit},
		{storedType{physical: types.Float}, "double", fits},
		{storedType{physical: types.Double}, "float", unfit},
		{storedType{physical: types.Int32, logical: schema.NewDecimalLogicalType(9, 2)}, "decimal(18,2)", fits},
		{storedType{physical: types.FixedLenByteArray, length: 16, logical: schema.NewDecimalLogicalType(38, 2)}, "decimal(38,2)", fits},
		{storedType{physical: types.Int64, logical: schema.NewDecimalLogicalType(18, 2)}, "decimal(9,2)", unfit},
		{storedType{physical: types.Int32, logical: schema.NewDecimalLogicalType(9, 3)}, "decimal(9,2)", unfit},
		{storedType{physical: types.Int32}, "decimal(9,2)", unfit},
		{storedType{physical: types.Int32, logical: schema.DateLogicalType{}}, "date", fits},
		{storedType{physical: types.Int32, logical: schema.DateLogicalType{}}, "timestamp", fits},
		{storedType{physical: types.Int32, logical: schema.DateLogicalType{}}, "timestamptz", unfit},
		{storedType{physical: types.Int32}, "date", unfit},
		{storedType{physical: types.Int64, logical: schema.NewTimeLogicalType(false, micros)}, "time", fits},
		{storedType{physical: types.Int64, logical: schema.NewTimeLogicalType(false, nanos)}, "time", unread},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(false, micros)}, "timestamp", fits},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(false, millis)}, "timestamp", fits},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(true, micros)}, "timestamp", unread},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(true, micros)}, "timestamptz", fits},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(false, nanos)}, "timestamp", unread},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(false, nanos)}, "timestamp_ns", fits},
		{storedType{physical: types.Int96}, "timestamp", fits},
		{storedType{physical: types.Int96}, "timestamptz", fits},
		{storedType{physical: types.Int96}, "timestamp_ns", unread},
		{storedType{physical: types.Int96}, "timestamptz_ns", unread},
		{storedType{physical: types.Int96}, "long", unfit},
		{storedType{physical: types.Int64}, "timestamp", unfit},
		{storedType{physical: types.ByteArray, logical: schema.StringLogicalType{}}, "string", fits},
		{storedType{physical: types.ByteArray}, "string", unread},
		{storedType{physical: types.ByteArray}, "binary", fits},
		{storedType{physical: types.ByteArray, logical: schema.StringLogicalType{}}, "binary", unread},
		{storedType{physical: types.FixedLenByteArray, length: 4}, "fixed[4]", fits},
		{storedType{physical: types.FixedLenByteArray, length: 5}, "fixed[4]", unfit},
		{storedType{physical: types.FixedLenByteArray, length: 16, logical: schema.UUIDLogicalType{}}, "uuid", fits},
		{storedType{physical: types.FixedLenByteArray, length: 16}, "uuid", unread},
		{storedType{physical: types.Int32}, "string", unfit},
	} {
		typ, err := transform.ParseType(c.table)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.stored.fit(typ); got != c.want {
			t.Errorf("%s read as %s: %v, want %v", c.stored, c.table, got, c.want)
		}
	}
}
