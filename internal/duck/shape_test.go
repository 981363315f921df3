package duck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

func structOf(id catalog.FieldID, name string, fields ...catalog.Field) catalog.Field {
	return catalog.Field{ID: id, Name: name, Type: nested(catalog.Struct, fields...)}
}

func listOf(id catalog.FieldID, name string, element catalog.Field) catalog.Field {
	element.Name = "element"
	return catalog.Field{ID: id, Name: name, Type: nested(catalog.List, element)}
}

func mapOf(id catalog.FieldID, name string, key, value catalog.Field) catalog.Field {
	key.Name, value.Name = "key", "value"
	return catalog.Field{ID: id, Name: name, Type: nested(catalog.Map, key, value)}
}

func withDefault(f catalog.Field, v transform.Value) catalog.Field {
	f.HasDefault, f.InitialDefault = true, v
	return f
}

// shaped returns a file with its own schema.
func shaped(file ScanFile, fields ...catalog.Field) ScanFile {
	file.Shape = &catalog.Schema{Fields: fields}
	return file
}

// plainFile writes the rows of sql to a Parquet file without field IDs, of the shape of fields.
func plainFile(t testing.TB, c *Conn, sql string, fields ...catalog.Field) ScanFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plain.parquet")
	mustExec(t, c, fmt.Sprintf("COPY (%s) TO %s (FORMAT parquet, ROW_GROUP_SIZE %d)", sql, quote.Text(path), vectorRows))
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	file := shaped(ScanFile{Ref: catalog.FileRef{Path: "s3://lake/plain", Local: path}}, fields...)
	file.ByName = true
	return file
}

// Fields within structs, elements and map values are found by ID; what a file lacks is NULL (SCH-6).
func TestScanRebuildsNestedColumns(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	old := []catalog.Field{
		structOf(1, "s", primitive(2, "a", intType), primitive(3, "b", intType)),
		listOf(4, "l", structOf(5, "", primitive(6, "x", intType))),
		mapOf(7, "m", primitive(8, "", stringType), structOf(9, "", primitive(10, "y", intType))),
	}
	now := []catalog.Field{
		structOf(1, "s", primitive(3, "a", longType), primitive(2, "a2", intType)), // b is named a now, and longer
		listOf(4, "list", structOf(5, "", withDefault(primitive(13, "n", stringType), "its"), primitive(6, "x2", intType))),
		mapOf(7, "m", primitive(8, "", stringType), structOf(9, "", primitive(10, "y", intType), primitive(11, "z", intType))),
		listOf(14, "none", primitive(15, "", intType)),
	}
	rows := `FROM (VALUES ({'a': 10, 'b': 20}, [{'x': 1}], MAP {'k': {'y': 2}}),
		(NULL, NULL, NULL), ({'a': NULL, 'b': NULL}, [], MAP {}), ({'a': 1, 'b': NULL}, [NULL, {'x': NULL}], MAP {'n': NULL, 'k': {'y': NULL}})) v(s, l, m)`
	want := []string{
		`{'a': 20, 'a2': 10}|[{'n': its, 'x2': 1}]|{k={'y': 2, 'z': NULL}}|(null)`, "(null)|(null)|(null)|(null)",
		"{'a': NULL, 'a2': NULL}|[]|{}|(null)", `{'a': NULL, 'a2': 1}|[NULL, {'n': its, 'x2': NULL}]|{n=NULL, k={'y': NULL, 'z': NULL}}|(null)`,
	}
	for _, file := range []ScanFile{shaped(writeFile(t, c, "a.parquet", rows, old...), old...), plainFile(t, c, rows, old...)} {
		text := mustScan(t, Scan{Files: []ScanFile{file}, Columns: columnsOf(now...)})
		wantRows(t, c, "SELECT s::VARCHAR, list::VARCHAR, m::VARCHAR, none::VARCHAR FROM ("+text+")", want...)
		wantRows(t, c, "SELECT m::VARCHAR FROM ("+text+") WHERE s.a2 = 10 AND s.a = 20", "{k={'y': 2, 'z': NULL}}")
		wantRows(t, c, "SELECT count(*) FROM ("+text+") WHERE s IS NULL", "1")
		columns, err := c.Describe(t.Context(), text)
		if want := "[{s STRUCT(a BIGINT, a2 INTEGER)} {list STRUCT(n VARCHAR, x2 INTEGER)[]} {m MAP(VARCHAR, STRUCT(y INTEGER, z INTEGER))} {none INTEGER[]}]"; err != nil || fmt.Sprint(columns) != want {
			t.Errorf("%v, %v", columns, err)
		}
		only := now[2]
		only.Type = nested(catalog.Map, only.Type.Fields[0], structOf(9, "value", primitive(11, "z", intType)))
		wantRows(t, c, "SELECT m::VARCHAR FROM ("+mustScan(t, Scan{Files: []ScanFile{file}, Columns: columnsOf(only)})+") LIMIT 1", "{k={'z': NULL}}")
	}
}

