package datafile

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

func TestLocate(t *testing.T) {
	inner := nestedField(3, "in", catalog.Struct, leafField(4, "a", transform.Long))
	columns := []catalog.Field{
		leafField(1, "id", transform.Long), nestedField(2, "s", catalog.Struct, inner),
		nestedField(5, "l", catalog.List, nestedField(6, "element", catalog.Struct, leafField(7, "x", transform.Long))),
		nestedField(8, "m", catalog.Map, leafField(9, "key", transform.Long), leafField(10, "value", transform.Long)),
	}
	for id, want := range map[catalog.FieldID]string{1: "id []", 4: "s [3 4]", 3: "isn't primitive", 5: "isn't primitive",
		6: "no one value", 7: "no one value", 9: "no one value", 11: "nothing"} {
		column, ok, err := locate(columns, id)
		got := fmt.Sprint(column.Root.Name, " ", column.Path)
		switch {
		case err != nil:
			wantError(t, fmt.Sprint("field ", id), err, errs.Corrupt, want)
			continue
		case !ok:
			got = "nothing"
		}
		if got != want {
			t.Errorf("field %d: got %s, want %s", id, got, want)
		}
	}
}

func TestDeleteFiles(t *testing.T) {
	const path, pos = int32(catalog.DeletePathID), int32(catalog.DeletePosID)
	s := nestedField(2, "s", catalog.Struct, leafField(3, "new", transform.Long), leafField(4, "b", transform.Long))
	equality := func(ids ...catalog.FieldID) catalog.DeleteFile {
		return catalog.DeleteFile{Kind: catalog.EqualityDeletes, Equality: ids}
	}
	for _, c := range []struct {
		name   string
		delete catalog.DeleteFile
		file   []schema.Node
		shape  string
		kind   errs.Kind
		text   string
	}{
		{"positions", catalog.DeleteFile{}, []schema.Node{pqText("file_path", path), pqLong("pos", pos)}, "", 0, ""},
		{"positions, other names and a row", catalog.DeleteFile{}, []schema.Node{pqStruct("row", 2147483544, pqLong("id", 1)), pqLong("p", pos), pqText("f", path)}, "", 0, ""},
		{"no pos", catalog.DeleteFile{}, []schema.Node{pqText("file_path", path)}, "", errs.Corrupt, "no field with ID 2147483545"},
		{"no IDs", catalog.DeleteFile{}, []schema.Node{pqText("file_path", -1), pqLong("pos", -1)}, "", errs.Corrupt, "no field IDs"},
		{"text as pos", catalog.DeleteFile{}, []schema.Node{pqText("file_path", path), pqText("pos", pos)}, "", errs.Corrupt, "column pos"},
		{"other rows", catalog.DeleteFile{Rows: 1}, []schema.Node{pqText("file_path", path), pqLong("pos", pos)}, "", errs.Corrupt, "0 rows, but its manifest entry says 1"},
		{"of format orc", catalog.DeleteFile{Format: catalog.ORC}, nil, "", errs.Unsupported, "format orc"},
		{"equality", equality(1), []schema.Node{pqLong("id", 1)}, "", 0, ""},
		{"equality, renamed and narrow", equality(1), []schema.Node{pqInt("was", 1), pqLong("other", 9)}, "", 0, ""},
		{"equality of a nested field", equality(3), []schema.Node{pqStruct("s", 2, pqLong("old", 3))}, "s:2 struct<old:3 long>", 0, ""},
		{"equality without its column", equality(1, 3), []schema.Node{pqLong("id", 1)}, "", errs.Corrupt, "no field with ID 2"},
		{"equality without its nested field", equality(3), []schema.Node{pqStruct("s", 2, pqLong("b", 4))}, "", errs.Corrupt, "no field with ID 3"},
		{"equality of no column", equality(), []schema.Node{pqLong("id", 1)}, "", errs.Corrupt, "no equality_ids"},
	} {
		test := newShapeTest(t, leafField(1, "id", transform.Long), s)
		file := test.file(t, "deletes.parquet", c.file...)
		d := c.delete
		d.Ref = file.Ref
		if d.Format == "" {
			d.Format = file.Format
		}
		layout := &catalog.TableLayout{
			Table: &test.table, Deletes: []catalog.DeleteFile{d}, Files: func(context.Context, func(catalog.DataFile) error) error { return nil },
		}
		got, err := test.prepareLayout(t, nil, layout)
		wantError(t, c.name, err, c.kind, c.text)
		if err != nil {
			continue
		}
		text := ""
		if shape := got.Deletes[0].Shape; shape != nil {
			text = shapeText(shape.Fields)
		}
		if text != c.shape || layout.Deletes[0].Shape != nil {
			t.Errorf("%s: got %s, want %s", c.name, text, c.shape)
		}
	}
}

// TestComparedColumnsCountForTheirFiles shapes a column that no query wants, for files that have such deletes alone.
func TestComparedColumnsCountForTheirFiles(t *testing.T) {
	test := newShapeTest(t, leafField(1, "id", transform.Long), nestedField(2, "s", catalog.Struct, leafField(3, "new", transform.Long)))
	file := test.file(t, "f", pqLong("id", 1), pqStruct("s", 2, pqLong("old", 3)))
	deleted := file
	deleted.Deletes = []int{0}
	d := catalog.DeleteFile{Ref: test.file(t, "d", pqStruct("s", 2, pqLong("old", 3))).Ref, Format: catalog.Parquet, Kind: catalog.EqualityDeletes, Equality: []catalog.FieldID{3}}
	layout := &catalog.TableLayout{Table: &test.table, Deletes: []catalog.DeleteFile{d}, Files: func(_ context.Context, yield func(catalog.DataFile) error) error {
		if err := yield(file); err != nil {
			return err
		}
		return yield(deleted)
	}}
	layout, err := test.prepareLayout(t, []catalog.FieldID{1}, layout)
	if err != nil {
		t.Fatal(err)
	}
	var shapes []string
	err = layout.Files(t.Context(), func(f catalog.DataFile) error {
		text := ""
		if f.Shape != nil {
			text = shapeText(f.Shape.Fields)
		}
		shapes = append(shapes, text)
		return nil
	})
	if err != nil || fmt.Sprintf("%q", shapes) != `["" "id:1 long, s:2 struct<old:3 long>"]` {
		t.Errorf("got %q, %v", shapes, err)
	}
}
