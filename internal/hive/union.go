package hive

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/transform"
)

// union returns the columns of files that have these and those, by their names: a file that lacks one has NULL there.
func union(these, those []catalog.Field) ([]catalog.Field, error) {
	out := slices.Clone(these)
	for _, f := range those {
		at, err := placeOf(out, f.Name)
		if err != nil {
			return nil, err
		}
		if at < 0 {
			out = append(out, f)
			continue
		}
		if out[at].Type, err = unionType(out[at].Type, f.Type); err != nil {
			return nil, errs.Wrap(errs.Invalid, "field", catalog.ShownName(f.Name), err)
		}
	}
	return out, nil
}

func unionType(this, that catalog.Type) (catalog.Type, error) {
	if this.Nested != that.Nested {
		return this, notOne(this, that)
	}
	if this.Nested != catalog.NotNested { // the fields of lists and maps have the same names everywhere
		fields, err := union(this.Fields, that.Fields)
		this.Fields = fields
		return this, err
	}
	switch {
	case this.Primitive == that.Primitive, mayPromote(that.Primitive, this.Primitive):
		return this, nil
	case mayPromote(this.Primitive, that.Primitive):
		return that, nil
	}
	return this, notOne(this, that)
}

// mayPromote follows the promotions of all format versions: those of dates to timestamps would make the table's version decide what its
// columns are.
func mayPromote(from, to transform.Type) bool { return evolve.MayPromote(from, to, 1) }

func notOne(this, that catalog.Type) error {
	return errs.New(errs.Invalid, "", "", "its type is %s, and in other files it is %s, neither of which is promoted to the other", that, this)
}
