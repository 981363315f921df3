package blackbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// mixed has a column of each type, over a join.
const mixed = `SELECT o.order_id, o.amount, o.order_date, c.name, o.order_id % 2 = 0 AS even, CAST(-0.5 AS FLOAT) AS f,
  CASE o.order_id WHEN 0 THEN 'NaN'::DOUBLE WHEN 1 THEN '-inf'::DOUBLE ELSE 1e300 END AS d,
  TIME '22:31:08.5' AS t, TIMESTAMP '2017-11-16 22:31:08.000001' AS ts, TIMESTAMPTZ '2017-11-16 22:31:08+01' AS tz,
  UUID 'f79c3e09-677c-4bbd-a479-3f349cb785e7' AS u, '\x00\xFF'::BLOB AS b, NULL AS n, {'a': 1, 'b': [1, NULL], 'c': 'x'} AS s,
  MAP {'k': 1} AS m, 99999999999999999999::HUGEINT AS h, 18446744073709551615::UBIGINT AS ub, 'a"b,c' || chr(10) || '|é' AS txt
FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.customer_id WHERE o.order_id < 3 ORDER BY o.order_id`

// The demo's rows are the same in each lake.
var (
	mixedNames = "order_id,amount,order_date,name,even,f,d,t,ts,tz,u,b,n,s,m,h,ub,txt"
	mixedHeads = [3]string{`0,631.46,2024-03-09,customer 0,true,-0.5,NaN`, `1,155.69,2024-06-05,customer 32,false,-0.5,-Infinity`, `2,473.61,2024-07-31,customer 229,true,-0.5,1e+300`}
	mixedTail  = `22:31:08.5,2017-11-16 22:31:08.000001,2017-11-16 21:31:08+00,f79c3e09-677c-4bbd-a479-3f349cb785e7,00ff,,` +
		`"{'a': 1, 'b': [1, NULL], 'c': x}",{k=1},99999999999999999999,18446744073709551615,"a""b,c` + "\n" + `|é"`
	mixedJSONTail = `"22:31:08.5","2017-11-16 22:31:08.000001","2017-11-16 21:31:08+00","f79c3e09-677c-4bbd-a479-3f349cb785e7","00ff",null,` +
		`{"a":1,"b":[1,null],"c":"x"},[["k",1]],"99999999999999999999",18446744073709551615,"a\"b,c\n|é"]`
	mixedJSONHeads = [3]string{`[0,"631.46","2024-03-09","customer 0",true,-0.5,"NaN",`, `[1,"155.69","2024-06-05","customer 32",false,-0.5,"-Infinity",`,
		`[2,"473.61","2024-07-31","customer 229",true,-0.5,1e+300,`}
)

// jsonRows returns the rows of a JSON document, each in compact form.
func jsonRows(t *testing.T, text string) (names []string, rows []string) {
	t.Helper()
	var doc struct {
		Columns []struct{ Name, Type string }
		Rows    []json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v: %s", err, clip(text))
	}
	for _, c := range doc.Columns {
		names = append(names, c.Name)
	}
	for _, r := range doc.Rows {
		// Within the strings of these rows no comma or colon is followed by a space.
		rows = append(rows, strings.NewReplacer(", ", ",", ": ", ":").Replace(string(r)))
	}
	return names, rows
}

func TestFormats(t *testing.T) {
	t.Parallel()
	dir := demoDir(t)
	run := func(args ...string) string {
		return tarn(t, append(append([]string{"sql"}, args...), flagsOf(dir, dir)...)...).ok(t)
	}
	var csv strings.Builder
	csv.WriteString(mixedNames + "\n")
	var want []string
	for i := range 3 {
		csv.WriteString(mixedHeads[i] + "," + mixedTail + "\n")
		want = append(want, mixedJSONHeads[i]+mixedJSONTail)
	}
	if out := run("-c", mixed); out != csv.String() {
		t.Errorf("CSV is %q, want %q", out, csv.String())
	}
	names, rows := jsonRows(t, run("-c", mixed, "--format", "json"))
	if strings.Join(names, ",") != mixedNames || !reflect.DeepEqual(rows, want) {
		t.Errorf("JSON is %q, want %q", rows, want)
	}
	lines := strings.Split(strings.TrimSuffix(run("-c", mixed, "--format", "jsonl"), "\n"), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], `{"order_id": 1, "amount": "155.69", "order_date": "2024-06-05",`) {
		t.Errorf("JSON lines are %q", lines)
	}
	markdown := strings.Split(strings.TrimSuffix(run("-c", mixed, "--format", "markdown"), "\n"), "\n")
	if len(markdown) != 5 || !strings.HasPrefix(markdown[2], "| 0 | 631.46 | 2024-03-09 | customer 0 | true |") || !strings.HasSuffix(markdown[2], `| a"b,c<br>\|é |`) {
		t.Errorf("Markdown is %q", markdown)
	}
	table := strings.Split(strings.TrimSuffix(run("-c", mixed, "--format", "table"), "\n"), "\n")
	if len(table) != 6 || !strings.HasPrefix(table[2], "        0 │ 631.46 │ 2024-03-09 │ customer 0   │ true ") || table[5] != "(3 rows)" {
		t.Errorf("the table is %q", table)
	}
}

