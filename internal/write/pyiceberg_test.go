package write

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/seed"
)

// kinds are types with SQL of their values, by a number n, and the transforms that may part rows by them.
var kinds = []struct {
	typ, sql string
	specs    []string
}{
	{"boolean", "n % 3 = 0", []string{"identity"}},
	{"int", "([-2147483640, 2147483647, -1, 0, -11, 34, 100, -100])[n % 8 + 1]::INTEGER", []string{"bucket[8]", "truncate[10]", "identity"}},
	{"long", "([-9223372036854775800, 9223372036854775807, -1, 0, -11, 34, 1000000007, 7])[n % 8 + 1]::BIGINT", []string{"bucket[16]", "truncate[100]", "identity"}},
	{"float", "([-0.0::FLOAT, 0.0::FLOAT, 1.5::FLOAT, 'nan'::FLOAT, '-inf'::FLOAT, 3.25::FLOAT])[n % 6 + 1]", nil},
	{"double", "([-0.0::DOUBLE, 'nan'::DOUBLE, 0.0::DOUBLE, 1e300, 'inf'::DOUBLE, -2.5])[n % 6 + 1]", nil},
	{"decimal(9,2)", "([14.20, -14.20, -0.01, 0.00, -9999999.50, 9999999.99])[n % 6 + 1]::DECIMAL(9,2)", []string{"bucket[8]", "truncate[50]", "identity"}},
	{"decimal(18,4)", "([14.20, -14.2001, -0.0001, 0, 12345678901234.5678])[n % 5 + 1]::DECIMAL(18,4)", []string{"bucket[8]", "truncate[7]"}},
	{"decimal(38,9)", "([14.20, -14.2001, -0.0001, 0, -12345678901234567890123456789.123456789])[n % 5 + 1]::DECIMAL(38,9)", []string{"bucket[8]", "truncate[7]"}},
	{"date", "DATE '1960-02-28' + (n * 997 % 40000)::INTEGER", []string{"bucket[8]", "year", "month", "identity"}},
	{"time", "([TIME '00:00:00', TIME '23:59:59.999999', TIME '22:31:08'])[n % 3 + 1]", []string{"bucket[8]", "identity"}},
	{"timestamp", "TIMESTAMP '1969-12-31 23:59:59.999999' + to_microseconds((n % 50 - 25) * 40000000001)", []string{"bucket[8]", "year", "month", "day", "hour"}},
	{"timestamptz", "TIMESTAMPTZ '1969-12-31 23:59:59.999999+00:00' + to_microseconds((n % 50 - 25) * 40000000001)", []string{"bucket[8]", "year", "month", "day", "hour"}},
	{"string", "([NULL, '', 'null', '__HIVE_DEFAULT_PARTITION__', 'iceberg', 'a/b c=d', chr(128512) || 'x', repeat(chr(1114111), 40), repeat('aé', 500) || n, repeat(chr(55295), 17), 'z' || repeat(chr(1114111), 20)])[n % 11 + 1]",
		[]string{"bucket[8]", "truncate[3]", "identity"}},
	{"uuid", "([UUID 'f79c3e09-677c-4bbd-a479-3f349cb785e7', UUID '00000000-0000-0000-0000-000000000001', UUID '80000000-0000-0000-0000-000000000000'])[n % 3 + 1]", []string{"bucket[8]", "identity"}},
	{"binary", `([''::BLOB, '\x00\x01\x02\x03'::BLOB, encode(repeat(chr(1114111), 5)), encode(repeat('ab', 300)), from_hex(repeat('ff', 30)), from_hex('80' || repeat('ff', 30))])[n % 6 + 1]`, []string{"bucket[8]", "truncate[2]", "identity"}},
	{"fixed[4]", `([NULL, '\x00\x01\x02\x03'::BLOB, 'abcd'::BLOB, '\xFF\xFF\xFF\xFF'::BLOB, '\x80\x00\x00\x00'::BLOB])[n % 5 + 1]`, []string{"bucket[8]", "identity"}},
	{"fixed[16]", `from_hex(md5((n % 7)::VARCHAR))`, []string{"bucket[8]"}},
	{"fixed[20]", `from_hex(repeat(['00', 'ff', '7f', 'fe'][n % 4 + 1], 20))`, []string{"bucket[8]"}},
}

// unfixed are how many of the kinds come before those of type fixed. Another library writes files with columns of those, and DuckDB
// the others.
const unfixed = 15

