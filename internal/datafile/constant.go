package datafile

import (
	"fmt"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// constants returns the values that the partition of a file gives to columns, by the spec's "Column Projection": those
// which the file doesn't have by ID and which its own spec has as they are. NULL is such a value too.
func (j *judge) constants(f catalog.DataFile, r *reading) (map[catalog.FieldID]transform.Value, error) {
	var out map[catalog.FieldID]transform.Value
	for _, want := range r.open {
		v, from, ok := j.identity(f, want.ID)
		if !ok {
			continue
		}
		value, err := constantOf(want.Type.Primitive, from, v)
		if err != nil {
			return nil, errs.Wrap(errs.Corrupt, "read partition value of", want.Name, err)
		}
		if out == nil {
			out = map[catalog.FieldID]transform.Value{}
		}
		out[want.ID] = value
	}
	for _, want := range r.absent {
		if _, ok := out[want.ID]; ok {
			continue
		}
		if err := j.missing(want); err != nil {
			return nil, err
		}
	}
	return out, j.nested(f, r)
}

// nested refuses a file whose partition gives the value of a field that a struct in it lacks.
func (j *judge) nested(f catalog.DataFile, r *reading) error {
	for _, id := range r.lacks {
		if v, _, ok := j.identity(f, id); ok {
			return errs.New(errs.Unsupported, "", "", "a struct in it lacks the field with ID %d, whose value %v is in its partition only", id, v)
		}
	}
	return nil
}

// identity returns the value that the file's partition has of a column, and the type that it was kept in.
func (j *judge) identity(f catalog.DataFile, id catalog.FieldID) (transform.Value, transform.Type, bool) {
	for i, field := range j.table.Specs[f.Spec].Fields {
		isSource := len(field.Sources) == 1 && field.Sources[0] == id
		if isSource && field.Transform.Op == transform.Identity && i < len(f.Partition) {
			return f.Partition[i], field.SourceType, true
		}
	}
	return nil, transform.Type{}, false
}

// constantOf turns a value of a type into one of the type that the column has now, which may be wider, or narrower where an
// older schema is read.
func constantOf(to, from transform.Type, v transform.Value) (transform.Value, error) {
	if v == nil {
		return nil, nil
	}
	if from.Kind == transform.Date && to.IsTimestamp() { // which partitions of a promoted column aren't read as either
		return nil, errs.New(errs.Unsupported, "", "", "the column was promoted from %s to %s, which can't be read yet", from, to)
	}
	if n, ok := v.(int64); ok && to.Kind == transform.Int && n == int64(int32(n)) {
		return int32(n), nil
	}
	if x, ok := v.(float64); ok && to.Kind == transform.Float && float64(float32(x)) == x {
		return float32(x), nil
	}
	value, ok := manifest.FitValue(to, v)
	if !ok {
		return nil, fmt.Errorf("%v, a %s, is no %s", v, from, to)
	}
	return value, nil
}