func TestFilesReadBack(t *testing.T) {
	t.Parallel()
	dir := demoDir(t)
	out := t.TempDir()
	run := func(args ...string) string {
		return tarn(t, append(append([]string{"sql"}, args...), flagsOf(dir, dir)...)...).ok(t)
	}
	file := func(name string) string { return filepath.Join(out, name) }
	_, want := jsonRows(t, run("-c", mixed, "--format", "json"))
	for _, name := range []string{"x.parquet", "x.arrow", "x.json", "x.csv"} {
		if printed := run("-c", mixed, "-o", file(name)); printed != "" {
			t.Errorf("with -o %s it prints %q", name, printed)
		}
	}
	run("-c", mixed, "--format", "parquet", "-o", file("by_flag"))
	for name, read := range map[string]string{"x.parquet": "read_parquet", "by_flag": "read_parquet", "x.arrow": "read_arrow"} {
		sql := "SELECT * FROM " + read + "('" + file(name) + "') ORDER BY order_id"
		if _, rows := jsonRows(t, run("-c", sql, "--format", "json")); !reflect.DeepEqual(rows, want) {
			t.Errorf("%s holds %q, want %q", name, rows, want)
		}
	}
	text, err := os.ReadFile(file("x.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, rows := jsonRows(t, string(text)); !reflect.DeepEqual(rows, want) {
		t.Errorf("x.json holds %q", rows)
	}
	wantArrow(t, file("x.arrow"))
	// An empty result is a good file too, and what can't be written leaves none.
	for _, name := range []string{"empty.parquet", "empty.arrow"} {
		run("-c", "SELECT * FROM sales.orders WHERE order_id < 0", "-o", file(name))
		if got := run("-c", "SELECT count(*) AS n, count(amount) AS a FROM '"+file(name)+"'"); got != "n,a\n0,0\n" {
			t.Errorf("%s has %q rows", name, got)
		}
	}
	wantFailure(t, 8, "38 digits", "sql", "-c", "SELECT 170141183460469231731687303715884105727::HUGEINT AS h", "-o", file("no.parquet"))
	wantFailure(t, 2, "-o FILE", "sql", "-c", "SELECT 1", "--format", "arrow")
	left, err := os.ReadDir(out)
	if err != nil || len(left) != 7 {
		t.Errorf("there are %d files, want 7: %v", len(left), left)
	}
}

// wantArrow checks an Arrow file of the mixed rows.
func wantArrow(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var names []string
	for _, field := range r.Schema().Fields() {
		names = append(names, field.Name)
	}
	if got := strings.Join(names, ","); got != mixedNames {
		t.Errorf("columns %s", got)
	}
	got := map[string][]string{}
	for i := range r.NumRecords() {
		rec, err := r.RecordBatch(i)
		if err != nil {
			t.Fatal(err)
		}
		for j, name := range names {
			for k := range int(rec.NumRows()) {
				got[name] = append(got[name], value(rec.Column(j), k))
			}
		}
	}
	for name, want := range map[string][]string{
		"order_id": {"0", "1", "2"}, "amount": {"631.46", "155.69", "473.61"}, "order_date": {"2024-03-09", "2024-06-05", "2024-07-31"},
		"even": {"true", "false", "true"}, "n": {"(null)", "(null)", "(null)"}, "name": {"customer 0", "customer 32", "customer 229"},
	} {
		if !reflect.DeepEqual(got[name], want) {
			t.Errorf("column %s is %q, want %q", name, got[name], want)
		}
	}
}

func value(column arrow.Array, row int) string { return column.ValueStr(row) }