// nestedFields are columns with floats, texts and numbers at all depths.
func nestedFields() []catalog.Field {
	nest := func(id int, name string, kind catalog.NestedKind, inner ...catalog.Field) catalog.Field {
		return catalog.Field{ID: catalog.FieldID(id), Name: name, Type: catalog.Type{Nested: kind, Fields: inner}}
	}
	key := column(20, "key", "string")
	key.Required = true
	return []catalog.Field{
		column(1, "id", "long"),
		nest(2, "s", catalog.Struct, column(3, "x", "double"), column(4, "Name", "string"), nest(5, "in", catalog.Struct, column(6, "n", "decimal(9,2)"))),
		nest(7, "l", catalog.List, column(8, "element", "float")),
		nest(9, "m", catalog.Map, key, nest(21, "value", catalog.Struct, column(22, "d", "double"), column(23, "t", "timestamp"))),
		nest(24, "ll", catalog.List, nest(25, "element", catalog.List, column(26, "element", "long"))),
	}
}

const nestedQuery = `SELECT range AS id,
  CASE WHEN range % 5 > 0 THEN {'x': ([1.5, 'nan'::DOUBLE, NULL, -0.0])[range % 4 + 1], 'Name': CASE WHEN range % 3 > 0 THEN repeat('n', range::INT % 30) END,
    'in': CASE WHEN range % 7 > 0 THEN {'n': -(range % 100)::DECIMAL(9,2)} END} END AS s,
  ([[1.5::FLOAT, 'nan'::FLOAT, NULL], [], NULL, [2.5::FLOAT]])[range % 4 + 1] AS l,
  CASE range % 3 WHEN 0 THEN MAP {'a': {'d': 'nan'::DOUBLE, 't': TIMESTAMP '1960-01-01'}, 'b': NULL} WHEN 1 THEN MAP {} END AS m,
  ([[[1::BIGINT], [], NULL], NULL, [[2, NULL]]])[range % 3 + 1] AS ll
FROM range(500)`

// python looks for PyIceberg.
func python(t *testing.T) string {
	t.Helper()
	const python = "python3"
	if err := exec.CommandContext(t.Context(), python, "-c", "import pyiceberg, pyarrow, sqlalchemy").Run(); err != nil {
		if os.Getenv("TARN_PYICEBERG") == "1" {
			t.Fatalf("PyIceberg isn't there: %v", err)
		}
		t.Skip("PyIceberg isn't installed")
	}
	return python
}

// pyIcebergAgrees lets PyIceberg read the tables of the lab, and compare them with the files of their names in a folder.
func (l *lab) pyIcebergAgrees(t *testing.T, python, folder string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "check.py"), l.uri(), l.warehouse(), folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "checked ") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestPyIcebergAgrees lets PyIceberg recompute from the rows of files what their entries say, for each type and transform, and
// read the tables.
func TestPyIcebergAgrees(t *testing.T) {
	python := python(t)
	seed := seed.Of(t) % 1_000_000
	l := newLab(t)
	folder := t.TempDir()
	keep := func(table *catalog.Table, query string) {
		l.append(table, query, Options{})
		l.must(l.conn.Exec(t.Context(), fmt.Sprintf("COPY (%s) TO '%s/%s.parquet'", query, folder, table.Ident[1])))
	}
	var all, list []string
	for i, k := range kinds {
		value := fmt.Sprintf("CASE WHEN (n + %d) %% 9 > 0 THEN %s END AS c%d", i, k.sql, i)
		all, list = append(all, fmt.Sprintf("c%d %s", i, k.typ)), append(list, value)
		numbers := fmt.Sprintf(" FROM (SELECT (hash(range + %d) %% 1000)::BIGINT AS n FROM range(200))", seed)
		for _, fn := range k.specs {
			keep(l.table([]string{"k " + k.typ, "v long"}, []string{fn + " k"}, nil), "SELECT "+value+", n AS v"+numbers)
		}
	}
	// Values of all types in one table, and columns that are all NULL, all NaN, or all of one zero.
	for _, n := range []int{unfixed, len(kinds)} {
		all := append(slices.Clone(all[:n]), "none long", "nan double", "minus double", "plus float")
		list := append(slices.Clone(list[:n]), "NULL::BIGINT AS none", "'nan'::DOUBLE AS nan", "-0.0::DOUBLE AS minus", "0.0::FLOAT AS plus")
		keep(l.table(all, []string{"bucket[3] c1", "void c2", "month c10"}, map[string]string{"write.parquet.row-group-limit": "2048"}),
			fmt.Sprintf("SELECT %s FROM (SELECT (hash(range + %d) %% 1000)::BIGINT AS n FROM range(9000))", strings.Join(list, ", "), seed))
	}
	keep(l.tableOf(nestedFields(), []string{"bucket[2] id"}, nil, 2), nestedQuery)
	fixed := catalog.Field{ID: 30, Name: "fs", Type: catalog.Type{Nested: catalog.Struct, Fields: []catalog.Field{
		column(31, "f", "fixed[3]"), {ID: 32, Name: "l", Type: catalog.Type{Nested: catalog.List, Fields: []catalog.Field{column(33, "element", "fixed[2]")}}},
	}}}
	keep(l.tableOf(append(nestedFields(), fixed), []string{"bucket[2] id"}, map[string]string{"write.parquet.row-group-limit": "2048"}, 2),
		"SELECT *, CASE WHEN id % 4 > 0 THEN {'f': CASE WHEN id % 3 > 0 THEN 'abc'::BLOB END, 'l': [['xy'::BLOB, NULL], [], NULL][id % 3 + 1]} END AS fs FROM ("+
			strings.Replace(nestedQuery, "range(500)", "range(5000)", 1)+")")
	l.keepFolder(t, "SELECT *, id % 3 AS p, ([NULL, 'a/b'])[id % 2 + 1] AS q FROM ("+nestedQuery+")", folder)
	l.pyIcebergAgrees(t, python, folder)
}

