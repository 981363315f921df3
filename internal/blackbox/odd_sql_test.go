package blackbox

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/quote"
)

// oddNames are names of tables and columns that somebody's quoting may get wrong.
var oddNames = []string{
	"a.b", `we"ird`, "tábla 表 🪣", "select", "semi;colon", "it's", "with space", "back`tick", "100%", "a/b", `c:\d`, "-- x", "*", "?", "$1", "UPPER",
}

// internalNames are names that the program gives to things of its own.
var internalNames = []string{
	"tarn_t0", "tarn_t1", "tarn_b0", "tarn_c0", "tarn_o0", "tarn_x0", "tarn_p0", "tarn_rows", "tarn_spill", "f1", "file_index", "file_row_number", "filename",
	"rowid", "_file", "_pos", "hive_partitioning", "schema", "main", "memory", "temp",
}

// oddLake has a pair of tables for each odd name, and big.wide1 and big.wide2 with 2,000 columns.
var oddLake = sync.OnceValues(func() (*folder, error) {
	dir, err := newSharedDir()
	if err != nil {
		return nil, err
	}
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range oddNames {
		columns := []column{{name, longType, "i"}, {name + "2", stringType, "i::VARCHAR"}}
		if _, err := f.add(context.Background(), bucketed{name: name, buckets: 2, from: "range(10) AS r(i)", columns: columns}); err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
	}
	internal := []column{{"k", longType, "i"}}
	for i, name := range internalNames {
		internal = append(internal, column{name, longType, fmt.Sprintf("i + %d", i)})
	}
	for _, name := range []string{"tarn_t0", "tarn_t1"} {
		if _, err := f.add(context.Background(), bucketed{name: name, buckets: 2, from: "range(10) AS r(i)", columns: internal}); err != nil {
			return nil, err
		}
	}
	many := []column{{"k", longType, "i"}}
	for i := range 1999 {
		many = append(many, column{fmt.Sprintf("column_number_%d", i), longType, fmt.Sprintf("i + %d", i)})
	}
	for _, name := range []string{"wide1", "wide2"} {
		if _, err := f.add(context.Background(), bucketed{name: name, buckets: 2, from: "range(10) AS r(i)", columns: many}); err != nil {
			return nil, err
		}
	}
	return f, f.close()
})

