package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/avro"
)

// knownField is a field of a metadata record that we know. It is found by its ID or, in a file whose schema has no IDs, by one
// of its names.
type knownField struct {
	id       int
	names    string // the spec's, then older ones, parted by spaces
	form     form
	required bool
}

// form is what a column's values are.
type form uint8

const (
	formNumber form = iota
	formFlag
	formText
	formBytes
	formRecord
	formNumbers        // an array of numbers
	formRecords        // an array of records
	formCountsByID     // an array of records of a field ID and a number
	formBoundsByID     // an array of records of a field ID and bytes
	formNotOurs        // skipped
	lastForm       int = iota
)

var formNames = [lastForm]string{
	"a number", "a boolean", "a string", "bytes", "a record", "an array of numbers", "an array of records",
	"a map of numbers", "a map of bytes", "anything",
}

// step reads one field of a record where a file has it.
type step struct {
	knownField // of one that we know
	written    *avro.Schema
	value      avro.Optional
	key        avro.Optional // of a map's entry
	entry      avro.Optional // of a map's entry its value; of an array its elements
}

// stepsOf returns how to read a record. Fields that aren't known are skipped.
func stepsOf(record *avro.Schema, known []knownField) ([]step, error) {
	if record.Kind != avro.Record {
		return nil, fmt.Errorf("its schema is a %s, not a record", record.Kind)
	}
	steps := make([]step, len(record.Fields))
	seen := map[int]bool{}
	for i, f := range record.Fields {
		steps[i] = step{knownField: knownField{form: formNotOurs}, written: f.Type}
		at := slices.IndexFunc(known, func(c knownField) bool { return c.is(f) })
		if at < 0 {
			continue
		}
		c := known[at]
		if seen[c.id] {
			return nil, fmt.Errorf("its schema has the field %q twice", f.Name)
		}
		seen[c.id] = true
		s, ok := stepOf(c, f.Type)
		if !ok {
			return nil, fmt.Errorf("its schema has %s where the field %q is %s", f.Type.Kind, f.Name, formNames[c.form])
		}
		steps[i] = s
	}
	for _, c := range known {
		if c.required && !seen[c.id] {
			return nil, fmt.Errorf("its schema has no field %q", c.name())
		}
	}
	return steps, nil
}

func (c knownField) name() string {
	name, _, _ := strings.Cut(c.names, " ")
	return name
}

func (c knownField) is(f avro.Field) bool {
	if f.ID != avro.NoID {
		return f.ID == c.id
	}
	for name := range strings.FieldsSeq(c.names) {
		if strings.EqualFold(name, f.Name) || slices.Contains(f.Aliases, name) {
			return true
		}
	}
	return false
}

func stepOf(c knownField, written *avro.Schema) (step, bool) {
	value, ok := written.Optional()
	s := step{knownField: c, written: written, value: value}
	if !ok || value.Type.Kind == avro.Null {
		// A field that is always null is absent.
		s.form = formNotOurs
		return s, ok && !c.required
	}
	switch c.form {
	case formNumber:
		return s, isNumber(value.Type)
	case formFlag:
		return s, value.Type.Kind == avro.Boolean
	case formText:
		return s, value.Type.Kind == avro.String
	case formBytes:
		return s, isBytes(value.Type)
	case formRecord:
		return s, value.Type.Kind == avro.Record
	}
	if value.Type.Kind != avro.Array {
		return s, false
	}
	if s.entry, ok = value.Type.Items.Optional(); !ok {
		return s, false
	}
	switch c.form {
	case formNumbers:
		return s, isNumber(s.entry.Type)
	case formRecords:
		return s, s.entry.Type.Kind == avro.Record && !s.entry.Nullable()
	}
	return s.pair()
}

// pair makes the step one of a map, which is an array of records of a key and a value.
func (s step) pair() (step, bool) {
	pair := s.entry.Type
	if s.entry.Nullable() || pair.Kind != avro.Record || len(pair.Fields) != 2 {
		return s, false
	}
	var isKey, isValue bool
	s.key, isKey = pair.Fields[0].Type.Optional()
	s.entry, isValue = pair.Fields[1].Type.Optional()
	if !isKey || !isValue || s.key.Nullable() || !isNumber(s.key.Type) {
		return s, false
	}
	if s.form == formBoundsByID {
		return s, isBytes(s.entry.Type)
	}
	return s, isNumber(s.entry.Type)
}

func isNumber(s *avro.Schema) bool { return s.Kind == avro.Int || s.Kind == avro.Long }

func isBytes(s *avro.Schema) bool { return s.Kind == avro.Bytes || s.Kind == avro.String }

// present says whether the field's value follows. If not, the field is read.
func (s *step) present(d *avro.Decoder) bool {
	if s.form == formNotOurs {
		d.Skip(s.written)
		return false
	}
	if d.Present(s.value) {
		return true
	}
	if s.required {
		d.Fail("the field %q is null", s.name())
	}
	return false
}

// numbers appends the elements of an array to list.
func (s *step) numbers(d *avro.Decoder, list []int64) []int64 {
	for it := d.Items(s.value.Type); it.Next(); {
		if d.Present(s.entry) {
			list = append(list, d.Long())
		}
	}
	return list
}

// counts adds the wanted entries of a map of numbers to m.
func (s *step) counts(d *avro.Decoder, wants StatColumns, m map[int]int64) {
	for it := d.Items(s.value.Type); it.Next(); {
		id := int(d.Long())
		if !d.Present(s.entry) {
			continue
		}
		if v := d.Long(); wants.has(id) {
			m[id] = v
		}
	}
}

// bounds adds the wanted entries of a map of bytes to m. They lie in the decoder's bytes.
func (s *step) bounds(d *avro.Decoder, wants StatColumns, m map[int][]byte) {
	for it := d.Items(s.value.Type); it.Next(); {
		id := int(d.Long())
		if !d.Present(s.entry) {
			continue
		}
		if v := d.Bytes(); wants.has(id) {
			m[id] = v
		}
	}
}
