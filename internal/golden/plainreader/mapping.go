package plainreader

import (
	"encoding/json"
	"fmt"
	"slices"
)

// mapped is an entry of a name mapping: which field ID the columns of these names have in files without IDs.
type mapped struct {
	ID     *int     `json:"field-id"`
	Names  []string `json:"names"`
	Fields []mapped `json:"fields"`
}

// nameMapping returns the table's name mapping, nil when it has none.
func (m *metadata) nameMapping() ([]mapped, error) {
	text, ok := m.Properties["schema.name-mapping.default"]
	if !ok {
		return nil, nil
	}
	var out []mapped
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("read the name mapping: %w", err)
	}
	return out, nil
}

// shape is a field of a file. One without an ID isn't read. A list has one kid, named element, a map two, key and value.
type shape struct {
	name string
	id   int
	ok   bool // it has an ID
	kids []shape
}

// identify makes sure that a file's columns have IDs: their own, or, when not one of them has any, those of the mapping.
func identify(columns []shape, mapping []mapped) error {
	if anyID(columns) {
		return nil
	}
	if mapping == nil {
		return fmt.Errorf("%w: a file without field IDs in a table without a name mapping", ErrUnknown)
	}
	applyMapping(columns, mapping)
	return nil
}

func anyID(fields []shape) bool {
	return slices.ContainsFunc(fields, func(s shape) bool { return s.ok || anyID(s.kids) })
}

func applyMapping(fields []shape, mapping []mapped) {
	for i := range fields {
		f := &fields[i]
		at := slices.IndexFunc(mapping, func(m mapped) bool { return slices.Contains(m.Names, f.name) })
		if at < 0 {
			continue
		}
		if id := mapping[at].ID; id != nil {
			f.id, f.ok = *id, true
		}
		applyMapping(f.kids, mapping[at].Fields)
	}
}
