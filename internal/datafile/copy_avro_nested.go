package datafile

import (
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/namemapping"
)

// avroPlanner plans how values of Avro types are read. IDs are the file's own or, byName, the name mapping's.
type avroPlanner struct {
	names  nameMap
	byName bool
}

// lookup returns the ID of a record's field, and the mapping of the fields within it.
func (p avroPlanner) lookup(f avro.Field, names nameMap) (catalog.FieldID, nameMap) {
	if !p.byName {
		return idOfAvro(f.ID), nil
	}
	for _, name := range append([]string{f.Name}, f.Aliases...) {
		if to, ok := names[name]; ok {
			return to.id, to.inner
		}
	}
	return noID, nil
}

// inner returns the ID of an element, a key or a value.
func (p avroPlanner) inner(id int, name string, names nameMap) (catalog.FieldID, nameMap) {
	return p.lookup(avro.Field{Name: name, ID: id}, names)
}

func idOfAvro(id int) catalog.FieldID {
	if id == avro.NoID {
		return noID
	}
	return catalog.FieldID(id)
}

// value returns the column that values of s become, without its name and ID, and how they are read. want, which may be
// nil, is what the table makes of them.
func (p avroPlanner) value(s *avro.Schema, names nameMap, want *catalog.Field) (arrow.Field, avroRead, error) {
	o, ok := s.Optional()
	if !ok {
		return arrow.Field{}, nil, errs.New(errs.Unsupported, "", "", "it is a union of several types, which no Iceberg table has")
	}
	typ, read, err := p.present(o.Type, names, want)
	if err != nil {
		return arrow.Field{}, nil, err
	}
	if !o.Nullable() {
		return arrow.Field{Type: typ}, read, nil
	}
	return arrow.Field{Type: typ, Nullable: true}, func(d *avro.Decoder, b array.Builder) {
		if d.Present(o) {
			read(d, b)
		} else {
			b.AppendNull()
		}
	}, nil
}

func (p avroPlanner) present(s *avro.Schema, names nameMap, want *catalog.Field) (arrow.DataType, avroRead, error) {
	switch {
	case s.Kind == avro.Record:
		return p.record(s, names, want)
	case s.Kind == avro.Array && s.Logical == "map":
		return p.pairs(s, names, want)
	case s.Kind == avro.Array:
		return p.list(s, names, want)
	case s.Kind == avro.Map:
		return p.textMap(s, names, want)
	}
	return avroLeaf(s, want)
}

// within returns what is wanted of a value's part at a place, if the value is wanted as of that kind.
func within(want *catalog.Field, kind catalog.NestedKind, at int) *catalog.Field {
	if want == nil || want.Type.Nested != kind {
		return nil
	}
	return &want.Type.Fields[at]
}

// record leaves out the fields that have no ID: nothing reads them.
func (p avroPlanner) record(s *avro.Schema, names nameMap, want *catalog.Field) (arrow.DataType, avroRead, error) {
	var columns []arrow.Field
	var fields []avroField
	for _, f := range s.Fields {
		out := avroField{typ: f.Type}
		id, inner := p.lookup(f, names)
		if id != noID && f.Type.Kind != avro.Null {
			var wanted *catalog.Field
			if want != nil && want.Type.Nested == catalog.Struct {
				wanted = fieldByID(want.Type.Fields, id)
			}
			column, read, err := p.value(f.Type, inner, wanted)
			switch {
			case err != nil && wanted != nil:
				return nil, nil, err
			case err == nil:
				column.Name, column.Metadata = f.Name, ArrowID(id)
				if wanted != nil {
					column.Name = wanted.Name
				}
				out.read, out.at = read, len(columns)
				columns = append(columns, column)
			}
		}
		fields = append(fields, out)
	}
	if len(columns) == 0 {
		return nil, nil, errs.New(errs.Unsupported, "", "", "the record %q has no field that can be read", s.Name)
	}
	return arrow.StructOf(columns...), func(d *avro.Decoder, b array.Builder) {
		to := b.(*array.StructBuilder)
		to.Append(true)
		for _, f := range fields {
			if f.read == nil {
				d.Skip(f.typ)
			} else {
				f.read(d, to.FieldBuilder(f.at))
			}
		}
	}, nil
}

func (p avroPlanner) list(s *avro.Schema, names nameMap, want *catalog.Field) (arrow.DataType, avroRead, error) {
	id, inner := p.inner(s.ElementID, "element", names)
	element, read, err := p.value(s.Items, inner, within(want, catalog.List, 0))
	if err != nil {
		return nil, nil, err
	}
	element.Name = "element"
	if id != noID {
		element.Metadata = ArrowID(id)
	}
	return arrow.ListOfField(element), func(d *avro.Decoder, b array.Builder) {
		to := b.(*array.ListBuilder)
		to.Append(true)
		for it := d.Items(s); it.Next(); {
			read(d, to.ValueBuilder())
		}
	}, nil
}

// pairs reads a map that is an array of records of a key and a value.
func (p avroPlanner) pairs(s *avro.Schema, names nameMap, want *catalog.Field) (arrow.DataType, avroRead, error) {
	if s.Items.Kind != avro.Record || len(s.Items.Fields) != 2 {
		return nil, nil, errs.New(errs.Corrupt, "", "", "an array that is marked as a map has no records of a key and a value")
	}
	var parts [2]arrow.Field
	var reads [2]avroRead
	for i, f := range s.Items.Fields {
		id, inner := p.inner(f.ID, namemapping.InnerNames(catalog.Map)[i], names)
		var err error
		if parts[i], reads[i], err = p.value(f.Type, inner, within(want, catalog.Map, i)); err != nil {
			return nil, nil, err
		}
		if id != noID {
			parts[i].Metadata = ArrowID(id)
		}
	}
	return arrowMap(parts), mapRead(s, reads), nil
}

// textMap reads a map of Avro's own kind.
func (p avroPlanner) textMap(s *avro.Schema, names nameMap, want *catalog.Field) (arrow.DataType, avroRead, error) {
	keyID, _ := p.inner(s.KeyID, "key", names)
	valueID, inner := p.inner(s.ValueID, "value", names)
	value, read, err := p.value(s.Items, inner, within(want, catalog.Map, 1))
	if err != nil {
		return nil, nil, err
	}
	key := arrow.Field{Type: arrow.BinaryTypes.String}
	if keyID != noID {
		key.Metadata = ArrowID(keyID)
	}
	if valueID != noID {
		value.Metadata = ArrowID(valueID)
	}
	return arrowMap([2]arrow.Field{key, value}), mapRead(s, [2]avroRead{readText, read}), nil
}

func arrowMap(parts [2]arrow.Field) arrow.DataType {
	parts[0].Name, parts[0].Nullable, parts[1].Name = "key", false, "value"
	return arrow.MapOfFields(parts[0], parts[1])
}

func mapRead(s *avro.Schema, reads [2]avroRead) avroRead {
	return func(d *avro.Decoder, b array.Builder) {
		to := b.(*array.MapBuilder)
		to.Append(true)
		for it := d.Items(s); it.Next(); {
			reads[0](d, to.KeyBuilder())
			reads[1](d, to.ItemBuilder())
		}
	}
}

func readText(d *avro.Decoder, b array.Builder) {
	text := d.Bytes()
	if !utf8.Valid(text) {
		d.Fail("a string isn't valid UTF-8")
	}
	b.(*array.StringBuilder).BinaryBuilder.Append(text)
}
