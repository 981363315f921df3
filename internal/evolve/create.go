package evolve

import (
	"slices"
	"strconv"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// Create returns a new table's State. The statement's query, if it has one, is left aside: its columns must have been put
// into the statement.
func Create(c sql.CreateTable) (State, error) {
	d := newDraft(State{FormatVersion: 1, LastPartitionID: firstPartitionID - 1, Location: c.Location})
	// As Iceberg does: the compression of old tables is another, so that of new ones is written down.
	d.Properties["write.parquet.compression-codec"] = "zstd"
	if err := d.setProperties([]sql.Property{{Key: formatVersionKey, Value: versionOf(c, defaultVersion)}}); err != nil {
		return State{}, err
	}
	if err := d.defineProperties(c); err != nil {
		return State{}, err
	}
	var err error
	if d.fields, err = d.newFields(nil, c.Columns, func([]string) catalog.FieldID { return d.nextID() }); err != nil {
		return State{}, err
	}
	spec, err := d.firstSpec(c.Partitions)
	if err != nil {
		return State{}, err
	}
	d.useSpec(spec)
	d.useOrder(nil)
	return d.finish()
}

// versionOf returns the format version that the statement gives, or otherwise.
func versionOf(c sql.CreateTable, otherwise int) string {
	for _, p := range c.Properties {
		if p.Key == formatVersionKey {
			return p.Value
		}
	}
	return strconv.Itoa(otherwise)
}

func (d *draft) defineProperties(c sql.CreateTable) error {
	if err := d.setProperties(c.Properties); err != nil {
		return err
	}
	if c.Comment != "" {
		d.Properties[commentKey] = c.Comment
	}
	return nil
}

// Replace returns what CREATE OR REPLACE makes of a table that is there: the same table with another definition and no
// rows. Its history stays, columns of the same name keep their IDs, and partition fields theirs.
func Replace(s State, c sql.CreateTable) (State, error) {
	if err := s.checkWritable(); err != nil {
		return s, err
	}
	d := newDraft(s)
	if err := d.defineProperties(c); err != nil {
		return s, err
	}
	if c.Location != "" {
		d.Location = c.Location
	}
	fields, err := d.replaceFields(c.Columns)
	if err != nil {
		return s, err
	}
	d.fields, d.identifier = fields, nil
	spec, err := d.firstSpec(c.Partitions)
	if err != nil {
		return s, err
	}
	d.useSpec(d.carryOver(spec))
	d.useOrder(nil)
	delete(d.Refs, MainBranch)
	return d.finish()
}

// replaceFields makes the new columns. One keeps the ID of the column of its name if that one may have become it;
// else it is another column, since readers of old snapshots take an ID's types to widen only.
func (d *draft) replaceFields(columns []sql.Column) ([]catalog.Field, error) {
	wanted := map[string]sql.Column{}
	collect(wanted, nil, columns)
	fields, err := d.newFields(nil, columns, func(path []string) catalog.FieldID {
		id := catalog.FieldID(0)
		for i := range path { // within a column that is another one, all is new
			p, err := d.find(path[:i+1])
			if err != nil || p.field().Name != path[i] || !d.mayBecome(p, wanted[dotted(path[:i+1])]) {
				return d.nextID()
			}
			id = p.field().ID
		}
		return id
	})
	keepDefaults(d.fields, fields)
	return fields, err
}

// keepDefaults gives fields that keep their IDs the initial defaults, with which old snapshots are read on.
func keepDefaults(old, fields []catalog.Field) {
	for i := range fields {
		f := &fields[i]
		at := slices.IndexFunc(old, func(o catalog.Field) bool { return o.ID == f.ID })
		if at < 0 {
			continue
		}
		was := old[at]
		f.InitialDefault, f.HasDefault = valueAs(was.Type.Primitive, f.Type.Primitive, was.InitialDefault), was.HasDefault
		keepDefaults(was.Type.Fields, f.Type.Fields)
	}
}

func collect(into map[string]sql.Column, within []string, columns []sql.Column) {
	for _, c := range columns {
		path := append(slices.Clone(within), c.Path[len(c.Path)-1])
		into[dotted(path)] = c
		collect(into, path, c.Type.Fields)
	}
}

func (d *draft) mayBecome(p place, as sql.Column) bool {
	f, to := *p.field(), as.Type
	if as.NotNull && !f.Required {
		return false
	}
	nested := map[string]catalog.NestedKind{"struct": catalog.Struct, "list": catalog.List, "map": catalog.Map}[to.Name]
	if nested != f.Type.Nested {
		return false
	}
	if nested != catalog.NotNested {
		return true
	}
	next, err := transform.ParseType(to.Name)
	if err != nil || next == f.Type.Primitive {
		return err == nil
	}
	if f.InitialDefault != nil && valueAs(f.Type.Primitive, next, f.InitialDefault) == nil {
		return false
	}
	return !p.inKey() && MayPromote(f.Type.Primitive, next, d.FormatVersion) && d.checkTuples(f, next) == nil
}

// carryOver gives the fields of a new spec the IDs that the table had for them. In format version 1, which knows fields by
// their place, those of the current spec stay, void where the new spec doesn't have them.
func (d *draft) carryOver(spec []catalog.PartitionField) []catalog.PartitionField {
	last := d.LastPartitionID
	fresh := func(f catalog.PartitionField) catalog.PartitionField {
		last++
		f.ID = last
		return f
	}
	if d.FormatVersion > 1 {
		for i, f := range spec {
			old, ok := d.recycle(bound{source: f.Sources[0], transform: f.Transform}, "")
			isUsed := slices.ContainsFunc(spec[:i], func(o catalog.PartitionField) bool { return o.ID == old.ID })
			if ok && !isUsed {
				spec[i].ID = old.ID
			} else {
				spec[i] = fresh(f)
			}
		}
		return spec
	}
	var out []catalog.PartitionField
	for _, old := range d.Spec().Fields {
		at := slices.IndexFunc(spec, func(f catalog.PartitionField) bool {
			return bound{source: f.Sources[0], transform: f.Transform}.is(old)
		})
		if at >= 0 {
			spec[at].ID = old.ID
			out = append(out, spec[at])
			spec = slices.Delete(slices.Clone(spec), at, at+1)
			continue
		}
		old.Transform = transform.Transform{Op: transform.Void}
		out = append(out, old)
	}
	for _, f := range spec {
		out = append(out, fresh(f))
	}
	return voidNames(out)
}

// voidNames gives void fields other names where live ones have theirs.
func voidNames(fields []catalog.PartitionField) []catalog.PartitionField {
	for i, f := range fields {
		if f.Transform.Op != transform.Void {
			continue
		}
		if slices.ContainsFunc(fields, func(o catalog.PartitionField) bool { return o.ID != f.ID && o.Name == f.Name }) {
			fields[i].Name = voidName(f)
		}
	}
	return fields
}
