package layout

import (
	"slices"
	"sort"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// ScanKey is a column of a scan and the transform by which its rows are grouped.
type ScanKey struct {
	Column    catalog.Field
	Transform transform.Transform
}

// String writes the key as DDL does, such as bucket(16, customer_id).
func (k ScanKey) String() string { return k.Transform.SQL(catalog.ShownName(k.Column.Name)) }

// Conformity tells the groups of a table's files by their partition tuples.
type Conformity struct {
	Keys   []ScanKey
	table  *catalog.Table
	places map[catalog.SpecID][][]place // of each key
}

// place is a field of a spec from which a key's value follows.
type place struct {
	at     int
	field  catalog.PartitionField
	reduce func(transform.Value) transform.Value
}

// NewConformity returns the conformity of a table's files to keys of its columns.
func NewConformity(t *catalog.Table, keys []ScanKey) *Conformity {
	return &Conformity{Keys: keys, table: t, places: map[catalog.SpecID][][]place{}}
}

// Verdict is what a file's tuple says of its rows.
type Verdict struct {
	Values   []transform.Value // one per key, nil for NULL
	Conforms bool              // Values is the group of all of its rows
	Lies     int               // 1 + the place of a bucket that the file's bounds contradict; 0: none does
}

// Of returns the group of a file with a spec, a tuple and contradicted fields as in catalog.DataFile. A file conforms when
// for each key one of its spec's fields says what the key's transform gives for all of its rows.
//
// Proof: the field's value is the field's transform of the column in each row (which is checked as they are read), and
// Reduce takes it to the key's transform of the same column. Writers are known that give wrong tuples for dates before 1970,
// and wrapped ones for truncated values near the end of their type: a field whose bounds contradict it, or that is no value
// of its transform, says nothing. No honest writer files a row in another bucket, so there the file lies. A key whose value
// would leave the column's type says nothing either: the rows couldn't be checked.
func (c *Conformity) Of(spec catalog.SpecID, tuple []transform.Value, contradicts uint64) Verdict {
	v := Verdict{Values: make([]transform.Value, len(c.Keys)), Conforms: true}
	for i, places := range c.placesOf(spec) {
		found := false
		for _, p := range places {
			if p.at >= len(tuple) {
				continue
			}
			if contradicts&(1<<uint(p.at)) != 0 {
				if p.field.Transform.Op != transform.Bucket {
					continue
				}
				v.Lies = p.at + 1
			}
			if v.Values[i], found = c.value(i, p, tuple[p.at]); found {
				break
			}
		}
		v.Conforms = v.Conforms && found
	}
	return v
}

// value returns a key's value by a field's.
func (c *Conformity) value(key int, p place, v transform.Value) (transform.Value, bool) {
	k := c.Keys[key]
	if v == nil {
		return nil, true
	}
	if !p.field.Transform.IsResult(p.field.SourceType, v) {
		return nil, false
	}
	out := p.reduce(v)
	return out, transform.Holds(k.Transform.ResultType(k.Column.Type.Primitive), out)
}

// Covers says whether a spec has fields from which all keys' values follow, for files whose tuples can be trusted.
func (c *Conformity) Covers(spec catalog.SpecID) bool {
	return !slices.ContainsFunc(c.placesOf(spec), func(places []place) bool { return len(places) == 0 })
}

func (c *Conformity) placesOf(spec catalog.SpecID) [][]place {
	if known, ok := c.places[spec]; ok {
		return known
	}
	out := make([][]place, len(c.Keys))
	for i, k := range c.Keys {
		for at, f := range c.table.Specs[spec].Fields {
			if !isOn(f, k.Column) {
				continue
			}
			if reduce, ok := transform.Reduce(k.Column.Type.Primitive, f.Transform, k.Transform); ok {
				out[i] = append(out[i], place{at, f, reduce})
			}
		}
	}
	c.places[spec] = out
	return out
}

// isOn says whether a partition field tells values of a column. A column whose type has changed to one that is hashed in
// another way keeps none of its older fields.
func isOn(f catalog.PartitionField, column catalog.Field) bool {
	if len(f.Sources) != 1 || f.Sources[0] != column.ID {
		return false
	}
	now, ok := ClassOf(column.Type.Primitive)
	written, ok2 := ClassOf(f.SourceType)
	return ok && ok2 && now == written
}

// Natives returns the transforms by which files of a layout are partitioned on a column, those of the current spec first.
func Natives(l *catalog.TableLayout, column catalog.Field) []transform.Transform {
	var out []transform.Transform
	for _, id := range specsInUse(l) {
		for _, f := range l.Table.Specs[id].Fields {
			isKey := f.Transform.Op != transform.Void && f.Transform.CanApply(column.Type.Primitive)
			if isKey && isOn(f, column) && !slices.Contains(out, f.Transform) {
				out = append(out, f.Transform)
			}
		}
	}
	return out
}

// specsInUse returns the specs of the surviving files, the current one first when it is among them; of an empty table the
// current one alone.
func specsInUse(l *catalog.TableLayout) []catalog.SpecID {
	seen := map[catalog.SpecID]bool{}
	for _, g := range l.Groups {
		seen[g.Spec] = true
	}
	if len(seen) == 0 {
		seen[l.Table.DefaultSpec] = true
	}
	var out []catalog.SpecID
	for id := range seen {
		out = append(out, id)
	}
	current := l.Table.DefaultSpec
	sort.Slice(out, func(i, j int) bool {
		if (out[i] == current) != (out[j] == current) {
			return out[i] == current
		}
		return out[i] > out[j]
	})
	return out
}

// SpecText writes a spec as DDL does: "(bucket(16, id), days(ts))" or "unpartitioned".
func SpecText(t *catalog.Table, id catalog.SpecID) string {
	var parts []string
	for _, f := range t.Specs[id].Fields {
		parts = append(parts, FieldText(t, f))
	}
	if len(parts) == 0 {
		return "unpartitioned"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// FieldText writes a partition field as DDL does, with its own name in the place of a column that is gone.
func FieldText(t *catalog.Table, f catalog.PartitionField) string {
	source := f.Name
	if len(f.Sources) == 1 {
		if c, ok := t.Schema.Field(f.Sources[0]); ok {
			source = catalog.ShownName(c.Name)
		}
	}
	return f.Transform.SQL(source)
}
