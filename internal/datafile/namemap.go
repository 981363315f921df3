package datafile

import (
	"encoding/json"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// mappingProperty is the table property that holds the name mapping.
const mappingProperty = "schema.name-mapping.default"

// nameMap says which field ID the fields of one group have, by their names in files that have no IDs.
type nameMap map[string]mappedField

type mappedField struct {
	id    catalog.FieldID // noID: the table has no such field
	inner nameMap
}

// mappedJSON is a field of the mapping as the property's JSON spells it.
type mappedJSON struct {
	ID     *int         `json:"field-id,omitempty"`
	Names  []string     `json:"names"`
	Fields []mappedJSON `json:"fields,omitempty"`
}

// nameMapOf reads the table's name mapping; nil when it has none.
func nameMapOf(t *catalog.Table) (nameMap, error) {
	text, ok := t.Properties[mappingProperty]
	if !ok {
		return nil, nil
	}
	var fields []mappedJSON
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return nil, errs.Wrap(errs.Corrupt, "read table property "+mappingProperty+" in", t.MetadataLocation, err)
	}
	if fields == nil { // JSON's null is no mapping
		return nil, nil
	}
	m, err := mapNames(fields)
	return m, errs.Wrap(errs.Corrupt, "read table property "+mappingProperty+" in", t.MetadataLocation, err)
}

func mapNames(fields []mappedJSON) (nameMap, error) {
	m := nameMap{}
	for _, f := range fields {
		to := mappedField{id: noID}
		if f.ID != nil {
			to.id = catalog.FieldID(*f.ID)
		}
		var err error
		if to.inner, err = mapNames(f.Fields); err != nil {
			return nil, err
		}
		for _, name := range f.Names {
			if _, ok := m[name]; ok {
				return nil, errs.New(errs.Corrupt, "", "", "it maps the name %q twice", name)
			}
			m[name] = to
		}
	}
	return m, nil
}

// apply gives the fields of a group their IDs. A list's element and a map's key and value have names of their own in
// mappings, whatever files call them.
func (m nameMap) apply(nodes []*node, names ...string) {
	for i, n := range nodes {
		name := n.name
		if names != nil {
			name = names[i]
		}
		to, ok := m[name]
		if !ok {
			continue
		}
		n.id = to.id
		to.inner.apply(n.kids, innerNames(n.nested)...)
	}
}

// innerNames are the names that mappings have for what isn't named in a type.
func innerNames(kind catalog.NestedKind) []string {
	switch kind {
	case catalog.List:
		return []string{"element"}
	case catalog.Map:
		return []string{"key", "value"}
	}
	return nil
}

// unmapped is the error for a file without IDs in a table without a mapping. It shows the statement that would make one.
func unmapped(t *catalog.Table) error {
	err := errs.New(errs.Unsupported, "", "", "its columns have no field IDs, and the table has no name mapping that gives them some")
	text, _ := json.Marshal(mappingFor(t.Schema.Fields, nil))
	statement := "ALTER TABLE " + t.Ident.String() + " SET TBLPROPERTIES ('" + mappingProperty + "' = '"
	if len(text) > maxShownMapping {
		return err.WithHint("%s[...]'), a name mapping, says which column of the file is which", statement)
	}
	return err.WithHint("if the file's columns have the table's present names: %s%s')", statement, strings.ReplaceAll(string(text), "'", "''"))
}

// maxShownMapping is how long a mapping may be to be part of a message.
const maxShownMapping = 600

// mappingFor returns the mapping by which files with the fields' own names are read.
func mappingFor(fields []catalog.Field, names []string) []mappedJSON {
	var out []mappedJSON
	for i, f := range fields {
		name, id := f.Name, int(f.ID)
		if names != nil {
			name = names[i]
		}
		out = append(out, mappedJSON{ID: &id, Names: []string{name}, Fields: mappingFor(f.Type.Fields, innerNames(f.Type.Nested))})
	}
	return out
}
