package plainreader

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"os"
	"reflect"
	"time"

	"github.com/hamba/avro/v2"
	"github.com/hamba/avro/v2/ocf"
	"github.com/tarndb/tarn/internal/golden"
)

// readAvro reads a whole Avro file, and the properties in its header.
func readAvro(path string, mapping []mapped) ([]record, map[string][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	dec, err := ocf.NewDecoder(f, ocf.WithDecoderSchemaCache(&avro.SchemaCache{}))
	if err != nil {
		return nil, nil, err
	}
	schema, ok := dec.Schema().(*avro.RecordSchema)
	if !ok {
		return nil, nil, fmt.Errorf("%w: Avro of %s", ErrUnknown, dec.Schema().Type())
	}
	columns := avroShapes(schema)
	if err := identify(columns, mapping); err != nil {
		return nil, nil, err
	}
	var out []record
	for dec.HasNext() {
		var in map[string]any
		if err := dec.Decode(&in); err != nil {
			return nil, nil, err
		}
		r, err := fromAvro(schema, columns, in)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, r.(record))
	}
	return out, dec.Metadata(), dec.Error()
}

// avroKids returns the shapes below a schema.
func avroKids(s avro.Schema) []shape {
	switch s := present(s).(type) {
	case *avro.RecordSchema:
		return avroShapes(s)
	case *avro.ArraySchema:
		if entry, ok := entryOf(s); ok {
			return avroShapes(entry)
		}
		return []shape{{name: "element", kids: avroKids(s.Items())}}
	case *avro.MapSchema:
		return []shape{{name: "key"}, {name: "value", kids: avroKids(s.Values())}}
	}
	return nil
}

func avroShapes(s *avro.RecordSchema) []shape {
	var out []shape
	for _, f := range s.Fields() {
		id, ok := f.Prop("field-id").(float64)
		out = append(out, shape{name: f.Name(), id: int(id), ok: ok, kids: avroKids(f.Type())})
	}
	return out
}

// present looks through a reference, and through a union with null at its other type.
func present(s avro.Schema) avro.Schema {
	switch x := s.(type) {
	case *avro.RefSchema:
		return x.Schema()
	case *avro.UnionSchema:
		for _, t := range x.Types() {
			if len(x.Types()) == 2 && t.Type() != avro.Null {
				return present(t)
			}
		}
	}
	return s
}

// entryOf returns the schema of a map's entries: a map whose keys aren't text is an array of them.
func entryOf(s *avro.ArraySchema) (*avro.RecordSchema, bool) {
	entry, ok := present(s.Items()).(*avro.RecordSchema)
	return entry, ok && s.Prop("logicalType") == "map" && len(entry.Fields()) == 2
}

// fromAvro turns what the library decoded into a value of a record. Unless its type is a simple one, the library gives a value
// of a union as a map from the name of the type.
func fromAvro(s avro.Schema, kids []shape, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	if named, ok := v.(map[string]any); ok && s.Type() == avro.Union {
		for _, inner := range named {
			v = inner
		}
	}
	switch s := present(s).(type) {
	case *avro.RecordSchema:
		return recordFromAvro(s, kids, v)
	case *avro.ArraySchema:
		return listFromAvro(s, kids, v)
	case *avro.MapSchema:
		out := pairs{}
		in, _ := v.(map[string]any)
		for key, item := range in {
			item, err := fromAvro(s.Values(), kids[1].kids, item)
			if err != nil {
				return nil, err
			}
			out = append(out, [2]any{key, item})
		}
		return out, nil
	case avro.LogicalTypeSchema:
		return primitiveFromAvro(s.Logical(), v)
	}
	return primitiveFromAvro(nil, v)
}

func recordFromAvro(s *avro.RecordSchema, kids []shape, v any) (any, error) {
	in, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: %T in a record", ErrUnknown, v)
	}
	out := record{}
	for i, f := range s.Fields() {
		if !kids[i].ok {
			continue
		}
		v, err := fromAvro(f.Type(), kids[i].kids, in[f.Name()])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		out[kids[i].id] = v
	}
	return out, nil
}

func listFromAvro(s *avro.ArraySchema, kids []shape, v any) (any, error) {
	in, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: %T in an array", ErrUnknown, v)
	}
	if entry, ok := entryOf(s); ok {
		out := pairs{}
		for _, item := range in {
			e, err := recordFromAvro(entry, kids, item)
			if err != nil {
				return nil, err
			}
			out = append(out, [2]any{e.(record)[kids[0].id], e.(record)[kids[1].id]})
		}
		return out, nil
	}
	out := []any{}
	for _, item := range in {
		v, err := fromAvro(s.Items(), kids[0].kids, item)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func primitiveFromAvro(logical avro.LogicalSchema, v any) (golden.Value, error) {
	switch x := v.(type) {
	case bool, string, float64, *big.Rat:
		return x, nil
	case float32:
		return float64(x), nil
	case int:
		return number(int64(x)), nil
	case int64:
		return number(x), nil
	case []byte:
		return hex.EncodeToString(x), nil
	case time.Duration:
		return timeText(x), nil
	case time.Time:
		if logical != nil && logical.Type() == avro.Date {
			return dateText(x), nil
		}
		return timestampText(x), nil
	}
	if fixed := reflect.ValueOf(v); fixed.Kind() == reflect.Array {
		out := make([]byte, fixed.Len())
		reflect.Copy(reflect.ValueOf(out), fixed)
		return hex.EncodeToString(out), nil
	}
	return nil, fmt.Errorf("%w: %T in Avro", ErrUnknown, v)
}
