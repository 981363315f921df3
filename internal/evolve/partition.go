package evolve

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// bound is a term whose column is known.
type bound struct {
	source    catalog.FieldID
	column    string // its full name, with dots
	typ       transform.Type
	transform transform.Transform
}

func (b bound) is(f catalog.PartitionField) bool {
	return len(f.Sources) == 1 && f.Sources[0] == b.source && f.Transform == b.transform
}

// bind finds a term's column, which may be a field of a struct but not lie within a list or a map.
func (d *draft) bind(t sql.Term) (bound, error) {
	p, err := d.find(t.Column)
	if err != nil {
		return bound{}, err
	}
	parsed, err := transform.Parse(t.Transform)
	if err != nil {
		return bound{}, errs.Wrap(errs.Invalid, "", "", err)
	}
	f := *p.field()
	path := d.path(f.ID)
	b := bound{source: f.ID, column: strings.Join(path, "."), typ: f.Type.Primitive, transform: parsed}
	for _, parent := range p.parents {
		if parent.Type.Nested != catalog.Struct {
			return b, errs.New(errs.Invalid, "", "", "%s lies within a list or a map, which has many values in a row", dotted(path))
		}
	}
	if f.Type.Nested != catalog.NotNested || !parsed.CanApply(f.Type.Primitive) {
		return b, errs.New(errs.Invalid, "", "", "%s is not defined on %s, which is of type %s", parsed, dotted(path), TypeSQL(f.Type))
	}
	return b, nil
}

// nameSuffixes are what Iceberg puts behind the column's name to name a partition field.
var nameSuffixes = map[transform.Op]string{
	transform.Bucket: "_bucket", transform.Truncate: "_trunc", transform.Void: "_null",
	transform.Year: "_year", transform.Month: "_month", transform.Day: "_day", transform.Hour: "_hour",
}

// FieldName is the name that Iceberg gives to a field of a table's first spec. A field that is added later has the transform's
// parameter in its name, too.
func FieldName(column string, t transform.Transform) string { return column + nameSuffixes[t.Op] }

// firstSpec makes the fields of a new table's spec.
func (d *draft) firstSpec(terms []sql.Term) ([]catalog.PartitionField, error) {
	var out []catalog.PartitionField
	for i, t := range terms {
		b, err := d.bind(t)
		if err == nil {
			f := b.field(firstPartitionID+catalog.PartitionFieldID(i), FieldName(b.column, b.transform))
			if err = d.checkField(f, out); err == nil {
				out = append(out, f)
				continue
			}
		}
		return nil, errs.Wrap(errs.Invalid, "partition by", termSQL(t), err)
	}
	return out, nil
}

func (b bound) field(id catalog.PartitionFieldID, name string) catalog.PartitionField {
	return catalog.PartitionField{ID: id, Name: name, Sources: []catalog.FieldID{b.source}, Transform: b.transform, SourceType: b.typ}
}

func termSQL(t sql.Term) string {
	parsed, err := transform.Parse(t.Transform)
	if err != nil {
		return t.Transform
	}
	return parsed.SQL(dotted(t.Column))
}

// checkField refuses a field that may not stand beside others: one of a name that another field or a column has, one
// that is there already, and a second time transform of a column, which can't tell more than the finer of the two.
func (d *draft) checkField(f catalog.PartitionField, others []catalog.PartitionField) error {
	for _, o := range others {
		switch {
		case o.Transform.Op == transform.Void:
		case o.Sources[0] == f.Sources[0] && o.Transform == f.Transform:
			return errs.New(errs.Exists, "", "", "partition field %s is the same", catalog.ShownName(o.Name))
		case o.Sources[0] == f.Sources[0] && isTime(o.Transform) && isTime(f.Transform):
			return errs.New(errs.Invalid, "", "", "partition field %s is %s of the same column", catalog.ShownName(o.Name), o.Transform).
				WithHint("ALTER TABLE ... REPLACE PARTITION FIELD %s WITH ... puts one in the other's place", catalog.ShownName(o.Name))
		}
		if strings.EqualFold(o.Name, f.Name) {
			return errs.New(errs.Exists, "", "", "another partition field has the name %s", catalog.ShownName(o.Name)).WithHint("give it another with AS")
		}
	}
	for _, c := range d.fields {
		isOwn := f.Transform.Op == transform.Identity && c.ID == f.Sources[0]
		if strings.EqualFold(c.Name, f.Name) && !isOwn {
			return errs.New(errs.Exists, "", "", "a column has the name %s", catalog.ShownName(c.Name)).WithHint("give the partition field another with AS")
		}
	}
	return nil
}

func isTime(t transform.Transform) bool { return t.Op >= transform.Year && t.Op <= transform.Hour }

func (d *draft) addPartitionField(t sql.Term, name string) error {
	b, err := d.bind(t)
	if err == nil {
		var fields []catalog.PartitionField
		if fields, err = d.withField(slices.Clone(d.Spec().Fields), b, name); err == nil {
			d.useSpec(fields)
		}
	}
	return errs.Wrap(errs.Invalid, "add partition field", termSQL(t), err)
}

func (d *draft) dropPartitionField(t sql.Term) error {
	at, err := d.fieldOf(t)
	if err != nil {
		return errs.Wrap(errs.Invalid, "drop partition field", termSQL(t), err)
	}
	d.useSpec(d.without(at))
	return nil
}

