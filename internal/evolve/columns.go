package evolve

import (
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

func (d *draft) addColumns(c sql.AddColumns) error {
	for _, column := range c.Columns {
		if err := d.addColumn(column); err != nil {
			return errs.Wrap(errs.Invalid, "add column", dotted(column.Path), err)
		}
	}
	return nil
}

func (d *draft) addColumn(c sql.Column) error {
	last := len(c.Path) - 1
	siblings, within, err := d.structAt(c.Path[:last])
	if err != nil {
		return err
	}
	if err := checkName(*siblings, c.Path[last], -1); err != nil {
		return err
	}
	if last == 0 {
		if err := d.checkColumnName(c.Path[0], 0); err != nil {
			return err
		}
	}
	if c.NotNull && c.Default == nil {
		return errs.New(errs.Invalid, "", "", "a column that is NOT NULL needs a default, for the rows that are there already").
			WithHint("leave NOT NULL out, or, with format version 3, add DEFAULT and a value")
	}
	// The column takes its ID before what is within it.
	added, err := d.newFields(within, []sql.Column{c}, func([]string) catalog.FieldID { return d.nextID() })
	if err != nil {
		return err
	}
	f := added[0]
	f.InitialDefault, f.HasDefault = f.WriteDefault, f.WriteDefault != nil
	*siblings = append(*siblings, f)
	if c.Place != nil {
		return move(siblings, len(*siblings)-1, *c.Place)
	}
	return nil
}

// structAt returns the fields of the struct at path, or of that within the list or map there, and its full name.
func (d *draft) structAt(path []string) (*[]catalog.Field, []string, error) {
	if len(path) == 0 {
		return &d.fields, nil, nil
	}
	p, err := d.find(path)
	if err != nil {
		return nil, nil, err
	}
	f, inKey := p.field(), p.inKey()
	within := slices.Clone(path)
	if n := len(f.Type.Fields); f.Type.Nested == catalog.List || f.Type.Nested == catalog.Map {
		f = &f.Type.Fields[n-1]
		within = append(within, f.Name)
	}
	switch {
	case f.Type.Nested != catalog.Struct:
		return nil, nil, errs.New(errs.Invalid, "", "", "%s is no struct but of type %s", dotted(path), TypeSQL(f.Type))
	case inKey:
		return nil, nil, errKey
	}
	return &f.Type.Fields, within, nil
}

var errKey = errs.New(errs.Invalid, "", "", "the keys of a map can't be changed: keys that differ could become alike")

// checkColumnName refuses a name that a partition field has, unless it is the identity of the column with the ID.
func (d *draft) checkColumnName(name string, id catalog.FieldID) error {
	for _, f := range d.Spec().Fields {
		isOwn := f.Transform.Op == transform.Identity && f.Sources[0] == id
		if strings.EqualFold(f.Name, name) && !isOwn && f.Transform.Op != transform.Void {
			hint := "choose another name"
			if path := d.path(f.Sources[0]); path != nil {
				column := dotted(path)
				hint = "ALTER TABLE ... REPLACE PARTITION FIELD " + f.Transform.SQL(column) + " WITH " + f.Transform.SQL(column) + " AS another_name renames the field"
			}
			return errs.New(errs.Exists, "", "", "a partition field has the name %s", catalog.ShownName(f.Name)).WithHint("%s", hint)
		}
	}
	return nil
}

// move puts the field at a place among its siblings.
func move(siblings *[]catalog.Field, at int, to sql.Place) error {
	f := (*siblings)[at]
	target := 0
	if !to.First {
		after, err := findName(*siblings, to.After)
		if err != nil {
			return errs.Wrap(errs.NotFound, "find column to come after", catalog.ShownName(to.After), err)
		}
		if after == at {
			return errs.New(errs.Invalid, "", "", "it can't come after itself")
		}
		target = after + 1
		if at < target {
			target--
		}
	}
	*siblings = slices.Insert(slices.Delete(*siblings, at, at+1), target, f)
	return nil
}

func (d *draft) dropColumns(c sql.DropColumns) error {
	for _, path := range c.Paths {
		err := d.dropColumn(path)
		if c.IfExists && errs.KindOf(err) == errs.NotFound {
			continue
		}
		if err != nil {
			return errs.Wrap(errs.Invalid, "drop column", dotted(path), err)
		}
	}
	return nil
}

func (d *draft) dropColumn(path []string) error {
	p, err := d.find(path)
	if err != nil {
		return err
	}
	switch {
	case p.inKey():
		return errKey
	case !p.isOwn():
		return errs.New(errs.Invalid, "", "", "the element of a list or the value of a map can't be dropped").
			WithHint("drop the list or map itself, or a field of the struct within it")
	case len(*p.siblings) == 1:
		return errs.New(errs.Invalid, "", "", "it is the only one; a table or struct without fields can't be written")
	}
	if err := d.checkUnused(*p.field()); err != nil {
		return err
	}
	*p.siblings = slices.Delete(*p.siblings, p.at, p.at+1)
	return nil
}

// checkUnused refuses to drop what the current spec, the current sort order or the identifier is made of. Old specs may
// stay without their columns: their files' tuples can still be read.
func (d *draft) checkUnused(f catalog.Field) error {
	for _, pf := range d.Spec().Fields {
		for _, source := range pf.Sources {
			if contains(f, source) {
				return d.errPartitioned(pf, source)
			}
		}
	}
	for _, sf := range d.Order().Fields {
		if contains(f, sf.Source) {
			return errs.New(errs.Invalid, "", "", "the table's sort order has it").WithHint("first ALTER TABLE ... WRITE UNORDERED, or another order")
		}
	}
	for _, id := range d.identifier {
		if contains(f, id) {
			path := d.path(id)
			return errs.New(errs.Invalid, "", "", "%s is an identifier field", dotted(path)).WithHint("first ALTER TABLE ... DROP IDENTIFIER FIELDS %s", dotted(path))
		}
	}
	return nil
}

func (d *draft) errPartitioned(pf catalog.PartitionField, source catalog.FieldID) error {
	name := catalog.ShownName(pf.Name)
	if pf.Transform.Op == transform.Void {
		// Spark can't write any more to a table whose spec has a field without its column, even though it is void.
		return errs.New(errs.Invalid, "", "", "its partition field %s was dropped, but keeps its place in the spec", name).
			WithHint("with format version 2 the place can go: SET TBLPROPERTIES ('format-version'='2'), then DROP PARTITION FIELD %s", name)
	}
	path := d.path(source)
	term := pf.Transform.SQL(dotted(path))
	return errs.New(errs.Invalid, "", "", "the table is partitioned by it: field %s is %s", name, term).WithHint("first ALTER TABLE ... DROP PARTITION FIELD %s", term)
}

func (d *draft) renameColumn(c sql.RenameColumn) error {
	return errs.Wrap(errs.Invalid, "rename column", dotted(c.Path), d.rename(c))
}

func (d *draft) rename(c sql.RenameColumn) error {
	p, err := d.find(c.Path)
	if err != nil {
		return err
	}
	switch {
	case p.inKey():
		return errKey
	case !p.isOwn():
		return errs.New(errs.Invalid, "", "", "the element of a list and the key and value of a map have no names of their own")
	}
	if err := checkName(*p.siblings, c.Name, p.at); err != nil {
		return err
	}
	if len(p.parents) == 0 {
		if err := d.checkColumnName(c.Name, p.field().ID); err != nil {
			return err
		}
	}
	p.field().Name = c.Name
	return nil
}

func (d *draft) alterColumn(c sql.AlterColumn) error {
	p, err := d.find(c.Path)
	if err == nil {
		err = d.alter(p, c)
	}
	return errs.Wrap(errs.Invalid, "alter column", dotted(c.Path), err)
}

func (d *draft) alter(p place, c sql.AlterColumn) error {
	f := p.field()
	switch {
	case c.Type != nil:
		return d.promote(p, *c.Type)
	case c.NotNull != nil:
		return d.setRequired(f, *c.NotNull)
	case c.Comment != nil:
		f.Doc = *c.Comment
		return nil
	case c.Default != nil:
		return d.setDefault(f, *c.Default)
	case c.Place != nil && p.inKey():
		return errKey
	case c.Place != nil && !p.isOwn():
		return errs.New(errs.Invalid, "", "", "only columns and fields of structs can be moved")
	case c.Place != nil:
		return move(p.siblings, p.at, *c.Place)
	}
	return errs.New(errs.Internal, "", "", "the statement changes nothing")
}

func (d *draft) setRequired(f *catalog.Field, required bool) error {
	switch {
	case f.Required == required:
		return nil
	case required:
		return errs.New(errs.Invalid, "", "", "it may hold NULLs, and Iceberg keeps no proof that it doesn't, so it can't become NOT NULL").
			WithHint("add another column that is NOT NULL DEFAULT ..., or make a new table")
	case slices.Contains(d.identifier, f.ID):
		return errs.New(errs.Invalid, "", "", "it is an identifier field, which must be NOT NULL").WithHint("first ALTER TABLE ... DROP IDENTIFIER FIELDS %s", catalog.ShownName(f.Name))
	}
	for _, id := range d.identifier {
		if contains(*f, id) {
			return errs.New(errs.Invalid, "", "", "an identifier field lies within it, so it must be NOT NULL")
		}
	}
	f.Required = false
	return nil
}

// setDefault changes what writes store. Rows that are there keep the initial default.
func (d *draft) setDefault(f *catalog.Field, l sql.Literal) error {
	v, err := d.defaultOf(f.Type, l)
	if err != nil {
		return err
	}
	switch {
	case v == nil && f.HasDefault:
		// Other engines' writers take the initial default where there is no write default, so this couldn't be relied on.
		return errs.New(errs.Unsupported, "", "", "it was added with a default, and Iceberg can't say that new rows have NULL instead").
			WithHint("write NULL where it is meant, or SET DEFAULT another value")
	case v == nil && f.Required && f.WriteDefault != nil:
		return errs.New(errs.Invalid, "", "", "it is NOT NULL, so its default can't become NULL")
	}
	f.WriteDefault = v
	return nil
}
