package avro

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// Kind is what a schema describes.
type Kind uint8

// The kinds of the Avro specification.
const (
	Null Kind = iota
	Boolean
	Int
	Long
	Float
	Double
	Bytes
	String
	Fixed
	Enum
	Record
	Array
	Map
	Union
)

var kindNames = [...]string{
	Null: "null", Boolean: "boolean", Int: "int", Long: "long", Float: "float", Double: "double", Bytes: "bytes", String: "string",
	Fixed: "fixed", Enum: "enum", Record: "record", Array: "array", Map: "map", Union: "union",
}

// String returns the kind's name in schemas.
func (k Kind) String() string { return kindNames[k] }

// NoID is the ID of what has none in the schema.
const NoID = -1

// Schema is one type of a file's schema. It doesn't change, and may be shared.
type Schema struct {
	Kind    Kind
	Name    string // of a record, an enum or a fixed, as it is written
	Logical string // the logical type, such as "date"; an array of key and value records may be a "map"

	Precision, Scale int  // of a decimal
	AdjustToUTC      bool // of a timestamp: the property adjust-to-utc
	Size             int  // of a fixed, in bytes

	Fields   []Field   // of a record
	Items    *Schema   // of an array its elements, of a map its values
	Branches []*Schema // of a union
	Symbols  []string  // of an enum

	ElementID, KeyID, ValueID int // Iceberg's field IDs of an array's elements and of a map's keys and values; or NoID

	size  int // the fewest bytes that a value takes
	nodes int // types in it, those that are named again counted again
}

// Field is one field of a record.
type Field struct {
	Name    string
	Aliases []string
	ID      int // the property field-id, or NoID
	Type    *Schema
}

// Optional is a type whose values may be null: a union of null and one other type. Of any other schema it is the schema
// itself, whose values are always there.
type Optional struct {
	Type *Schema // never a null, unless the schema itself is null
	null int64   // which branch is null, or -1
}

// Nullable says whether a value may be absent.
func (o Optional) Nullable() bool { return o.null >= 0 || o.Type.Kind == Null }

// Optional returns s as one type that may be absent. It is false for a union of anything else.
func (s *Schema) Optional() (Optional, bool) {
	switch {
	case s.Kind != Union:
		return Optional{Type: s, null: -1}, true
	case len(s.Branches) == 1:
		return Optional{}, false
	case len(s.Branches) == 2 && s.Branches[0].Kind == Null:
		return Optional{Type: s.Branches[1], null: 0}, s.Branches[1].Kind != Null
	case len(s.Branches) == 2 && s.Branches[1].Kind == Null:
		return Optional{Type: s.Branches[0], null: 1}, true
	}
	return Optional{}, false
}

// maxDepth is how deep types may nest. Skipping a value recurses as deep.
const maxDepth = 100

// ParseSchema reads a schema's JSON.
func ParseSchema(text []byte) (*Schema, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var raw any
	if err := dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", err)
	}
	p := parser{named: map[string]*Schema{}}
	return p.parse(raw, "", 0)
}

// parser knows the types that were named so far. One that is still being read is nil.
type parser struct{ named map[string]*Schema }

// maxTypes is how many types a schema may have, those that are named again counted again: a short text can describe a
// record of endless fields, which may take no bytes.
const maxTypes = 1 << 17

func (p *parser) parse(raw any, space string, depth int) (*Schema, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the schema nests more than %d types", maxDepth)
	}
	s, err := p.parseAny(raw, space, depth)
	if err != nil {
		return nil, err
	}
	s.nodes = 1
	if s.Items != nil {
		s.nodes += s.Items.nodes
	}
	for _, f := range s.Fields {
		s.nodes += f.Type.nodes
	}
	for _, b := range s.Branches {
		s.nodes += b.nodes
	}
	if s.nodes > maxTypes {
		return nil, fmt.Errorf("the schema has more than %d types", maxTypes)
	}
	return s, nil
}