// Lists in maps in structs in lists: each level is rebuilt.
func TestScanRebuildsDeep(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	deep := func(inner ...catalog.Field) catalog.Field {
		return listOf(1, "l", listOf(2, "", structOf(3, "", mapOf(4, "m m", primitive(5, "", intType), listOf(6, "", structOf(7, "", inner...))))))
	}
	old, now := deep(primitive(8, `o"ld`, intType)), deep(primitive(8, "n.e'w", longType), structOf(9, "t", withDefault(primitive(10, "d", longType), int64(5))))
	now.Type.Fields[0].Type.Fields[0].Type.Fields[0].Type.Fields[1].Type.Fields[0].Type.Fields[1].HasDefault = true
	file := shaped(writeFile(t, c, "a.parquet", `SELECT [[{'m m': MAP {1: [{'o"ld': i}, NULL]}}, NULL], NULL, []]::STRUCT("m m" MAP(INTEGER, STRUCT("o""ld" INTEGER)[]))[][] AS l FROM range(2) t(i)`, old), old)
	wantRows(t, c, "SELECT l::VARCHAR FROM ("+mustScan(t, Scan{Files: []ScanFile{file}, Columns: columnsOf(now)})+")",
		`[[{'m m': {1=[{'n.e\'w': 0, 't': {'d': 5}}, NULL]}}, NULL], NULL, []]`, `[[{'m m': {1=[{'n.e\'w': 1, 't': {'d': 5}}, NULL]}}, NULL], NULL, []]`)
}

// Files without IDs are read by the names of their shape, under any names of the table (SCH-7).
func TestScanByName(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	own := []catalog.Field{primitive(1, "rec_id", intType), primitive(2, "lat.long", stringType),
		structOf(3, "loc", primitive(4, "lat", doubleType)), primitive(9, `q"'u`, longType)}
	file := plainFile(t, c, `SELECT i::INTEGER AS rec_id, 'x' || i AS "lat.long", {'lat': i / 2} AS loc, i AS "q""'u" FROM range(6000) t(i)`, own...)
	key := primitive(1, "key", longType)
	s := Scan{Files: []ScanFile{file}, Columns: columnsOf(key, primitive(2, "rec_id", stringType),
		structOf(3, "loc", primitive(4, "latitude", doubleType)), withDefault(primitive(5, "lat.long", longType), int64(7)), primitive(9, "q", longType))}
	wantRows(t, c, "FROM ("+mustScan(t, s)+") WHERE key = 5000", `5000|x5000|{"latitude":2500}|7|5000`)
	if plan := mustRows(t, c, "EXPLAIN SELECT rec_id FROM ("+mustScan(t, s)+") WHERE rec_id = 'x5' AND q = 5")[0]; !strings.Contains(plan, "Filters") {
		t.Errorf("the filter doesn't reach the scan:\n%s", plan)
	}
	mixed := s
	mixed.Files = append(mixed.Files, writeFile(t, c, "ids.parquet", "SELECT 'y' AS rec_id, 5000::BIGINT AS q", primitive(2, "rec_id", stringType), primitive(1, "q", longType)))
	wantRows(t, c, "SELECT key, rec_id, loc::VARCHAR FROM ("+mustScan(t, mixed)+") WHERE key = 5000 ORDER BY ALL", "5000|x5000|{'latitude': 2500.0}", "5000|y|(null)")
	wantRows(t, c, "SELECT count(*) FROM ("+mustScan(t, Scan{Files: mixed.Files})+")", "6001")
	file.Shape = &catalog.Schema{Fields: append(own, primitive(10, "REC_ID", longType))}
	_, err := ScanSQL(Scan{Files: []ScanFile{file}, Columns: columnsOf(key)})
	wantError(t, err, errs.Unsupported, "rec_id and REC_ID")
}

