package plainreader

import (
	"fmt"
	"math/big"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tarndb/tarn/internal/golden"
)

// leastScans is how many checks must be plain scans: with fewer, they are no longer recognized.
const leastScans = 110

// falseScans are scans whose own verdict isn't their rows.
var falseScans = map[string]bool{"k12-lying_identity": true}

var (
	scanSQL      = regexp.MustCompile(`^SELECT (.+) FROM (\w+\.\w+)(?: (VERSION|TIMESTAMP) AS OF (?:'([^']+)'|(\d+)))?$`)
	itemSQL      = regexp.MustCompile(`^(?:(count|sum|min|max)\((\*|\w+)\)|([\pL_.` + "`" + `]+))(?: AS (\w+))?$`)
	lineageNames = map[string]bool{"_row_id": true, "_last_updated_sequence_number": true}
)

// item is an item of a select list: an aggregate of a column or of *, or a column, or a field of one.
type item struct{ aggregate, of, path string }

// scan is a check that only reads one table.
type scan struct {
	table, version string // AS OF what, with the quotes' content in ' when it had any
	time           bool
	items          []item // none: *
	lineage        bool
}

// scanOf takes a statement apart when it is a plain scan.
func scanOf(sql string) (scan, bool) {
	m := scanSQL.FindStringSubmatch(sql)
	if m == nil {
		return scan{}, false
	}
	s := scan{table: strings.ReplaceAll(m[2], ".", "/"), time: m[3] == "TIMESTAMP", version: m[5]}
	if m[4] != "" {
		s.version = "'" + m[4]
	}
	if m[1] == "*" {
		return s, true
	}
	for _, text := range strings.Split(m[1], ", ") {
		i := itemSQL.FindStringSubmatch(text)
		if i == nil {
			return scan{}, false
		}
		s.items = append(s.items, item{i[1], i[2], i[3]})
		s.lineage = s.lineage || lineageNames[i[3]]
	}
	return s, true
}

// TestScans holds the plain reader against each golden check that only reads one table, without the engine.
func TestScans(t *testing.T) {
	checks, err := golden.Load("../../../testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(warehouse)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range checks {
		s, ok := scanOf(c.SQL)
		if !ok || c.Writes() || falseScans[c.ID] || unread[s.table] != "" || c.Expect == "error" && s.version == "" {
			continue
		}
		n++
		t.Run(c.ID, func(t *testing.T) { s.check(t, c, root) })
	}
	if n < leastScans {
		t.Errorf("%d checks are plain scans, wanted at least %d", n, leastScans)
	}
}

func (s scan) check(t *testing.T, c *golden.Check, root string) {
	if c.Expect == "error" {
		if _, err := s.open(root); err == nil {
			t.Errorf("%s: there is no error", c.SQL)
		}
		return
	}
	want, err := c.Rows()
	if err != nil {
		t.Fatal(err)
	}
	names, got := s.run(t, root)
	if len(s.items) == 0 {
		if d := golden.DiffNames(c.Names(), names); d != "" {
			t.Error(d)
		}
	}
	if d := golden.Diff(want, got); d != "" {
		t.Errorf("%s\n%s", c.SQL, d)
	}
}

// run reads the table, and computes the select list.
func (s scan) run(t *testing.T, root string) ([]string, []golden.Row) {
	table, err := s.open(root)
	if err != nil {
		t.Fatal(err)
	}
	if s.lineage {
		table = table.Lineage()
	}
	rows, err := table.Rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.items) == 0 {
		return table.Names, rows
	}
	columns := make([][]golden.Value, len(s.items))
	for i, it := range s.items {
		columns[i] = it.column(t, table.Names, rows)
	}
	out := make([]golden.Row, len(columns[0]))
	for _, column := range columns {
		for r := range out {
			out[r] = append(out[r], column[r])
		}
	}
	return nil, out
}

func (s scan) open(root string) (*Table, error) {
	table, err := Open(root, s.table)
	if err != nil || s.version == "" {
		return table, err
	}
	text, quoted := strings.CutPrefix(s.version, "'")
	switch {
	case s.time:
		at, err := time.Parse("2006-01-02 15:04:05.999", text)
		if err != nil {
			return nil, err
		}
		return table.AtTime(at.UnixMilli())
	case quoted:
		return table.AtRef(text)
	}
	var id int64
	if _, err := fmt.Sscan(text, &id); err != nil {
		return nil, err
	}
	return table.At(id)
}

// column computes an item for all rows; an aggregate has one value.
func (i item) column(t *testing.T, names []string, rows []golden.Row) []golden.Value {
	path := i.path
	if i.aggregate != "" {
		path = i.of
	}
	var values []golden.Value
	for _, r := range rows {
		if path == "*" {
			values = append(values, true)
		} else {
			values = append(values, valueAt(t, names, r, strings.Split(strings.ReplaceAll(path, "`", ""), ".")))
		}
	}
	if i.aggregate == "" {
		return values
	}
	return []golden.Value{aggregate(t, i.aggregate, values)}
}

func valueAt(t *testing.T, names []string, r golden.Row, path []string) golden.Value {
	for c, name := range names {
		if name != path[0] {
			continue
		}
		v := r[c]
		for _, part := range path[1:] {
			s, ok := v.(golden.Struct)
			if !ok {
				return nil
			}
			if v, ok = s[part]; !ok {
				t.Fatalf("there is no %v", path)
			}
		}
		return v
	}
	t.Fatalf("there is no column %s", path[0])
	return nil
}

// aggregate computes over what isn't NULL.
func aggregate(t *testing.T, name string, values []golden.Value) golden.Value {
	count, out := int64(0), golden.Value(nil)
	for _, v := range values {
		switch {
		case v == nil:
			continue
		case out == nil || name == "min" && less(t, v, out) || name == "max" && less(t, out, v):
			out = v
		case name == "sum":
			out = new(big.Rat).Add(out.(*big.Rat), v.(*big.Rat))
		}
		count++
	}
	if name == "count" {
		return number(count)
	}
	return out
}

func less(t *testing.T, a, b golden.Value) bool {
	switch x := a.(type) {
	case *big.Rat:
		return x.Cmp(b.(*big.Rat)) < 0
	case float64:
		return x < b.(float64)
	case string:
		return x < b.(string)
	}
	t.Fatalf("%T has no order", a)
	return false
}
