package duck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// firstTypes are types of each width, and of each a value of row i that says i back; every seventh is NULL.
var firstTypes = map[string]string{
	"BOOLEAN": "i % 2 = 0", "TINYINT": "i % 100", "SMALLINT": "i % 30000", "DECIMAL(4,1)": "i % 100", "INTEGER": "i", "DATE": "DATE '2000-01-01' + i::INTEGER",
	"DECIMAL(9,2)": "i", "BIGINT": "i * 1000000", "TIMESTAMP": "make_timestamp(i)", "TIMESTAMP WITH TIME ZONE": "make_timestamp(i)", "TIMESTAMP_NS": "make_timestamp_ns(i)",
	"TIME": "TIME '00:00' + to_microseconds(i)", "HUGEINT": "i::HUGEINT * 10000000000000000000", "DECIMAL(38,3)": "i", "FLOAT": "i + 0.5", "DOUBLE": "i + 0.25",
	"UUID": "md5(i::VARCHAR)::UUID", "VARCHAR": "repeat('x', (i % 40)::INTEGER) || i", "BLOB": "encode(repeat('é', (i % 20)::INTEGER))",
}

// TestFirstRow: the rows of the least order, in groups of one row and of many, by one thread and by several whose states are
// combined, with long texts taken, dropped and taken again.
func TestFirstRow(t *testing.T) {
	for _, threads := range []int{1, 4} {
		_, c := session(t, Options{Threads: threads})
		var types, columns, fields []string
		for typ, value := range firstTypes {
			x := fmt.Sprintf("v%d", len(types))
			types, fields = append(types, typ), append(fields, x)
			columns = append(columns, fmt.Sprintf("CASE WHEN (i + %d) %% 7 > 0 THEN CAST(%s AS %s) END AS %s", len(types), value, typ, x))
		}
		name, err := c.FirstRow(types)
		if err != nil || name == "" {
			t.Fatal(name, err)
		}
		if again, err := c.FirstRow(types); again != name || err != nil {
			t.Fatal(again, err)
		}
		for _, groups := range []string{"i % 3", "i % 5000", "i", "i // 1000"} {
			query := fmt.Sprintf(`WITH t AS MATERIALIZED (SELECT (hash(i) %% 100000)::HUGEINT * 1000000 + i - 50000000000 AS o, %s AS g, %s FROM (SELECT range AS i FROM range(20000))),
				ours AS (SELECT g, unnest(%s(o, %s)) FROM t GROUP BY g),
				theirs AS (SELECT g, %s FROM t WHERE o = (SELECT min(o) FROM t u WHERE u.g = t.g))
				SELECT (SELECT count(*) FROM ours) > 0, (SELECT count(*) FROM (FROM ours EXCEPT ALL FROM theirs)), (SELECT count(*) FROM (FROM theirs EXCEPT ALL FROM ours))`,
				groups, strings.Join(columns, ", "), name, strings.Join(fields, ", "), strings.Join(fields, ", "))
			rows, err := rowsOf(t.Context(), c, query)
			if want := []string{"true|0|0"}; err != nil || !slices.Equal(rows, want) {
				t.Errorf("%d threads, by %s: %v %v", threads, groups, rows, err)
			}
		}
	}
}

// TestFirstRowOddValues: the sign of a zero stays, NULLs do, and a group without orders has none.
func TestFirstRowOddValues(t *testing.T) {
	_, c := session(t, Options{})
	name, err := c.FirstRow([]string{"DOUBLE", "FLOAT", "VARCHAR"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := rowsOf(t.Context(), c, `SELECT g, r IS NULL, 1 / r.c0, 1 / r.c1, r.c2 FROM (SELECT g, `+name+`(o, d, f, s) AS r FROM (VALUES
		(1, 5::HUGEINT, 0.0::DOUBLE, 0.0::FLOAT, 'a text of more than twelve bytes'), (1, -170141183460469231731687303715884105728, '-0.0', '-0.0', NULL),
		(2, 1, 0.0, '-0.0', ''), (2, 18446744073709551616, 1, 1, 'x'), (3, NULL, 1, 1, 'x')) AS t(g, o, d, f, s) GROUP BY g) ORDER BY g`)
	if want := []string{"1|false|-Inf|-Inf|(null)", "2|false|+Inf|-Inf|", "3|true|(null)|(null)|(null)"}; err != nil || !slices.Equal(rows, want) {
		t.Errorf("%v %v, want %v", rows, err, want)
	}
}

func TestNoFirstRow(t *testing.T) {
	_, c := session(t, Options{})
	for _, types := range [][]string{nil, {"INTEGER[]"}, {"INTEGER", "STRUCT(a INTEGER)"}, {"INTERVAL"}, slices.Repeat([]string{"INTEGER"}, 65)} {
		if name, err := c.FirstRow(types); name != "" || err != nil {
			t.Errorf("%v: %q, %v", types, name, err)
		}
	}
	wide := slices.Repeat([]string{"VARCHAR"}, 64)
	name, err := c.FirstRow(wide)
	if err != nil || name == "" {
		t.Fatal(name, err)
	}
	rows, err := rowsOf(t.Context(), c, `SELECT r.c0 = r.c63 FROM (SELECT `+name+`(1::HUGEINT`+strings.Repeat(`, 'a text of many bytes'`, 64)+`) AS r)`)
	if err != nil || !slices.Equal(rows, []string{"true"}) {
		t.Error(rows, err)
	}
}

// TestFirstRowsHoldTheirLimit: texts that are let go make room for others, and those that don't fit end the statement as any other
// want of memory does.
func TestFirstRowsHoldTheirLimit(t *testing.T) {
	_, c := session(t, Options{Threads: 1, MemoryBytes: 64 << 20})
	name, err := c.FirstRow([]string{"VARCHAR"})
	if err != nil {
		t.Fatal(err)
	}
	query := func(groups int) string {
		return fmt.Sprintf(`SELECT count(r.c0) FROM (SELECT i %% %d AS g, %s(-i::HUGEINT, repeat('x', 1000 + i %% 7)) AS r FROM (SELECT range::INTEGER AS i FROM range(200000)) GROUP BY g)`, groups, name)
	}
	for range 3 { // 20 MB of texts, many times over
		if rows, err := rowsOf(t.Context(), c, query(20000)); err != nil || !slices.Equal(rows, []string{"20000"}) {
			t.Fatal(rows, err)
		}
	}
	_, err = rowsOf(t.Context(), c, query(100000))
	if errs.KindOf(err) != errs.Resource || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("100 MB of texts in 64 MiB: %v", err)
	}
	if rows, err := rowsOf(t.Context(), c, query(20000)); err != nil || !slices.Equal(rows, []string{"20000"}) {
		t.Error(rows, err)
	}
}
