package duck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

var (
	intType    = transform.Type{Kind: transform.Int}
	doubleType = transform.Type{Kind: transform.Double}
	floatType  = transform.Type{Kind: transform.Float}
)

// equalityScan returns a scan of one file that equality deletes apply to: those of a table of sql rows, over columns, of a
// sequence number after the file's.
func equalityScan(t testing.TB, db *DB, c *Conn, file ScanFile, sql string, read []catalog.Field, columns ...catalog.Field) string {
	t.Helper()
	test := EqualityTest{Set: valuesOf(t, c, sql, 3, 6), Scopes: []int{1, 3}}
	for i, f := range columns {
		file.Equality = append(file.Equality, catalog.EqualityColumn{Root: f})
		test.Columns = append(test.Columns, i)
	}
	gone := FileDeletes{Deleted: RowSet{Equality: []EqualityTest{test}}, Sequence: 5}
	return mustScan(t, Scan{Files: []ScanFile{file}, Columns: columnsOf(read...), Deletes: registerDeletes(t, db, gone)})
}

// NULL deletes NULL only, alone and beside other columns (DEL-6).
func TestEqualityDeletesNull(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	id, category := primitive(1, "id", longType), primitive(2, "category", stringType)
	file := writeFile(t, c, "a.parquet", "FROM (VALUES (1::BIGINT, 'a'), (NULL, NULL), (3, 'x'), (4, NULL), (4, 'x')) v(id, category)", id, category)
	for _, test := range []struct {
		sql     string
		columns []catalog.Field
		want    []string
	}{
		{"SELECT 3::BIGINT", []catalog.Field{id}, []string{"1|a", "(null)|(null)", "4|(null)", "4|x"}},
		{"SELECT NULL::BIGINT", []catalog.Field{id}, []string{"1|a", "3|x", "4|(null)", "4|x"}},
		{"SELECT 4::BIGINT, NULL::VARCHAR", []catalog.Field{id, category}, []string{"1|a", "(null)|(null)", "3|x", "4|x"}},
		{"SELECT NULL::VARCHAR, 4::BIGINT", []catalog.Field{category, id}, []string{"1|a", "(null)|(null)", "3|x", "4|x"}},
		{"SELECT NULL::BIGINT, NULL::VARCHAR", []catalog.Field{id, category}, []string{"1|a", "3|x", "4|(null)", "4|x"}},
		{"SELECT 'x'", []catalog.Field{category}, []string{"1|a", "(null)|(null)", "4|(null)"}},
	} {
		text := equalityScan(t, db, c, file, test.sql, []catalog.Field{id, category}, test.columns...)
		wantRows(t, c, text, test.want...)
		wantRows(t, c, "SELECT count(*) FROM ("+text+")", fmt.Sprint(len(test.want)))
	}
}

// Columns are compared in the table's type, into which both sides were promoted (DEL-7).
func TestEqualityDeletesAfterPromotion(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	long := primitive(1, "k", longType)
	long.Promoted = true
	file := writeFile(t, c, "a.parquet", "FROM (VALUES (NULL::BIGINT), (0), (1), (4294967296)) v(k)", long)
	gone := writeFile(t, c, "d.parquet", "SELECT NULL::INTEGER AS k", primitive(1, "k", intType))
	read := mustScan(t, Scan{Files: []ScanFile{gone}, Columns: columnsOf(long)})
	wantRows(t, c, equalityScan(t, db, c, file, read, []catalog.Field{long}, long), "0", "1", "4294967296")
	old := writeFile(t, c, "old.parquet", "FROM (VALUES (-1::INTEGER), (7)) v(k)", primitive(1, "k", intType))
	wantRows(t, c, equalityScan(t, db, c, old, "SELECT -1::BIGINT", []catalog.Field{long}, long), "7")
	// A scan of an older snapshot sees the column as it was then.
	wantRows(t, c, equalityScan(t, db, c, old, "SELECT -1::BIGINT", []catalog.Field{primitive(1, "k", intType)}, long), "7")
}

