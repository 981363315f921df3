package evolve

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

func (d *draft) setIdentifier(paths [][]string) error {
	d.identifier = nil
	for _, path := range paths {
		f, err := d.identifierField(path)
		if err != nil {
			return errs.Wrap(errs.Invalid, "set identifier field", dotted(path), err)
		}
		if !slices.Contains(d.identifier, f.ID) {
			d.identifier = append(d.identifier, f.ID)
		}
	}
	return nil
}

// identifierField finds a field that may identify rows, by the spec ("Identifier Field IDs").
func (d *draft) identifierField(path []string) (*catalog.Field, error) {
	p, err := d.find(path)
	if err != nil {
		return nil, err
	}
	f := p.field()
	kind := f.Type.Primitive.Kind
	switch {
	case f.Type.Nested != catalog.NotNested || kind == transform.Variant || kind == transform.Geometry || kind == transform.Geography:
		return nil, errs.New(errs.Invalid, "", "", "its type %s can't identify a row", TypeSQL(f.Type))
	case kind == transform.Float || kind == transform.Double:
		return nil, errs.New(errs.Invalid, "", "", "floating numbers can't identify a row")
	case !f.Required:
		return nil, errs.New(errs.Invalid, "", "", "it may hold NULLs; identifier fields must be NOT NULL")
	}
	for _, parent := range p.parents {
		if parent.Type.Nested != catalog.Struct || !parent.Required {
			return nil, errs.New(errs.Invalid, "", "", "it lies within %s; identifier fields lie only within structs that are NOT NULL", catalog.ShownName(parent.Name))
		}
	}
	return f, nil
}

func (d *draft) dropIdentifier(paths [][]string) error {
	for _, path := range paths {
		p, err := d.find(path)
		if err != nil {
			return errs.Wrap(errs.NotFound, "drop identifier field", dotted(path), err)
		}
		at := slices.Index(d.identifier, p.field().ID)
		if at < 0 {
			return errs.New(errs.NotFound, "drop identifier field", dotted(path), "it is none of them")
		}
		d.identifier = slices.Delete(d.identifier, at, at+1)
	}
	return nil
}
