package datafile

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// equalityColumns returns the columns that the layout's equality deletes compare. One that the table has dropped still
// counts, as the newest schema that has it says.
func equalityColumns(s Scan) (map[catalog.FieldID]catalog.EqualityColumn, error) {
	var out map[catalog.FieldID]catalog.EqualityColumn
	for _, d := range s.Layout.Deletes {
		if d.Kind != catalog.EqualityDeletes {
			continue
		}
		if len(d.Equality) == 0 {
			return nil, errs.New(errs.Corrupt, "read delete file", d.Ref.Path, "its manifest entry has no equality_ids, which say what columns it compares")
		}
		for _, id := range d.Equality {
			if _, ok := out[id]; ok {
				continue
			}
			column, err := s.equalityColumn(id)
			if err != nil {
				return nil, errs.Wrap(errs.Internal, "read delete file", d.Ref.Path, err)
			}
			if out == nil {
				out = map[catalog.FieldID]catalog.EqualityColumn{}
			}
			out[id] = column
		}
	}
	return out, nil
}

func (s Scan) equalityColumn(id catalog.FieldID) (catalog.EqualityColumn, error) {
	if column, ok, err := locate(s.Table.Schema.Fields, id); ok || err != nil {
		return column, err
	}
	for fields, err := range s.Schemas {
		if err != nil {
			return catalog.EqualityColumn{}, err
		}
		if column, ok, err := locate(fields, id); ok || err != nil {
			return column, err
		}
	}
	return catalog.EqualityColumn{}, errs.New(errs.Corrupt, "", "", "it compares the field with ID %d, which no schema of the table has", id)
}

// locate finds a field in columns and in the structs that they are. One within a list or a map is an error: a row has no
// single value of it.
func locate(columns []catalog.Field, id catalog.FieldID) (catalog.EqualityColumn, bool, error) {
	for _, root := range columns {
		path, found := pathTo(root, id)
		if !found {
			continue
		}
		at := root
		for _, step := range path {
			if at.Type.Nested != catalog.Struct {
				return catalog.EqualityColumn{}, false, errs.New(errs.Corrupt, "", "",
					"it compares the field with ID %d, which lies in the %s %q: a row has no one value of it", id, at.Type, at.Name)
			}
			at = *fieldByID(at.Type.Fields, step)
		}
		if at.Type.Nested != catalog.NotNested {
			return catalog.EqualityColumn{}, false, errs.New(errs.Corrupt, "", "", "it compares the column %q, a %s, which isn't primitive", at.Name, at.Type)
		}
		return catalog.EqualityColumn{Root: root, Path: path}, true, nil
	}
	return catalog.EqualityColumn{}, false, nil
}

// pathTo returns the IDs from below root down to the field.
func pathTo(root catalog.Field, id catalog.FieldID) ([]catalog.FieldID, bool) {
	if root.ID == id {
		return nil, true
	}
	for _, f := range root.Type.Fields {
		if path, ok := pathTo(f, id); ok {
			return append([]catalog.FieldID{f.ID}, path...), true
		}
	}
	return nil, false
}
