package plainreader

import (
	"encoding/json"
	"fmt"
)

// typ is an Iceberg type. A list has one field, its element; a map has two, its key and its value.
type typ struct {
	name   string // "struct", "list", "map", or a primitive type as the metadata writes it
	fields []field
}

// field is a column, or a part of one. Its default is the initial one, nil when there is none.
type field struct {
	ID      int             `json:"id"`
	Name    string          `json:"name"`
	Type    typ             `json:"type"`
	Default json.RawMessage `json:"initial-default"`
}

// UnmarshalJSON takes a primitive type's name or a nested type's object.
func (t *typ) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &t.name) == nil {
		return nil
	}
	var in struct {
		Type                string  `json:"type"`
		Fields              []field `json:"fields"`
		ElementID           int     `json:"element-id"`
		KeyID               int     `json:"key-id"`
		ValueID             int     `json:"value-id"`
		Element, Key, Value *typ
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	t.name, t.fields = in.Type, in.Fields
	switch {
	case in.Type == "struct":
	case in.Type == "list" && in.Element != nil:
		t.fields = []field{{ID: in.ElementID, Name: "element", Type: *in.Element}}
	case in.Type == "map" && in.Key != nil && in.Value != nil:
		t.fields = []field{{ID: in.KeyID, Name: "key", Type: *in.Key}, {ID: in.ValueID, Name: "value", Type: *in.Value}}
	default:
		return fmt.Errorf("%s is no type", data)
	}
	return nil
}

// pathTo returns the fields from a column down to the field with the ID, nil when there is none. It doesn't look into lists
// and maps, whose parts have no single value in a row.
func pathTo(columns []field, id int) []field {
	for _, f := range columns {
		if f.ID == id {
			return []field{f}
		}
		if f.Type.name == "struct" {
			if rest := pathTo(f.Type.fields, id); rest != nil {
				return append([]field{f}, rest...)
			}
		}
	}
	return nil
}