// Columns are found by ID, missing ones have their initial defaults, dropped ones are read still (DEL-9).
func TestEqualityDeletesByFieldID(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	file := writeFile(t, c, "a.parquet", "FROM (VALUES (7::BIGINT), (8)) v(k)", primitive(2, "k", longType))
	old, added := primitive(2, "k_old", longType), primitive(3, "k", longType)
	added.HasDefault, added.InitialDefault = true, int64(0)
	for _, test := range []struct {
		sql    string
		column catalog.Field
		want   []string
	}{
		{"SELECT 7::BIGINT", added, []string{"0", "0"}},
		{"SELECT 0::BIGINT", added, nil},
		{"SELECT 7::BIGINT", old, []string{"0"}},
	} {
		wantRows(t, c, equalityScan(t, db, c, file, test.sql, []catalog.Field{added}, test.column), test.want...)
	}
	constant := file
	constant.Constants = map[catalog.FieldID]transform.Value{3: int64(5)}
	wantRows(t, c, equalityScan(t, db, c, constant, "SELECT 5::BIGINT", []catalog.Field{added}, added))
	none := primitive(4, "none", longType)
	wantRows(t, c, equalityScan(t, db, c, file, "SELECT NULL::BIGINT", []catalog.Field{added}, none))
}

// A column inside structs is compared too, its struct being NULL or not.
func TestEqualityDeletesInStruct(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	inner := catalog.Field{ID: 2, Name: "it's", Type: nested(catalog.Struct, primitive(3, "x.y", intType))}
	root := catalog.Field{ID: 1, Name: "s", Type: nested(catalog.Struct, inner)}
	file := writeFile(t, c, "a.parquet", `SELECT CASE i WHEN 3 THEN NULL ELSE {'it''s': {'x.y': CASE WHEN i <> 2 THEN i END}} END::STRUCT("it's" STRUCT("x.y" INTEGER)) AS s
		FROM range(4) t(i)`, root)
	file.Equality = []catalog.EqualityColumn{{Root: root, Path: []catalog.FieldID{2, 3}}}
	s := Scan{Files: []ScanFile{file}, Columns: columnsOf(root)}
	for sql, want := range map[string]string{"SELECT 1::INTEGER": "[0 NULL NULL]", "SELECT NULL::INTEGER": "[0 1]"} {
		test := EqualityTest{Columns: []int{0}, Set: valuesOf(t, c, sql, 0, 2), Scopes: []int{0}}
		s.Deletes = registerDeletes(t, db, FileDeletes{Deleted: RowSet{Equality: []EqualityTest{test}}, Sequence: 1})
		rows := mustRows(t, c, `SELECT coalesce(s."it's"."x.y"::VARCHAR, 'NULL') FROM (`+mustScan(t, s)+")")
		if fmt.Sprint(rows) != want {
			t.Errorf("%s: %v, want %s", sql, rows, want)
		}
	}
	s.Files[0].Equality[0].Path = []catalog.FieldID{2, 9}
	_, err := ScanSQL(s)
	wantError(t, err, errs.Unsupported, "field 9 of column s")
	s.Files[0].Equality[0].Path = nil
	_, err = ScanSQL(s)
	wantError(t, err, errs.Unsupported, "isn't primitive")
}

