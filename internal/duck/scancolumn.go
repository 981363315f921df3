package duck

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// column returns the SQL of a column's value, from the first source that has it: the partition tuple, the file, the initial
// default.
func (p *part) column(f catalog.Field) (string, error) {
	t, err := fieldSQL(f)
	if err != nil {
		return "", err
	}
	if catalog.IsReserved(f.ID) && f.ID != catalog.DeletePathID && f.ID != catalog.DeletePosID {
		return p.metadata(f, t)
	}
	file := p.first()
	if _, ok := file.Constants[f.ID]; ok {
		return p.constant(f, t), nil
	}
	switch {
	case isUnknown(f.Type):
		return "CAST(NULL AS " + t + ")", nil
	case file.Shape == nil:
		return p.readAs(f, f)
	}
	if own, ok := file.Shape.Field(f.ID); ok {
		return p.readAs(own, f)
	}
	return defaultExpr(f)
}

// constant returns the SQL of a column's value by file.
func (p *part) constant(f catalog.Field, typ string) string {
	return perFile(p.places, typ, func(place int) string {
		return literalSQL(f.Type.Primitive, p.Files[place].Constants[f.ID])
	})
}

// readAs returns the SQL of column f, which the file has as own.
//
// The value is kept from DuckDB's Parquet reader where filters in the reader go wrong: for values that isMistrusted tells of,
// and where a file holds a column in a narrower type than the table, for which it can't convert a join's filter and fails.
func (p *part) readAs(own, f catalog.Field) (string, error) {
	in, initial := f, "NULL"
	in.Name = own.Name
	isSame := sameType(own.Type, f.Type)
	if !isSame && own.Type.Nested != catalog.NotNested {
		in.Type = own.Type
	}
	if p.first().Shape == nil {
		var err error
		if initial, err = initialSQL(f); err != nil {
			return "", err
		}
	}
	if err := p.checkName(own.Name); err != nil {
		return "", err
	}
	name := sourceName(f.ID)
	if f.Promoted || isMistrusted(in.Type) || !isSame && sameType(in.Type, f.Type) {
		name = unfiltered(name, fileIndex)
	}
	expr, err := rebuild(name, own.Type, f.Type, 0)
	if err != nil {
		return "", errs.Wrap(errs.Corrupt, "read column "+catalog.ShownName(f.Name), p.first().Ref.Path, err)
	}
	if !isUnknown(own.Type) {
		p.read(in, initial)
	}
	return expr, nil
}

// checkName refuses a column that is found by its name when another differs from it in letter case only: DuckDB takes one
// for the other.
func (p *part) checkName(name string) error {
	f := p.first()
	if !f.ByName {
		return nil
	}
	for _, other := range f.Shape.Fields {
		if other.Name != name && strings.EqualFold(other.Name, name) {
			return errs.New(errs.Unsupported, "read file", f.Ref.Path, "it has no field IDs, and its columns %s and %s differ in letter case only",
				catalog.ShownName(name), catalog.ShownName(other.Name))
		}
	}
	return nil
}

func isUnknown(t catalog.Type) bool {
	return t.Nested == catalog.NotNested && t.Primitive.Kind == transform.Unknown
}

// equality returns the SQL of what equality deletes compare. The scan may see the column as an older schema has it, but
// reads it once: promotion to the newer type comes after.
func (p *part) equality(e catalog.EqualityColumn) (string, error) {
	root := e.Root
	for _, c := range p.Columns {
		if c.Field.ID == root.ID {
			root = c.Field
		}
	}
	expr, err := p.column(root)
	if err != nil {
		return "", err
	}
	has, wanted := root, e.Root
	for _, id := range e.Path {
		inner, ok := childOf(has, id)
		if wanted, _ = childOf(wanted, id); !ok || has.Type.Nested != catalog.Struct {
			return "", errs.New(errs.Unsupported, "apply equality deletes", p.first().Ref.Path,
				"they compare field %d of column %s, which it doesn't have in the schema that is read", id, root.Name)
		}
		expr, has = fmt.Sprintf("struct_extract(%s, %s)", expr, quote.Text(inner.Name)), inner
	}
	if has.Type.Nested != catalog.NotNested {
		return "", errs.New(errs.Unsupported, "apply equality deletes", p.first().Ref.Path, "they compare column %s, which isn't primitive", root.Name)
	}
	if sameType(has.Type, wanted.Type) {
		return expr, nil
	}
	return castSQL(expr, wanted)
}

func childOf(f catalog.Field, id catalog.FieldID) (catalog.Field, bool) {
	for _, inner := range f.Type.Fields {
		if inner.ID == id {
			return inner, true
		}
	}
	return catalog.Field{}, false
}

func castSQL(expr string, f catalog.Field) (string, error) {
	t, err := fieldSQL(f)
	return "CAST(" + expr + " AS " + t + ")", err
}
