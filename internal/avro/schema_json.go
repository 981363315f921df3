package avro

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// object is a JSON object of a schema.
type object map[string]any

func (o object) list(key string) []any {
	list, _ := o[key].([]any)
	return list
}

// number returns a whole number of 32 bits, or absent if there is none.
func (o object) number(key string, absent int) (int, error) {
	raw, ok := o[key]
	if !ok {
		return absent, nil
	}
	n, ok := raw.(json.Number)
	if ok {
		if v, err := n.Int64(); err == nil && v >= math.MinInt32 && v <= math.MaxInt32 {
			return int(v), nil
		}
	}
	return 0, fmt.Errorf("the schema's property %q is %v, which is no whole number of 32 bits", key, raw)
}

// id returns an ID of Iceberg's, or NoID.
func (o object) id(key string) (int, error) {
	id, err := o.number(key, NoID)
	if err == nil && id < NoID {
		err = fmt.Errorf("the schema's property %q is %d", key, id)
	}
	return id, err
}

// attributes fills in what says how a value is meant. A logical type that doesn't fit its type says nothing, by Avro's
// specification; whether it fits is for the reader of the values to see.
func (o object) attributes(s *Schema) (err error) {
	set := func(to *int, key string, absent int) {
		if err == nil {
			*to, err = o.number(key, absent)
		}
	}
	s.Logical, _ = o["logicalType"].(string)
	s.AdjustToUTC, _ = o["adjust-to-utc"].(bool)
	set(&s.ElementID, "element-id", NoID)
	set(&s.KeyID, "key-id", NoID)
	set(&s.ValueID, "value-id", NoID)
	if s.Logical == "decimal" {
		set(&s.Precision, "precision", 0)
		set(&s.Scale, "scale", 0)
	}
	return err
}

// leaf reads an enum or a fixed.
func (p *parser) leaf(o object, kind, space string) (*Schema, error) {
	s := plain(Enum)
	if kind == "fixed" {
		s = plain(Fixed)
		size, err := o.number("size", -1)
		if err != nil || size < 0 {
			return nil, fmt.Errorf("the schema has a fixed of the size %v", o["size"])
		}
		s.Size, s.size = size, size
	}
	for _, symbol := range o.list("symbols") {
		text, ok := symbol.(string)
		if !ok {
			return nil, fmt.Errorf("the schema has an enum with the symbol %v", symbol)
		}
		s.Symbols = append(s.Symbols, text)
	}
	full, _, err := p.declare(o, s, space)
	if err != nil {
		return nil, err
	}
	p.named[full] = s
	return s, nil
}

// container reads an array or a map.
func (p *parser) container(o object, kind, space string, depth int) (*Schema, error) {
	s, key := plain(Array), "items"
	if kind == "map" {
		s, key = plain(Map), "values"
	}
	var err error
	if s.Items, err = p.parse(o[key], space, depth+1); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", key, kind, err)
	}
	return s, nil
}

// declare gives a named type its name. It returns the full one, and the namespace of the names within the type. Until
// the type is read whole its name stands for nothing.
func (p *parser) declare(o object, s *Schema, space string) (full, inner string, err error) {
	name, _ := o["name"].(string)
	if name == "" {
		return "", "", fmt.Errorf("the schema has a %s without a name", s.Kind)
	}
	if own, ok := o["namespace"].(string); ok {
		space = own
	}
	s.Name, full = name, fullName(name, space)
	if _, ok := p.named[full]; ok {
		return "", "", fmt.Errorf("the schema has two types with the name %q", full)
	}
	p.named[full] = nil
	if dot := strings.LastIndexByte(full, '.'); dot >= 0 {
		inner = full[:dot]
	}
	return full, inner, nil
}

func fullName(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}