// Types of the file become the table's, at every depth; others don't.
func TestScanPromotes(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	decimal := func(precision int) transform.Type {
		return transform.Type{Kind: transform.Decimal, Precision: precision, Scale: 2}
	}
	types := []struct {
		from, to transform.Type
		sql      string
		want     string
	}{
		{intType, longType, "-5::INTEGER", "-5"}, {floatType, doubleType, "0.1::FLOAT", "0.10000000149011612"},
		{decimal(5), decimal(30), "-1.25::DECIMAL(5,2)", "-1.25"},
		{transform.Type{Kind: transform.Date}, transform.Type{Kind: transform.Timestamp}, "DATE '1969-12-31'", "1969-12-31 00:00:00"},
		{transform.Type{Kind: transform.Date}, transform.Type{Kind: transform.TimestampNS}, "DATE '1969-12-31'", "1969-12-31 00:00:00"},
	}
	for _, test := range types {
		from, to := primitive(2, "x", test.from), primitive(2, "y", test.to)
		oldTop, oldIn := from, structOf(1, "s", from)
		file := writeFile(t, c, "a.parquet", "SELECT "+test.sql+" AS x, {'x': "+test.sql+"} AS s", primitive(3, "x", test.from), oldIn)
		oldTop.ID = 3
		top := to
		top.ID = 3
		text := mustScan(t, Scan{Files: []ScanFile{shaped(file, oldTop, oldIn)}, Columns: columnsOf(top, structOf(1, "s", to))})
		name, _ := typeSQL(test.to)
		wantRows(t, c, "SELECT y::VARCHAR, s.y::VARCHAR, typeof(y) FROM ("+text+")", test.want+"|"+test.want+"|"+name)
		for _, bad := range []catalog.Field{primitive(3, "y", transform.Type{Kind: transform.Boolean}), structOf(3, "y", to), structOf(1, "s", primitive(2, "y", stringType))} {
			_, err := ScanSQL(Scan{Files: []ScanFile{shaped(file, oldTop, oldIn)}, Columns: columnsOf(bad)})
			wantError(t, err, errs.Corrupt, "can't become")
			wantError(t, err, errs.Corrupt, file.Ref.Path)
		}
	}
}

// A promoted column and one of floats keep filters from the reader, which goes wrong with them.
func TestScanOfShapeKeepsFiltersRight(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	own := []catalog.Field{primitive(1, "f", doubleType), primitive(2, "n", intType)}
	file := plainFile(t, c, "SELECT CASE WHEN i = 3 THEN 'nan'::DOUBLE ELSE i END AS f, i::INTEGER AS n FROM range(5) t(i)", own...)
	text := mustScan(t, Scan{Files: []ScanFile{file}, Columns: columnsOf(own[0], primitive(2, "n", longType))})
	wantRows(t, c, "SELECT n FROM ("+text+") WHERE f > 100", "3")
	wantRows(t, c, "SELECT count(*) FROM ("+text+") WHERE n < 4294967296", "5")
	wantRows(t, c, "SELECT n FROM ("+text+") v JOIN (SELECT 2 + 4294967296 * i AS n FROM range(3) t(i)) USING (n)", "2")
}