// replacePartitionField drops and adds in one. Where both are the same transform, the field is renamed.
func (d *draft) replacePartitionField(c sql.ReplacePartitionField) error {
	return errs.Wrap(errs.Invalid, "replace partition field", termSQL(c.Old), d.replaceField(c))
}

func (d *draft) replaceField(c sql.ReplacePartitionField) error {
	at, err := d.fieldOf(c.Old)
	if err != nil {
		return err
	}
	b, err := d.bind(c.New)
	if err != nil {
		return err
	}
	if b.is(d.Spec().Fields[at]) {
		return d.renameField(at, c.Name)
	}
	fields := d.without(at)
	if fields, err = d.withField(fields, b, c.Name); err == nil {
		d.useSpec(fields)
	}
	return err
}

func (d *draft) renameField(at int, name string) error {
	fields := slices.Clone(d.Spec().Fields)
	if name == "" || name == fields[at].Name {
		return nil
	}
	f := fields[at]
	f.Name = name
	others := slices.Delete(slices.Clone(fields), at, at+1)
	fields[at] = f
	for i, o := range fields {
		if o.Transform.Op == transform.Void && strings.EqualFold(o.Name, name) && i != at {
			fields[i].Name = voidName(o)
			others = slices.DeleteFunc(others, func(x catalog.PartitionField) bool { return x.ID == o.ID })
		}
	}
	if err := d.checkField(f, others); err != nil {
		return err
	}
	d.useSpec(fields)
	return nil
}

// voidName is the name of a void field whose own another field takes.
func voidName(f catalog.PartitionField) string { return f.Name + "_" + strconv.Itoa(int(f.ID)) }

// nameFor is the name of an added field.
func (b bound) nameFor(given string) string {
	if given != "" {
		return given
	}
	name := FieldName(b.column, b.transform)
	if b.transform.N > 0 {
		name += "_" + strconv.Itoa(b.transform.N)
	}
	return name
}

// withField adds a field to fields. From format version 2, one that the table had before comes back with its ID and, if no
// other is given, its name. A void field, which stands for one that was dropped, gives up its name to it, or its place when it
// stands for this very one: an ID is in a spec but once.
func (d *draft) withField(fields []catalog.PartitionField, b bound, name string) ([]catalog.PartitionField, error) {
	f, isOld := d.recycle(b, name)
	at := slices.IndexFunc(fields, func(o catalog.PartitionField) bool { return isOld && o.ID == f.ID })
	if at >= 0 && fields[at].IsVoid() {
		fields = slices.Delete(fields, at, at+1)
	} else if !isOld || at >= 0 {
		at, f = -1, b.field(max(d.LastPartitionID+1, firstPartitionID), b.nameFor(name))
	}
	for i, o := range fields {
		if o.Transform.Op == transform.Void && strings.EqualFold(o.Name, f.Name) {
			fields[i].Name = voidName(o)
		}
	}
	if err := d.checkField(f, fields); err != nil {
		return nil, err
	}
	if at >= 0 {
		return slices.Insert(fields, at, f), nil
	}
	return append(fields, f), nil
}

// recycle finds a field of an old spec, the newest first, that is the same.
func (d *draft) recycle(b bound, name string) (catalog.PartitionField, bool) {
	if d.FormatVersion < 2 {
		return catalog.PartitionField{}, false
	}
	for _, spec := range slices.Backward(d.Specs) {
		for _, f := range spec.Fields {
			if b.is(f) && (name == "" || f.Name == name) {
				return f, true
			}
		}
	}
	return catalog.PartitionField{}, false
}

// without returns the current spec's fields without the one at a place. In format version 1 it turns void and stays, since
// fields have no IDs there but by their place.
func (d *draft) without(at int) []catalog.PartitionField {
	fields := slices.Clone(d.Spec().Fields)
	if d.FormatVersion == 1 {
		fields[at].Transform = transform.Transform{Op: transform.Void}
		return fields
	}
	return slices.Delete(fields, at, at+1)
}

// fieldOf finds the field of the current spec that a term means: that of the same transform and column, else, for a plain
// name, that of its name.
func (d *draft) fieldOf(t sql.Term) (int, error) {
	fields := d.Spec().Fields
	b, err := d.bind(t)
	if err == nil {
		if at := slices.IndexFunc(fields, b.is); at >= 0 {
			return at, nil
		}
	}
	isName := t.Transform == "identity" && len(t.Column) == 1
	switch {
	case isName:
		return d.fieldNamed(t.Column[0])
	case err != nil:
		return 0, err
	}
	return 0, noField(fields)
}

// fieldNamed finds a field by its name. In format version 1 one that is void was dropped before; later, it may be dropped.
func (d *draft) fieldNamed(name string) (int, error) {
	fields := d.Spec().Fields
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		at := slices.IndexFunc(fields, func(f catalog.PartitionField) bool {
			return same(f.Name, name) && (f.Transform.Op != transform.Void || d.FormatVersion > 1)
		})
		if at >= 0 {
			return at, nil
		}
	}
	return 0, noField(fields)
}

func noField(fields []catalog.PartitionField) error {
	var names []string
	for _, f := range fields {
		if f.Transform.Op != transform.Void {
			names = append(names, catalog.ShownName(f.Name))
		}
	}
	missing := errs.New(errs.NotFound, "", "", "the table isn't partitioned by it")
	if len(names) == 0 {
		return missing.WithHint("it has no partition fields")
	}
	return missing.WithHint("its partition fields: %s", strings.Join(names, ", "))
}