func oddFolder(t *testing.T) *folder {
	t.Helper()
	f, err := oddLake()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOddNames(t *testing.T) {
	t.Parallel()
	f := oddFolder(t)
	for _, spj := range []string{"require", "off"} {
		args := []string{"-c", "SET tarn.spj = '" + spj + "'", "--format", "json"}
		for _, name := range oddNames {
			args = append(args, "-c", fmt.Sprintf(`SELECT count(*) AS %[1]s, sum(a.%[1]s), max(b.%[2]s) FROM big.%[1]s AS a JOIN big.%[1]s AS b ON a.%[1]s = b.%[1]s`,
				quote.Name(name), quote.Name(name+"2")))
		}
		lines := strings.Split(strings.TrimSuffix(tarn(t, f.args("sql", args...)...).ok(t), "\n"), "\n")
		if len(lines) != len(oddNames)+1 {
			t.Fatalf("%d lines for %d names: %q", len(lines), len(oddNames), lines)
		}
		for i, name := range oddNames {
			columns, rows := jsonRows(t, lines[i+1])
			if len(rows) != 1 || rows[0] != `[10,45,"9"]` || columns[0] != name {
				t.Errorf("%q with %s gives %q", name, spj, lines[i+1])
			}
		}
	}
	for _, name := range oddNames[:6] {
		describe := tarn(t, f.args("describe", "big."+catalog.ShownName(name), "--format", "json")...).ok(t)
		if !strings.Contains(describe, "string") {
			t.Errorf("describe of %q is %q", name, describe)
		}
	}
}

func TestNamesOfOurOwn(t *testing.T) {
	t.Parallel()
	f := oddFolder(t)
	var items, want []string
	for i, name := range internalNames {
		items = append(items, fmt.Sprintf("tarn_t1.%[1]s + tarn_c0.%[1]s AS %[1]s", quote.Name(name)))
		want = append(want, fmt.Sprint(2*(9+i)))
	}
	joins := `FROM big.tarn_t0 AS tarn_t1 JOIN big.tarn_t1 AS tarn_c0 ON tarn_t1.k = tarn_c0.k`
	for _, c := range []struct{ sql, want string }{
		{"SELECT " + strings.Join(items, ", ") + " " + joins + " ORDER BY tarn_t1.tarn_o0 DESC LIMIT 1", strings.Join(want, ",")},
		{"SELECT sum(tarn_t1.file_index), sum(tarn_c0.f1) " + joins, "145,135"},
		{"SELECT tarn_p0, count(*) AS tarn_o0 FROM (SELECT k AS tarn_p0 FROM big.tarn_t0) AS tarn_rows GROUP BY tarn_p0 ORDER BY tarn_o0, tarn_p0 LIMIT 1", "0,1"},
		{"SELECT count(*) FROM (SELECT t.*, u.* " + strings.NewReplacer("tarn_t1 JOIN", "t JOIN", "AS tarn_c0", "AS u", "tarn_t1.k", "t.k", "tarn_c0.k", "u.k").Replace(joins) + ")", "10"},
	} {
		for _, spj := range []string{"auto", "off"} {
			out := tarn(t, f.args("sql", "-c", "SET tarn.spj = '"+spj+"'", "-c", c.sql)...).ok(t)
			if !strings.HasSuffix(out, "\n"+c.want+"\n") {
				t.Errorf("%s: %s gives %q, want %q", spj, c.sql, out, c.want)
			}
		}
	}
	wantFailure(t, 8, "tarn_t0", f.args("sql", "-c", "WITH tarn_t0 AS (SELECT 1) SELECT * FROM tarn_t0")...)
}

func TestTwoThousandColumns(t *testing.T) {
	t.Parallel()
	f := oddFolder(t)
	for _, c := range []struct {
		sql, end string
		commas   int
	}{
		{"SELECT * FROM big.wide1 WHERE k = 9", ",2006,2007", 1999},
		{"SELECT a.*, b.* FROM big.wide1 a JOIN big.wide2 b ON a.k = b.k WHERE a.k = 9", ",2006,2007", 3999},
		{"SELECT sum(a.column_number_1998 + b.column_number_1998) FROM big.wide1 a JOIN big.wide2 b ON a.k = b.k", "\n40050", 0},
	} {
		out := tarn(t, f.args("sql", "-c", c.sql)...).ok(t)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(lines) != 2 || strings.Count(lines[1], ",") != c.commas || !strings.HasSuffix(strings.TrimSuffix(out, "\n"), c.end) {
			t.Errorf("%s gives %q", c.sql, clip(out))
		}
	}
}

// repeated is text n times with a separator between.
func repeated(text, separator string, n int) string {
	return strings.TrimSuffix(strings.Repeat(text+separator, n), separator)
}

// TestExtremeStatements runs statements that are far larger or emptier than any that a person writes.
func TestExtremeStatements(t *testing.T) {
	t.Parallel()
	dir := demoDir(t)
	name := strings.Repeat("x", 2000)
	nested := func(n int) string { return "SELECT " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	for _, c := range []struct {
		what, sql string
		code      int
		want      string // the end of stdout, or a part of stderr
	}{
		{"nothing", "", 0, ""},
		{"blanks", " \t\n;;\n", 0, ""},
		{"comments", "-- nothing\n/* /* nested */ */;", 0, ""},
		{"a long alias", "SELECT 1 AS " + name, 0, name + "\n1\n"},
		{"a long table", "SELECT * FROM sales." + name, 3, name},
		{"a long column", "SELECT " + name + " FROM sales.orders", 3, name},
		{"a long path", "SELECT * FROM '" + name + ".parquet'", 3, name},
		{"a megabyte of text", "SELECT length('" + strings.Repeat("y", 1<<20) + "') AS n", 0, "n\n1048576\n"},
		{"a megabyte of comment", "SELECT 1 AS n /*" + strings.Repeat("y", 1<<20) + "*/", 0, "n\n1\n"},
		{"a megabyte of statements", repeated("SET tarn.spj = 'off'", ";\n", 1<<20/22), 0, ""},
		{"parentheses", nested(10000), 2, "line 1, column"},
		{"some parentheses", nested(200), 0, "\n1\n"},
		{"a long sum", "SELECT " + repeated("1", "+", 10000) + " AS n", 2, "depth"},
		{"a long OR", "SELECT count(*) AS n FROM sales.orders WHERE " + repeated("order_id = 1", " OR ", 3000), 0, "n\n1\n"},
		{"nested SELECTs", strings.Repeat("SELECT * FROM (", 100) + "SELECT 1 AS n" + strings.Repeat(")", 100), 0, "n\n1\n"},
		{"many nested SELECTs", strings.Repeat("SELECT * FROM (", 5000) + "SELECT 1 AS n" + strings.Repeat(")", 5000), 2, "line 1, column"},
		{"nested joins", "SELECT count(*) AS n FROM sales.customers c " + repeated("JOIN sales.orders USING (customer_id)", " ", 1) +
			strings.Repeat(" LEFT JOIN (SELECT customer_id FROM sales.customers) USING (customer_id)", 20), 0, "n\n2000\n"},
		{"a long IN list", "SELECT count(*) AS n FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.customer_id WHERE o.order_id IN (" +
			numbers(10000) + ")", 0, "n\n2000\n"},
		{"a long IN list of keys", "SELECT count(*) AS n FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.customer_id WHERE o.customer_id IN (" +
			numbers(10000) + ")", 0, "n\n2000\n"},
		{"two thousand columns", "SELECT " + numbers(2000), 0, ",1998,1999\n"},
		{"columns of one name", "SELECT 1 AS a, 2 AS a, c.*, o.* FROM sales.customers c JOIN sales.orders o ON c.customer_id = o.customer_id WHERE o.order_id = -1", 0,
			"a,a,customer_id,name,region,customer_id,order_id,amount,status,order_date\n"},
	} {
		file := filepath.Join(t.TempDir(), "statement.sql")
		write(t, file, c.sql)
		o := tarn(t, append([]string{"sql", "-f", file}, flagsOf(dir, dir)...)...)
		if c.code != 0 {
			wantFailed(t, o, c.code, c.want)
		} else if o.code != 0 || o.stderr != "" || !strings.HasSuffix(o.stdout, c.want) || c.want == "" && o.stdout != "" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.what, o.code, clip(o.stdout), clip(o.stderr))
		}
		if o.took > patience/4 {
			t.Errorf("%s took %v", c.what, o.took)
		}
		if o.code == -1 || o.code != c.code {
			t.Logf("%s: exit %d after %v", c.what, o.code, o.took)
		}
	}
}

// numbers is "0, 1, 2" and so on.
func numbers(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprint(i)
	}
	return strings.Join(parts, ", ")
}
