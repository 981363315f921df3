package evolve

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// promote gives a field a wider type, by the spec ("Schema Evolution").
func (d *draft) promote(p place, to sql.DataType) error {
	f := p.field()
	next, err := d.newType(nil, to, func([]string) catalog.FieldID { return 0 })
	if err != nil {
		return err
	}
	switch {
	case sameShape(f.Type, next):
		return nil
	case p.inKey():
		return errKey
	case f.Type.Nested != catalog.NotNested || next.Nested != catalog.NotNested:
		return errs.New(errs.Invalid, "", "", "it can't change from %s to %s", TypeSQL(f.Type), TypeSQL(next)).
			WithHint("fields of a struct are added, dropped and changed one by one, as in ALTER COLUMN s.a TYPE BIGINT")
	case !MayPromote(f.Type.Primitive, next.Primitive, d.FormatVersion):
		return errs.New(errs.Invalid, "", "", "it can't change from %s to %s, which may lose or change values", TypeSQL(f.Type), TypeSQL(next)).
			WithHint("int may become bigint, float double, and a decimal one of more digits; from format version 3, date may become timestamp_ntz")
	}
	if err := d.checkTuples(*f, next.Primitive); err != nil {
		return err
	}
	return d.retype(f, next.Primitive)
}

func (d *draft) retype(f *catalog.Field, to transform.Type) error {
	for _, v := range []*transform.Value{&f.InitialDefault, &f.WriteDefault} {
		if *v == nil {
			continue
		}
		if *v = widen(f.Type.Primitive, to, *v); *v == nil {
			return errs.New(errs.Invalid, "", "", "its default has no value of type %s", to)
		}
	}
	f.Type.Primitive = to
	return nil
}

// sameShape says whether two types are alike but for IDs and comments.
func sameShape(a, b catalog.Type) bool {
	return a.Nested == b.Nested && a.Primitive == b.Primitive && slices.EqualFunc(a.Fields, b.Fields, func(x, y catalog.Field) bool {
		return x.Name == y.Name && x.Required == y.Required && sameShape(x.Type, y.Type)
	})
}

// MayPromote says whether values of a type may be read as those of another, in tables of the format version.
func MayPromote(from, to transform.Type, version int) bool {
	switch {
	case from.Kind == transform.Int:
		return to.Kind == transform.Long
	case from.Kind == transform.Float:
		return to.Kind == transform.Double
	case from.Kind == transform.Decimal:
		return to.Kind == transform.Decimal && to.Scale == from.Scale && to.Precision > from.Precision
	case from.Kind == transform.Date && version >= defaultsVersion:
		return to.Kind == transform.Timestamp || to.Kind == transform.TimestampNS
	case from.Kind == transform.Unknown:
		return to.Kind != transform.None
	}
	return false
}

// checkTuples refuses a promotion after which a transform would give other values than those by which files are laid out: of
// all specs and sort orders, since files of old ones stay.
func (d *draft) checkTuples(f catalog.Field, to transform.Type) error {
	for _, spec := range d.Specs {
		for _, pf := range spec.Fields {
			if !slices.Contains(pf.Sources, f.ID) || keepsValues(pf.Transform, f.Type.Primitive, to) {
				continue
			}
			return errs.New(errs.Invalid, "", "", "partition field %s is %s, whose values would change from %s to %s",
				catalog.ShownName(pf.Name), pf.Transform.SQL(catalog.ShownName(f.Name)), f.Type.Primitive, to)
		}
	}
	for _, order := range d.Orders {
		for _, sf := range order.Fields {
			// Days sort as their first moments do, but their hashes don't.
			if sf.Source == f.ID && sf.Transform.Op != transform.Identity && !keepsValues(sf.Transform, f.Type.Primitive, to) {
				return errs.New(errs.Invalid, "", "", "a sort order has %s of it, whose values would change from %s to %s", sf.Transform, f.Type.Primitive, to)
			}
		}
	}
	return nil
}

// keepsValues says whether the transform gives the same for a value of a type and for what it becomes as one of another.
func keepsValues(t transform.Transform, from, to transform.Type) bool {
	switch {
	case t.Op == transform.Void || from.Kind == transform.Unknown:
		return true
	case t.Op == transform.OpUnknown || !t.CanApply(to):
		return false
	case from.Kind == transform.Date:
		return t.Op == transform.Year || t.Op == transform.Month || t.Op == transform.Day
	}
	return true
}