// keepFolder makes a table of files that have a query's rows, by its columns p and q, which they don't have.
func (l *lab) keepFolder(t *testing.T, query, folder string) {
	t.Helper()
	from := t.TempDir()
	l.must(l.conn.Exec(t.Context(), fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet, PARTITION_BY (p, q))", query, from)))
	files, err := MakeOf(t.Context(), l.conn, l.catalog, catalog.Ident{"t", "folder"}, Folder{Path: from})
	l.must(err)
	if files < 6 {
		t.Errorf("there are %d files of 6 partitions", files)
	}
	l.must(l.conn.Exec(t.Context(), fmt.Sprintf("COPY (%s) TO '%s/folder.parquet'", query, folder)))
}

// TestPyIcebergReadsChanges lets PyIceberg read tables whose rows were changed, and check their delete files and those that were
// copied.
func TestPyIcebergReadsChanges(t *testing.T) {
	python := python(t)
	seed := seed.Of(t) % 1_000_000
	l := newLab(t)
	folder := t.TempDir()
	columns := []catalog.Field{column(1, "k", "long")}
	list := []string{"n AS k"}
	for i, kind := range kinds {
		columns = append(columns, column(100+i, fmt.Sprintf("c%d", i), kind.typ))
		list = append(list, fmt.Sprintf("CASE WHEN (n + %d) %% 9 > 0 THEN %s END AS c%d", i, kind.sql, i))
	}
	for version, n := range map[int]int{2: unfixed, 3: len(kinds)} {
		columns, list := columns[:n+1], list[:n+1]
		rows := func(from, to uint64) string {
			return fmt.Sprintf("SELECT %s FROM (SELECT range AS n FROM range(%d, %d))", strings.Join(list, ", "), from+seed, to+seed)
		}
		for _, spec := range [][]string{nil, {"bucket[3] k"}, {"truncate[3] c12", "month c10"}} {
			for _, modes := range [][]bool{{false}, {true}, {false, false}, {false, true}, {true, false}} {
				table := l.append(l.tableOf(columns, spec, nil, version), rows(0, 300), Options{})
				want := rows(0, 300)
				for i, copies := range modes {
					from := uint64(1000 * (i + 1))
					where, more := fmt.Sprintf("k %% %d = 0", 3+i), rows(from, from+20)
					l.change(table, copies, where, more)
					want = fmt.Sprintf("SELECT * FROM (%s) WHERE NOT %s UNION ALL %s", want, where, more)
					table = l.load(table)
				}
				l.must(l.conn.Exec(t.Context(), fmt.Sprintf("COPY (%s) TO '%s/%s.parquet'", want, folder, table.Ident[1])))
			}
		}
	}
	l.pyIcebergAgrees(t, python, folder)
}

// change deletes rows of a table and adds those of a query.
func (l *lab) change(table *catalog.Table, copies bool, where, query string) {
	l.t.Helper()
	j := l.job(table)
	defer j.Close()
	if j.target.HasLineage() {
		query = "SELECT *, NULL::BIGINT FROM (" + query + ")"
	}
	rows, err := j.target.rowsOf(context.Background(), l.conn, query)
	l.must(err)
	layout, err := l.catalog.Survey(context.Background(), table, catalog.Filter{})
	l.must(err)
	e := l.edits(table, where)
	_, err = j.Change(context.Background(), RowChange{Copies: copies}, e, layout, func() error { return l.add(j, rows) })
	l.must(err)
}
