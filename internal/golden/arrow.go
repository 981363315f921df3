package golden

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// FromArrow returns the value in row i of a column.
func FromArrow(a arrow.Array, i int) (Value, error) {
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL {
		return nil, nil
	}
	switch x := a.(type) {
	case array.ExtensionArray:
		return fromExtension(x, i)
	case *array.Boolean:
		return x.Value(i), nil
	case *array.Float32:
		return float64(x.Value(i)), nil
	case *array.Float64:
		return x.Value(i), nil
	case *array.Decimal128:
		return scaled(x.Value(i).BigInt(), x.DataType().(arrow.DecimalType).GetScale()), nil
	case *array.Decimal256:
		return scaled(x.Value(i).BigInt(), x.DataType().(arrow.DecimalType).GetScale()), nil
	case *array.Uint64:
		return new(big.Rat).SetInt(new(big.Int).SetUint64(x.Value(i))), nil
	case *array.FixedSizeBinary:
		return hex.EncodeToString(x.Value(i)), nil
	case *array.Binary:
		return hex.EncodeToString(x.Value(i)), nil
	case *array.LargeBinary:
		return hex.EncodeToString(x.Value(i)), nil
	case array.StringLike:
		return strings.Clone(x.Value(i)), nil // the array's memory isn't Go's
	}
	if v, ok := fromTime(a, i); ok {
		return v, nil
	}
	if n, ok := fromInteger(a, i); ok {
		return new(big.Rat).SetInt64(n), nil
	}
	return fromNested(a, i)
}

func scaled(unscaled *big.Int, scale int32) *big.Rat {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return new(big.Rat).SetFrac(unscaled, ten)
}

func fromInteger(a arrow.Array, i int) (int64, bool) {
	switch x := a.(type) {
	case *array.Int8:
		return int64(x.Value(i)), true
	case *array.Int16:
		return int64(x.Value(i)), true
	case *array.Int32:
		return int64(x.Value(i)), true
	case *array.Int64:
		return x.Value(i), true
	case *array.Uint8:
		return int64(x.Value(i)), true
	case *array.Uint16:
		return int64(x.Value(i)), true
	case *array.Uint32:
		return int64(x.Value(i)), true
	}
	return 0, false
}

// fromTime writes dates, times and timestamps as the checks do, timestamps with a zone in UTC.
func fromTime(a arrow.Array, i int) (Value, bool) {
	switch x := a.(type) {
	case *array.Date32:
		return time.Unix(int64(x.Value(i))*86400, 0).UTC().Format("2006-01-02"), true
	case *array.Time64:
		unit := x.DataType().(*arrow.Time64Type).Unit
		return x.Value(i).ToTime(unit).UTC().Format("15:04:05.000000"), true
	case *array.Timestamp:
		t := x.Value(i).ToTime(x.DataType().(*arrow.TimestampType).Unit).UTC()
		if t.Nanosecond()%1000 != 0 {
			return t.Format("2006-01-02 15:04:05.000000000"), true
		}
		return t.Format("2006-01-02 15:04:05.000000"), true
	}
	return nil, false
}

// fromExtension looks through an extension type; uuids get their text.
func fromExtension(x array.ExtensionArray, i int) (Value, error) {
	fixed, ok := x.Storage().(*array.FixedSizeBinary)
	if !ok || x.ExtensionType().ExtensionName() != "arrow.uuid" {
		return FromArrow(x.Storage(), i)
	}
	h := hex.EncodeToString(fixed.Value(i))
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}

func fromNested(a arrow.Array, i int) (Value, error) {
	switch x := a.(type) {
	case *array.Map:
		return fromMap(x, i)
	case array.ListLike:
		from, to := x.ValueOffsets(i)
		out := []Value{}
		for k := from; k < to; k++ {
			v, err := FromArrow(x.ListValues(), int(k))
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case *array.Struct:
		out := Struct{}
		for f, field := range x.DataType().(*arrow.StructType).Fields() {
			v, err := FromArrow(x.Field(f), i)
			if err != nil {
				return nil, err
			}
			out[field.Name] = v
		}
		return out, nil
	}
	return nil, fmt.Errorf("a column of type %s can't be compared", a.DataType())
}

func fromMap(x *array.Map, i int) (Value, error) {
	from, to := x.ValueOffsets(i)
	out := Map{}
	for k := from; k < to; k++ {
		key, err := FromArrow(x.Keys(), int(k))
		if err != nil {
			return nil, err
		}
		item, err := FromArrow(x.Items(), int(k))
		if err != nil {
			return nil, err
		}
		out = append(out, [2]Value{key, item})
	}
	return out.sorted(), nil
}

// RowsOf returns a record batch's rows.
func RowsOf(b arrow.RecordBatch) ([]Row, error) {
	out := make([]Row, b.NumRows())
	for i := range out {
		for c := range int(b.NumCols()) {
			v, err := FromArrow(b.Column(c), i)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], v)
		}
	}
	return out, nil
}
