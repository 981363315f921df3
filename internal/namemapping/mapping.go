package namemapping

import (
	"encoding/json"

	"github.com/tarndb/tarn/catalog"
)

// Property is the table property that holds the mapping.
const Property = "schema.name-mapping.default"

// Field is a field of a mapping, as the property's JSON spells it. ID is nil for a column that is none of the table's. A list's element
// and a map's key and value are fields of their own.
type Field struct {
	ID     *int     `json:"field-id,omitempty"`
	Names  []string `json:"names"`
	Fields []Field  `json:"fields,omitempty"`
}

// Parse reads a mapping; nil when it is JSON's null, which is none.
func Parse(text string) ([]Field, error) {
	var fields []Field
	err := json.Unmarshal([]byte(text), &fields)
	return fields, err
}

// Text returns the property's value.
func Text(fields []Field) (string, error) {
	text, err := json.Marshal(fields)
	return string(text), err
}

// Of returns the mapping by which files are read whose columns are called as the fields are.
func Of(fields []catalog.Field) []Field {
	return named(fields, nil)
}

// named is Of with other names than the fields' own, but for nil.
func named(fields []catalog.Field, names []string) []Field {
	var out []Field
	for i, f := range fields {
		name, id := f.Name, int(f.ID)
		if names != nil {
			name = names[i]
		}
		out = append(out, Field{ID: &id, Names: []string{name}, Fields: named(f.Type.Fields, InnerNames(f.Type.Nested))})
	}
	return out
}

// InnerNames are the names that mappings have for what isn't named in a type: a list's element, and a map's key and value.
func InnerNames(kind catalog.NestedKind) []string {
	switch kind {
	case catalog.List:
		return []string{"element"}
	case catalog.Map:
		return []string{"key", "value"}
	}
	return nil
}
