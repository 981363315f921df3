package manifest

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// TupleTypes returns the types of a spec's partition values. The Kind is None where it can't be told: the transform is
// unknown, has several sources, or its source column is gone.
func TupleTypes(spec catalog.PartitionSpec) []transform.Type {
	types := make([]transform.Type, len(spec.Fields))
	for i, f := range spec.Fields {
		if f.SourceType.Kind != transform.None && f.Transform.Op != transform.OpUnknown {
			types[i] = f.Transform.ResultType(f.SourceType)
		}
	}
	return types
}

// tupleSpec is a partition spec and the types of its values.
type tupleSpec struct {
	catalog.PartitionSpec
	types []transform.Type
}

func newTupleSpec(spec catalog.PartitionSpec) tupleSpec {
	return tupleSpec{PartitionSpec: spec, types: TupleTypes(spec)}
}

// tuplePlan is how to read the partitions of a manifest, which are records of its own schema.
type tuplePlan struct {
	spec   tupleSpec
	record *avro.Schema
	at     []int // of each field of the record its place in the spec, or -1
	values []avro.Optional
}

// newTuplePlan finds the spec's fields in the record: by their IDs or, if the record has none, by their places or names.
// A field may be missing only if all its values are NULL anyway.
func newTuplePlan(record *avro.Schema, spec tupleSpec) (tuplePlan, error) {
	p := tuplePlan{spec: spec, record: record}
	hasIDs := slices.ContainsFunc(record.Fields, func(f avro.Field) bool { return f.ID != avro.NoID })
	byPlace := !hasIDs && len(record.Fields) == len(spec.Fields)
	found := make([]bool, len(spec.Fields))
	for i, f := range record.Fields {
		at := i
		if !byPlace {
			at = slices.IndexFunc(spec.Fields, func(s catalog.PartitionField) bool {
				return hasIDs && int(s.ID) == f.ID || !hasIDs && (s.Name == f.Name || AvroName(s.Name) == f.Name)
			})
		}
		value, ok := f.Type.Optional()
		if at >= 0 {
			if !ok {
				return p, fmt.Errorf("its partition field %q is a %s", f.Name, f.Type.Kind)
			}
			if found[at] {
				return p, fmt.Errorf("its partition field %d %q is there twice", spec.Fields[at].ID, f.Name)
			}
			found[at] = true
			if err := p.checkScale(at, value.Type); err != nil {
				return p, err
			}
		}
		p.at = append(p.at, at)
		p.values = append(p.values, value)
	}
	for i, f := range spec.Fields {
		if !found[i] && f.Transform.Op != transform.Void {
			return p, fmt.Errorf("its partitions lack the field %d %q of spec %d", f.ID, f.Name, spec.ID)
		}
	}
	return p, nil
}

// checkScale refuses decimals of another scale than their column's: their digits would mean another number.
func (p *tuplePlan) checkScale(at int, written *avro.Schema) error {
	t := p.spec.types[at]
	if t.Kind == transform.Decimal && written.Logical == "decimal" && written.Scale != t.Scale {
		return fmt.Errorf("its partition field %q is a decimal of scale %d, not %d", p.spec.Fields[at].Name, written.Scale, t.Scale)
	}
	return nil
}

// read decodes the partition of the file at path. The values of a void field are NULL, whatever a file says: in old tables
// the field was another one before.
func (p *tuplePlan) read(written, path []byte) ([]transform.Value, error) {
	if len(p.spec.Fields) == 0 {
		return nil, nil
	}
	tuple := make([]transform.Value, len(p.spec.Fields))
	d := avro.NewDecoder(written)
	for i, at := range p.at {
		if at < 0 || p.spec.Fields[at].Transform.Op == transform.Void {
			d.Skip(p.record.Fields[i].Type)
			continue
		}
		if !d.Present(p.values[i]) {
			continue
		}
		field := p.spec.Fields[at]
		value, err := partitionValue(p.spec.types[at], p.values[i].Type, plainValue(d, p.values[i].Type))
		if err != nil {
			return nil, errs.Wrap(errs.Corrupt, fmt.Sprintf("read partition field %q of", field.Name), string(path), err)
		}
		if b, ok := value.(int32); ok && field.Transform.Op == transform.Bucket && (b < 0 || int(b) >= field.Transform.N) {
			return nil, errs.New(errs.Corrupt, "read partition of", string(path), "field %q has the value %d, which %s never gives",
				field.Name, b, field.Transform)
		}
		tuple[at] = value
	}
	return tuple, errs.Wrap(errs.Corrupt, "read partition of", string(path), d.Err())
}

// partitionValue makes a Value of type t of what was written as another type of the same meaning, widening it.
func partitionValue(t transform.Type, written *avro.Schema, raw any) (transform.Value, error) {
	if written.Logical == "date" && t.IsTimestamp() {
		return nil, errs.New(errs.Unsupported, "", "", "the column was promoted from date to %s, which can't be read yet", t)
	}
	if t.Kind == transform.None || t.Kind == transform.Unknown {
		return anyValue(written, raw)
	}
	if value, ok := FitValue(t, raw); ok {
		return value, nil
	}
	return nil, fmt.Errorf("it holds %v, not a %s", raw, t)
}

// plainValue decodes a value that may be a partition's, in the Go type that fits it; nil is a type that never is one.
func plainValue(d *avro.Decoder, written *avro.Schema) any {
	switch written.Kind {
	case avro.Boolean:
		return d.Boolean()
	case avro.Int:
		if written.Logical == "time-millis" {
			return int64(d.Int()) * 1000
		}
		return d.Int()
	case avro.Long:
		v := d.Long()
		if written.Logical == "timestamp-millis" || written.Logical == "local-timestamp-millis" {
			if v*1000/1000 != v {
				d.Fail("%d milliseconds are too many", v)
			}
			return v * 1000
		}
		return v
	case avro.Float:
		return d.Float()
	case avro.Double:
		return d.Double()
	case avro.String:
		return string(d.Bytes())
	case avro.Bytes, avro.Fixed:
		b := bytesOf(d, written)
		if written.Logical == "decimal" {
			return avro.SignedInt(b)
		}
		return slices.Clone(b)
	}
	d.Skip(written)
	return nil
}

func bytesOf(d *avro.Decoder, written *avro.Schema) []byte {
	if written.Kind == avro.Fixed {
		return d.Fixed(written.Size)
	}
	return d.Bytes()
}

// FitValue makes raw, as a file may spell it, a value of type t, if it is one or widens to one: bytes may be a decimal's
// digits, a UUID, or themselves, and are copied.
func FitValue(t transform.Type, raw any) (transform.Value, bool) {
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
		if v, ok := raw.([]byte); ok {
			return avro.SignedInt(v), true
		}
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
func anyValue(written *avro.Schema, raw any) (transform.Value, error) {
	if raw == nil {
		return nil, fmt.Errorf("it is a %s, which is no partition value", written.Kind)
	}
	if b, ok := raw.([]byte); ok && written.Logical == "uuid" && len(b) == 16 {
		return [16]byte(b), nil
	}
	return raw, nil
}

// AvroName makes a partition field's name one that Avro allows, as Iceberg's own engines do: "a b" is a_x20b.
func AvroName(name string) string {
	var b strings.Builder
	for i, r := range name {
		isLetter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		isDigit := r >= '0' && r <= '9'
		switch {
		case isLetter, isDigit && i > 0:
			b.WriteRune(r)
		case isDigit:
			b.WriteString("_" + string(r))
		default:
			fmt.Fprintf(&b, "_x%X", r)
		}
	}
	return b.String()
}
