package property

import (
	"strings"
	"testing"
)

// TestManyRows joins files of more rows than one of DuckDB's vectors, by keys of each kind.
func TestManyRows(t *testing.T) {
	l := newLab(t)
	for name, key := range map[string]struct{ typ, spec, expr string }{
		"long":    {"long", "bucket[8] k", "CAST(i * 7919 % 6000 - 3000 AS BIGINT)"},
		"decimal": {"decimal(12,3)", "bucket[8] k", "CAST((i * 7919 % 6000 - 3000) / 8 AS DECIMAL(12,3))"},
		"text":    {"string", "bucket[8] k", "chr(CAST(97 + i % 5 AS INTEGER)) || repeat('é', CAST(i % 7 AS INTEGER)) || CAST(i % 6000 AS VARCHAR)"},
		"uuid":    {"uuid", "bucket[8] k", "CAST(md5(CAST(i % 6000 AS VARCHAR)) AS UUID)"},
		"bytes":   {"binary", "truncate[1] k", "from_hex('0' || CAST(i % 8 AS VARCHAR) || md5(CAST(i % 6000 AS VARCHAR)))"},
		"moment":  {"timestamp", "month k", "TIMESTAMP '1969-11-20 00:00:00' + INTERVAL 17 MINUTE * CAST(i % 6000 AS INTEGER)"},
		"day":     {"date", "year k", "DATE '1969-06-01' + CAST(i % 600 AS INTEGER)"},
		"whole":   {"int", "truncate[1000] k", "CAST(i * 7919 % 6000 - 3000 AS INTEGER)"},
	} {
		for _, side := range []string{"l", "r"} {
			table := "m." + name + "_" + side
			l.create(definition{name: table, columns: []string{"k " + key.typ, "v long"}, spec: []string{key.spec}})
			query := "SELECT CASE WHEN i % 97 = 0 THEN NULL ELSE " + key.expr + " END, CAST(i AS BIGINT) FROM range("
			if side == "l" {
				l.must(l.tryAppendQuery(table, query+"0, 5000) AS g(i)"))
				l.must(l.tryAppendQuery(table, query+"3000, 8000) AS g(i)"))
			} else {
				l.must(l.tryAppendQuery(table, query+"2500, 7000) AS g(i)"))
			}
		}
		for _, query := range []string{
			"SELECT count(*) AS n, sum(l.v) AS a, sum(r.v) AS b FROM %l l FULL JOIN %r r ON l.k = r.k",
			"SELECT l.k, count(*) AS n, count(DISTINCT l.v) AS d, max(r.v) AS m FROM %l l LEFT JOIN %r r USING (k) GROUP BY l.k HAVING n > 1 ORDER BY d DESC, l.k LIMIT 100",
			"SELECT count(*) AS n, sum(v) AS a FROM %l l WHERE NOT EXISTS (SELECT 1 FROM %r r WHERE r.k IS NOT DISTINCT FROM l.k AND r.v <> l.v)",
			"SELECT sum(n) AS a FROM (SELECT count(*) OVER (PARTITION BY k) AS n FROM %l)",
		} {
			l.agree(strings.NewReplacer("%l", "m."+name+"_l", "%r", "m."+name+"_r").Replace(query))
		}
		l.grouped("SELECT l.v, r.v FROM m."+name+"_l l JOIN m."+name+"_r r ON l.k = r.k", keyText(key.spec))
	}
}

// keyText writes a partition field as EXPLAIN does.
func keyText(field string) string {
	fn, col, _ := strings.Cut(field, " ")
	if name, n, ok := strings.Cut(strings.TrimSuffix(fn, "]"), "["); ok {
		return name + "(" + n + ", " + col + ")"
	}
	return fn + "s(" + col + ")"
}