func (p *parser) parseAny(raw any, space string, depth int) (*Schema, error) {
	switch raw := raw.(type) {
	case string:
		return p.reference(raw, space)
	case []any:
		return p.union(raw, space, depth)
	case map[string]any:
		return p.object(object(raw), space, depth)
	}
	return nil, fmt.Errorf("the schema has %v where a type should be", raw)
}

func (p *parser) reference(name, space string) (*Schema, error) {
	for k, known := range kindNames {
		if name == known && Kind(k) < Fixed {
			return plain(Kind(k)), nil
		}
	}
	s, ok := p.named[fullName(name, space)]
	if !ok {
		s, ok = p.named[name]
	}
	switch {
	case !ok:
		return nil, fmt.Errorf("the schema has the unknown type %q", name)
	case s == nil:
		return nil, fmt.Errorf("the schema's type %q contains itself", name)
	}
	return s, nil
}

// sizes has the fewest bytes of the kinds whose values all take some or none.
var sizes = [...]int{Boolean: 1, Int: 1, Long: 1, Float: 4, Double: 8, Bytes: 1, String: 1, Enum: 1, Array: 1, Map: 1, Union: 1}

func plain(k Kind) *Schema {
	s := &Schema{Kind: k, ElementID: NoID, KeyID: NoID, ValueID: NoID}
	if int(k) < len(sizes) {
		s.size = sizes[k]
	}
	return s
}

func (p *parser) union(raw []any, space string, depth int) (*Schema, error) {
	if len(raw) == 0 {
		return nil, fmt.Errorf("the schema has a union of no types")
	}
	s := plain(Union)
	for _, r := range raw {
		branch, err := p.parse(r, space, depth+1)
		if err != nil {
			return nil, err
		}
		if branch.Kind == Union {
			return nil, fmt.Errorf("the schema has a union within a union")
		}
		s.Branches = append(s.Branches, branch)
	}
	return s, nil
}

func (p *parser) object(o object, space string, depth int) (s *Schema, err error) {
	name, isName := o["type"].(string)
	switch name {
	case "record", "error":
		s, err = p.record(o, space, depth)
	case "enum", "fixed":
		s, err = p.leaf(o, name, space)
	case "array", "map":
		s, err = p.container(o, name, space, depth)
	default:
		if _, ok := o["type"]; !ok {
			return nil, fmt.Errorf("the schema has a type without a name: %v", map[string]any(o))
		}
		if s, err = p.parse(o["type"], space, depth+1); err == nil && isName && s.Kind < Fixed {
			err = o.attributes(s)
		}
		return s, err
	}
	if err != nil {
		return nil, err
	}
	return s, o.attributes(s)
}

func (p *parser) record(o object, space string, depth int) (*Schema, error) {
	s := plain(Record)
	full, space, err := p.declare(o, s, space)
	if err != nil {
		return nil, err
	}
	fields, ok := o["fields"].([]any)
	if !ok {
		return nil, fmt.Errorf("the schema's record %q has no list of fields", s.Name)
	}
	for _, raw := range fields {
		f, err := p.field(raw, s.Name, space, depth)
		if err != nil {
			return nil, err
		}
		s.Fields = append(s.Fields, f)
		s.size = min(s.size+f.Type.size, math.MaxInt32)
	}
	p.named[full] = s
	return s, nil
}

func (p *parser) field(raw any, record, space string, depth int) (Field, error) {
	m, isObject := raw.(map[string]any)
	o := object(m)
	name, isName := o["name"].(string)
	if !isObject || !isName || name == "" {
		return Field{}, fmt.Errorf("the schema's record %q has a field without a name", record)
	}
	f := Field{Name: name}
	for _, alias := range o.list("aliases") {
		if text, ok := alias.(string); ok {
			f.Aliases = append(f.Aliases, text)
		}
	}
	var err error
	if f.ID, err = o.id("field-id"); err != nil {
		return Field{}, err
	}
	if f.Type, err = p.parse(o["type"], space, depth+1); err != nil {
		return Field{}, fmt.Errorf("field %q: %w", name, err)
	}
	return f, nil
}
