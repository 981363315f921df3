package evolve

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/namemapping"
)

// mapNames brings the table's name mapping, if it has one, up to the draft's fields: new ones come in, renamed ones get
// their new name beside the old. Dropped ones stay, so that a file's column of theirs is taken for no other.
func (d *draft) mapNames(before []catalog.Field) error {
	text, ok := d.Properties[namemapping.Property]
	if !ok {
		return nil
	}
	mapping, err := namemapping.Parse(text)
	if err != nil || mapping == nil {
		return errs.Wrap(errs.Corrupt, "read property", namemapping.Property, err)
	}
	if mapping, err = mapFields(mapping, d.fields, &catalog.Schema{Fields: before}); err != nil {
		return err
	}
	d.Properties[namemapping.Property], err = namemapping.Text(mapping)
	return errs.Wrap(errs.Internal, "write property", namemapping.Property, err)
}

func mapFields(mapping []namemapping.Field, fields []catalog.Field, before *catalog.Schema) ([]namemapping.Field, error) {
	for _, f := range fields {
		at := slices.IndexFunc(mapping, func(m namemapping.Field) bool { return m.ID != nil && *m.ID == int(f.ID) })
		if at < 0 && before.Path(f.ID) != nil {
			continue // the mapping leaves it out on purpose
		}
		if at < 0 {
			id := int(f.ID)
			at = len(mapping)
			mapping = append(mapping, namemapping.Field{ID: &id})
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
func checkUnmapped(mapping []namemapping.Field, name string) error {
	for _, m := range mapping {
		if slices.Contains(m.Names, name) {
			return errs.New(errs.Unsupported, "name field", catalog.ShownName(name), "by the table's name mapping, its files without field IDs have another field of that name").
				WithHint("choose another name; the property %s has the mapping", namemapping.Property)
		}
	}
	return nil
}