// A delete applies to older files, in the scopes that are named (DEL-2, DEL-3).
func TestEqualityDeletesBySequenceAndScope(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	id := primitive(1, "id", longType)
	set := valuesOf(t, c, "SELECT 2::BIGINT", 0, 5)
	addValues(t, c, set, "SELECT 3::BIGINT", 0, 6)
	addValues(t, c, set, "SELECT 4::BIGINT", 1, 6)
	s := Scan{Columns: columnsOf(id)}
	var gone []FileDeletes
	for i, sequence := range []int64{5, 6} {
		f := writeFile(t, c, fmt.Sprintf("%d.parquet", i), "SELECT i::BIGINT AS id FROM range(1, 5) t(i)", id)
		f.Equality = []catalog.EqualityColumn{{Root: id}}
		s.Files = append(s.Files, f)
		gone = append(gone, FileDeletes{
			Deleted:  RowSet{Positions: positions(0), Equality: []EqualityTest{{Columns: []int{0}, Set: set, Scopes: []int{i}}}},
			Sequence: sequence,
		})
	}
	s.Deletes = registerDeletes(t, db, gone...)
	wantRows(t, c, "FROM ("+mustScan(t, s)+") ORDER BY id", "2", "2", "3", "4", "4")
	gone[0].Deleted.Equality[0].Scopes = []int{1, 0}
	s.Deletes = registerDeletes(t, db, gone...)
	wantRows(t, c, "FROM ("+mustScan(t, s)+") ORDER BY id", "2", "2", "3", "4")
}

// Floats compare as Java's compare does: NaN is NaN, and the zeros differ.
func TestEqualityDeletesOfFloats(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	for _, typ := range []transform.Type{doubleType, floatType} {
		name, _ := typeSQL(typ)
		f := primitive(1, "x", typ)
		file := writeFile(t, c, "a.parquet", fmt.Sprintf("SELECT x::%s AS x FROM (VALUES (0.0::DOUBLE), (-0.0::DOUBLE), ('nan'::DOUBLE), (-('nan'::DOUBLE)), (1.5), (NULL), ('inf')) v(x)", name), f)
		for sql, want := range map[string]string{"'nan'": "[-0 0 1.5 NULL inf]", "'-0.0'": "[0 1.5 NULL inf nan nan]", "0": "[-0 1.5 NULL inf nan nan]", "1.5": "[-0 0 NULL inf nan nan]"} {
			text := equalityScan(t, db, c, file, "SELECT "+sql+"::DOUBLE", []catalog.Field{f}, f)
			rows := mustRows(t, c, "SELECT coalesce(ltrim(regexp_replace(regexp_replace(x::VARCHAR, '\\.0$', ''), '^-nan', 'nan')), 'NULL') AS v FROM ("+text+") ORDER BY v")
			if fmt.Sprint(rows) != want {
				t.Errorf("%s %s: %v, want %s", name, sql, rows, want)
			}
		}
	}
}

// Keys of rows are equal exactly when the rows are, of any types, wherever the rows lie.
func TestKeysAgainstDuckDB(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	random := newSource(t)
	for range 20 {
		types := make([]transform.Type, 1+random.IntN(3))
		var columns []string
		for i := range types {
			types[i] = keyTypes[random.IntN(len(keyTypes))]
			values := make([]transform.Value, 600)
			few := make([]transform.Value, 6)
			for j := range few {
				if few[j] = random.value(types[i]); random.IntN(4) == 0 {
					few[j] = nil
				}
			}
			for j := range values {
				values[j] = few[random.IntN(len(few))]
			}
			fill(t, c, fmt.Sprintf("t%d", i), types[i], values)
			columns = append(columns, fmt.Sprintf("t%d.v AS v%d", i, i))
		}
		from := " FROM t0"
		for i := 1; i < len(types); i++ {
			from += fmt.Sprintf(" JOIN t%d USING (i)", i)
		}
		sql := "SELECT " + strings.Join(columns, ", ") + from
		set := valuesOf(t, c, sql, 0, 1)
		if want := mustRows(t, c, "SELECT count(*) FROM (SELECT DISTINCT * FROM ("+sql+"))")[0]; fmt.Sprint(set.Count()) != want {
			t.Errorf("%v: %d keys, DuckDB says %s", types, set.Count(), want)
		}
	}
}

func TestKeysOfNested(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	res, err := c.Query(t.Context(), "SELECT [1] AS l")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	chunk, err := res.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer chunk.Close()
	err = chunk.EachKey([]int{0}, nil)
	wantError(t, err, errs.Unsupported, "INTEGER[]")
	err = chunk.EachKey([]int{1}, nil)
	wantError(t, err, errs.Internal, "column 1")
}
