package evolve

import (
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// place is where a field stands in a draft.
type place struct {
	siblings *[]catalog.Field // that it stands among
	at       int
	parents  []*catalog.Field // the outermost first
}

func (p place) field() *catalog.Field { return &(*p.siblings)[p.at] }

// isOwn says whether the field has a name of its own: it isn't the element of a list or the key or value of a map.
func (p place) isOwn() bool {
	return len(p.parents) == 0 || p.parents[len(p.parents)-1].Type.Nested == catalog.Struct
}

// inKey says whether the field is a map's key or within one. Iceberg forbids to change those: keys that were different
// could become alike.
func (p place) inKey() bool {
	chain := append(slices.Clone(p.parents), p.field())
	for i, f := range chain[:len(chain)-1] {
		if f.Type.Nested == catalog.Map && chain[i+1].ID == f.Type.Fields[0].ID {
			return true
		}
	}
	return false
}

// find looks a column or nested field up. Names are found as Spark does, without regard to case; where fields differ only
// in case, the exact spelling is meant.
func (d *draft) find(path []string) (place, error) {
	p := place{siblings: &d.fields}
	for i, name := range path {
		at, err := findName(*p.siblings, name)
		if err != nil {
			return p, errs.Wrap(errs.NotFound, "find column", dotted(path[:i+1]), err)
		}
		p.at = at
		if i < len(path)-1 {
			parent := p.field()
			p.parents = append(p.parents, parent)
			p.siblings = &parent.Type.Fields
		}
	}
	return p, nil
}

func findName(fields []catalog.Field, name string) (int, error) {
	found, names := -1, []string{}
	isAmbiguous := false
	for i, f := range fields {
		if f.Name == name {
			return i, nil
		}
		if strings.EqualFold(f.Name, name) {
			isAmbiguous = found >= 0
			found = i
		}
		names = append(names, f.Name)
	}
	switch {
	case isAmbiguous:
		return 0, errs.New(errs.Invalid, "", "", "several have that name in other cases").WithHint("write it exactly as it is spelled")
	case found >= 0:
		return found, nil
	}
	missing := errs.New(errs.NotFound, "", "", "there is none of that name")
	if near := errs.Nearest(name, names); near != "" {
		return 0, missing.WithHint("did you mean %s?", catalog.ShownName(near))
	}
	return 0, missing
}

func dotted(path []string) string { return catalog.Ident(path).String() }

// checkName says whether a field may have a name among its siblings, other than the one at except.
func checkName(siblings []catalog.Field, name string, except int) error {
	for i, f := range siblings {
		if i != except && strings.EqualFold(f.Name, name) {
			return errs.New(errs.Exists, "", "", "there is a field %s already", catalog.ShownName(f.Name))
		}
	}
	return nil
}

// path returns the full name of the field with the ID, or nil.
func (d *draft) path(id catalog.FieldID) []string {
	return (&catalog.Schema{Fields: d.fields}).Path(id)
}

// contains says whether the field is the one with the ID or has it within.
func contains(f catalog.Field, id catalog.FieldID) bool {
	return f.ID == id || slices.ContainsFunc(f.Type.Fields, func(inner catalog.Field) bool { return contains(inner, id) })
}
