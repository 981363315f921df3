package evolve

import (
	"encoding/json"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// nameMapping is the property that gives field IDs to the columns of files without any, by their names (spec, "Column
// Projection").
const nameMapping = "schema.name-mapping.default"

// mappedField is a field of a name mapping. ID is nil for a column that is none of the table's.
type mappedField struct {
	ID     *int          `json:"field-id,omitempty"`
	Names  []string      `json:"names"`
	Fields []mappedField `json:"fields,omitempty"`
}

// DefaultMapping returns the property by which files without field IDs are read whose columns are called as the table's are, and its
// name.
func DefaultMapping(fields []catalog.Field) (name, mapping string, err error) {
	mapped, err := mapFields(nil, fields, &catalog.Schema{})
	if err != nil {
		return nameMapping, "", err
	}
	text, err := json.Marshal(mapped)
	return nameMapping, string(text), errs.Wrap(errs.Internal, "write property", nameMapping, err)
}

// mapNames brings the table's name mapping, if it has one, up to the draft's fields: new ones come in, renamed ones get
// their new name beside the old. Dropped ones stay, so that a file's column of theirs is taken for no other.
func (d *draft) mapNames(before []catalog.Field) error {
	text, ok := d.Properties[nameMapping]
	if !ok {
		return nil
	}
	var mapping []mappedField
	if err := json.Unmarshal([]byte(text), &mapping); err != nil {
		return errs.Wrap(errs.Corrupt, "read property", nameMapping, err)
	}
	mapping, err := mapFields(mapping, d.fields, &catalog.Schema{Fields: before})
	if err != nil {
		return err
	}
	out, err := json.Marshal(mapping)
	d.Properties[nameMapping] = string(out)
	return errs.Wrap(errs.Internal, "write property", nameMapping, err)
}

func mapFields(mapping []mappedField, fields []catalog.Field, before *catalog.Schema) ([]mappedField, error) {
	for _, f := range fields {
		at := slices.IndexFunc(mapping, func(m mappedField) bool { return m.ID != nil && *m.ID == int(f.ID) })
		if at < 0 && before.Path(f.ID) != nil {
			continue // the mapping leaves it out on purpose
		}
		if at < 0 {
			id := int(f.ID)
			at = len(mapping)
			mapping = append(mapping, mappedField{ID: &id})
		}
		if !slices.Contains(mapping[at].Names, f.Name) {
			if err := checkUnmapped(mapping, f.Name); err != nil {
				return nil, err
			}
			mapping[at].Names = append(mapping[at].Names, f.Name)
		}
		var err error
		if mapping[at].Fields, err = mapFields(mapping[at].Fields, f.Type.Fields, before); err != nil {
			return nil, err
		}
	}
	return mapping, nil
}

// checkUnmapped refuses a name that files may have for another field. Iceberg's own engines move such a name to the new
// field, which then shows the values of the old one.
func checkUnmapped(mapping []mappedField, name string) error {
	for _, m := range mapping {
		if slices.Contains(m.Names, name) {
			return errs.New(errs.Unsupported, "name field", catalog.QuoteIdent(name), "by the table's name mapping, its files without field IDs have another field of that name").
				WithHint("choose another name; the property %s has the mapping", nameMapping)
		}
	}
	return nil
}