// A default of a struct is the struct of its fields' defaults; columns of the unknown type are NULL without a look.
func TestScanDefaultsOfStructs(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	random := newSource(t)
	file := writeFile(t, c, "a.parquet", "SELECT 1::BIGINT AS a", primitive(1, "a", longType))
	var inner []catalog.Field
	var want []string
	for i, typ := range append(keyTypes, doubleType, stringType, stringType, stringType) {
		f := primitive(catalog.FieldID(10+i), fmt.Sprintf("f %d", i), typ)
		var v transform.Value
		switch {
		case typ == doubleType:
			v = 1.5
		case i >= len(keyTypes):
			v = []string{"NULL", `a'b"c{,}[\]=: `, ""}[i-len(keyTypes)-1]
		default:
			v = random.value(typ)
		}
		inner = append(inner, withDefault(f, v))
		want = append(want, fmt.Sprintf(`s."f %d" IS NOT DISTINCT FROM %s`, i, literal(t, typ, v)))
	}
	inner = append(inner, primitive(50, "none", longType))
	s := structOf(9, "s", inner...)
	s.HasDefault = true
	for _, file := range []ScanFile{file, shaped(file, primitive(1, "a", longType))} {
		text := mustScan(t, Scan{Files: []ScanFile{file}, Columns: columnsOf(s)})
		for _, w := range append(want, "s.none IS NULL", "s IS NOT NULL") {
			wantRows(t, c, "SELECT "+w+" FROM ("+text+")", "true")
		}
		s.HasDefault = false
		wantRows(t, c, "SELECT s IS NULL FROM ("+mustScan(t, Scan{Files: []ScanFile{file}, Columns: columnsOf(s)})+")", "true")
		s.HasDefault = true
	}
	unknown := primitive(1, "a", transform.Type{Kind: transform.Unknown}) // the file has a column of that ID
	for _, file := range []ScanFile{file, shaped(file, unknown)} {
		wantRows(t, c, mustScan(t, Scan{Files: []ScanFile{file}, Columns: columnsOf(unknown)}), "(null)")
	}
	wantRows(t, c, mustScan(t, Scan{Files: []ScanFile{shaped(file, unknown)}, Columns: columnsOf(primitive(1, "a", longType))}), "(null)")
}

// Constants stand for columns of each type, per file, under checks too; a file that has the column gives its own values.
func TestScanConstants(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	random := newSource(t)
	key := primitive(1, "k", longType)
	for _, typ := range append(keyTypes, stringType, doubleType, floatType) {
		p := withDefault(primitive(2, "p", typ), nil)
		var values []transform.Value
		s := Scan{Columns: columnsOf(key, p)}
		check := KeyCheck{Column: "p", Type: typ}
		for i := range 4 {
			f := writeFile(t, c, fmt.Sprintf("%d.parquet", i), fmt.Sprintf("SELECT %d::BIGINT AS k", i), key)
			var v transform.Value
			switch {
			case i == 1:
			case typ == doubleType:
				v = float64(i) / 3
			case typ == floatType:
				v = float32(i) / 3
			case typ.Kind == transform.String && i == 2:
				v = "zero \x00 byte's"
			default:
				v = random.value(typ)
			}
			f.Constants = map[catalog.FieldID]transform.Value{2: v, 77: nil}
			values = append(values, v)
			s.Files = append(s.Files, f)
			check.Files, check.Expected = append(check.Files, f.Ref.Path), append(check.Expected, v)
		}
		if typ != doubleType && typ != floatType {
			s.Checks = []ScanCheck{{2, registerCheck(t, db, check)}}
		}
		text := mustScan(t, s)
		for i, v := range values {
			want := literalSQL(typ, v)
			name, _ := typeSQL(typ)
			wantRows(t, c, fmt.Sprintf("SELECT p IS NOT DISTINCT FROM CAST(%s AS %s) FROM (%s) WHERE k = %d", want, name, text, i), "true")
		}
	}
	region := withDefault(primitive(3, "region", stringType), "default")
	lacking := writeFile(t, c, "l.parquet", "SELECT 0::BIGINT AS k", key)
	foreign := lacking
	foreign.Constants = map[catalog.FieldID]transform.Value{3: "eu"}
	having := writeFile(t, c, "h.parquet", "SELECT 1::BIGINT AS k, 'us' AS region", key, region)
	for _, files := range [][]ScanFile{{lacking, foreign, having}, {having, foreign, lacking, foreign}} {
		s := Scan{Files: files, Columns: columnsOf(region), Filter: "region <> 'nowhere'"}
		want := []string{"default", "eu", "eu", "us"}
		if len(files) == 3 {
			want = []string{"default", "eu", "us"}
		}
		wantRows(t, c, "FROM ("+mustScan(t, s)+") ORDER BY region", want...)
		wantRows(t, c, "SELECT count(*) FROM ("+mustScan(t, s)+") WHERE region = 'us'", "1")
	}
}
