package lake

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// tupleTypes returns the types of a spec's partition values. The Kind is None where it can't be told: the transform is
// unknown, has several sources, or its source column is gone.
func tupleTypes(spec catalog.PartitionSpec) []transform.Type {
	types := make([]transform.Type, len(spec.Fields))
	for i, f := range spec.Fields {
		if f.SourceType.Kind != transform.None && f.Transform.Op != transform.OpUnknown {
			types[i] = f.Transform.ResultType(f.SourceType)
		}
	}
	return types
}

// tupleOf returns a file's partition tuple in the order of its spec's fields.
func tupleOf(f iceberg.DataFile, spec catalog.PartitionSpec, types []transform.Type) ([]transform.Value, error) {
	if len(spec.Fields) == 0 {
		return nil, nil
	}
	values := f.Partition()
	tuple := make([]transform.Value, len(spec.Fields))
	for i, field := range spec.Fields {
		v, ok := values[int(field.ID)]
		if !ok && field.Transform.Op != transform.Void {
			return nil, errs.New(errs.Corrupt, "read partition of", f.FilePath(), "field %d %q is missing", field.ID, field.Name)
		}
		value, err := partitionValue(types[i], v)
		if err != nil {
			return nil, errs.Wrap(errs.Corrupt, fmt.Sprintf("read partition field %q of", field.Name), f.FilePath(), err)
		}
		if b, ok := value.(int32); ok && field.Transform.Op == transform.Bucket && (b < 0 || int(b) >= field.Transform.N) {
			return nil, errs.New(errs.Corrupt, "read partition of", f.FilePath(), "field %q has the value %d, which %s never gives",
				field.Name, b, field.Transform)
		}
		tuple[i] = value
	}
	return tuple, nil
}

// partitionValue turns what iceberg-go decodes into a Value of type t, widening what a narrower type was written as.
func partitionValue(t transform.Type, v any) (transform.Value, error) {
	if v == nil {
		return nil, nil
	}
	if _, isDate := v.(iceberg.Date); isDate && isTimestamp(t) {
		return nil, errs.New(errs.Unsupported, "", "", "the column was promoted from date to %s, which can't be read yet", t)
	}
	raw := plainValue(v)
	if t.Kind == transform.None || t.Kind == transform.Unknown {
		return anyValue(v, raw)
	}
	if value, ok := fitValue(t, raw); ok {
		return value, nil
	}
	return nil, fmt.Errorf("it holds %v, not a %s", v, t)
}

func isTimestamp(t transform.Type) bool {
	switch t.Kind {
	case transform.Timestamp, transform.TimestampTZ, transform.TimestampNS, transform.TimestampTZNS:
		return true
	}
	return false
}

// plainValue strips iceberg-go's own types off a decoded value.
func plainValue(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case iceberg.Date:
		return int32(v)
	case iceberg.Time:
		return int64(v)
	case iceberg.Timestamp:
		return int64(v)
	case iceberg.TimestampNano:
		return int64(v)
	case iceberg.DecimalLiteral:
		return v.Val.BigInt()
	case iceberg.Decimal:
		return v.Val.BigInt()
	case uuid.UUID:
		return [16]byte(v)
	case time.Time:
		return v.UnixMicro()
	case time.Duration:
		return v.Microseconds()
	}
	return v
}

// fitValue makes raw a value of type t, if it is one or widens to one.
func fitValue(t transform.Type, raw any) (transform.Value, bool) {
	switch t.Kind {
	case transform.Boolean:
		return as[bool](raw)
	case transform.Int, transform.Date:
		return as[int32](raw)
	case transform.Long, transform.Time, transform.Timestamp, transform.TimestampTZ, transform.TimestampNS, transform.TimestampTZNS:
		if v, ok := raw.(int32); ok {
			return int64(v), true
		}
		return as[int64](raw)
	case transform.Float:
		return as[float32](raw)
	case transform.Double:
		if v, ok := raw.(float32); ok {
			return float64(v), true
		}
		return as[float64](raw)
	case transform.Decimal:
		return as[*big.Int](raw)
	case transform.String:
		return as[string](raw)
	case transform.UUID:
		if v, ok := raw.([]byte); ok && len(v) == 16 {
			return [16]byte(v), true
		}
		return as[[16]byte](raw)
	case transform.Fixed, transform.Binary:
		if v, ok := raw.([]byte); ok {
			return slices.Clone(v), true
		}
		if v, ok := raw.([16]byte); ok {
			return v[:], true
		}
	}
	return nil, false
}

func as[T any](raw any) (transform.Value, bool) {
	v, ok := raw.(T)
	return v, ok
}

// anyValue lets through what is a Value of some type, for fields whose own type can't be told. It serves to tell tuples
// apart, never to compare them.
func anyValue(v, raw any) (transform.Value, error) {
	switch raw.(type) {
	case bool, int32, int64, float32, float64, string, [16]byte, []byte, *big.Int:
		return raw, nil
	}
	return nil, fmt.Errorf("it holds %v of %T, which is no partition value", v, v)
}
