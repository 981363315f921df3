package datafile

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/namemapping"
	"github.com/tarndb/tarn/internal/quote"
)

// nameMap says which field ID the fields of one group have, by their names in files that have no IDs.
type nameMap map[string]mappedField

type mappedField struct {
	id    catalog.FieldID // noID: the table has no such field
	inner nameMap
}

// nameMapOf reads the table's name mapping; nil when it has none.
func nameMapOf(t *catalog.Table) (nameMap, error) {
	text, ok := t.Properties[namemapping.Property]
	if !ok {
		return nil, nil
	}
	fields, err := namemapping.Parse(text)
	if err != nil || fields == nil {
		return nil, errs.Wrap(errs.Corrupt, "read table property "+namemapping.Property+" in", t.MetadataLocation, err)
	}
	m, err := mapNames(fields)
	return m, errs.Wrap(errs.Corrupt, "read table property "+namemapping.Property+" in", t.MetadataLocation, err)
}

func mapNames(fields []namemapping.Field) (nameMap, error) {
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
		to.inner.apply(n.kids, namemapping.InnerNames(n.nested)...)
	}
}

// unmapped is the error for a file without IDs in a table without a mapping. It shows the statement that would make one.
func unmapped(t *catalog.Table) error {
	err := errs.New(errs.Unsupported, "", "", "its columns have no field IDs, and the table has no name mapping that gives them some")
	text, _ := namemapping.Text(namemapping.Of(t.Schema.Fields))
	statement := "ALTER TABLE " + t.Ident.String() + " SET TBLPROPERTIES (" + quote.Text(namemapping.Property) + " = "
	if len(text) > maxShownMapping {
		return err.WithHint("%s'[...]'), a name mapping, says which column of the file is which", statement)
	}
	return err.WithHint("if the file's columns have the table's present names: %s%s)", statement, quote.Text(text))
}

// maxShownMapping is how long a mapping may be to be part of a message.
const maxShownMapping = 600
