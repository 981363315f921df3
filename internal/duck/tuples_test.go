package duck

import (
	"fmt"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// tupleTypes are types of partition values, with SQL of them by a number n.
var tupleTypes = []struct{ typ, sql string }{
	{"int", "(n % 40 - 20)::INTEGER"}, {"long", "(n % 7)::BIGINT * 5000000000"}, {"boolean", "n % 2 = 0"}, {"date", "DATE '1970-01-01' + (n % 9 - 4)::INTEGER"},
	{"string", "repeat('x', (n % 20)::INTEGER)"}, {"binary", "encode(repeat('y', (n % 3)::INTEGER))"}, {"decimal(9,2)", "(n % 5 - 2)::DECIMAL(9,2)"},
	{"decimal(38,0)", "(n % 5 - 2)::DECIMAL(38,0) * 100000000000000000000"}, {"uuid", "([UUID '00000000-0000-0000-0000-000000000001', UUID '80000000-0000-0000-0000-000000000001'])[n % 2 + 1]"},
	{"double", "([0.0::DOUBLE, -0.0, 'nan'::DOUBLE, -'nan'::DOUBLE, 1.5])[n % 5 + 1]"}, {"float", "([0.5::FLOAT, 'nan'::FLOAT])[n % 2 + 1]"},
	{"timestamp_ns", "make_timestamp_ns(n % 3)"},
}

// TestTuples parts rows by tuples of each type and of all: rows of one bin of its own are of its tuple, and rows of one tuple are in
// one bin, also when bins are shared.
func TestTuples(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	all, list := []transform.Type{}, ""
	for _, typ := range tupleTypes {
		parsed, err := transform.ParseType(typ.typ)
		if err != nil {
			t.Fatal(err)
		}
		value := fmt.Sprintf(", CASE WHEN n %% 11 > 0 THEN %s END", typ.sql)
		tuplesOf(t, c, []transform.Type{parsed}, value, 100)
		all, list = append(all, parsed), list+value
	}
	tuplesOf(t, c, all, list, 100)
}

func tuplesOf(t *testing.T, c *Conn, types []transform.Type, list string, own int) {
	t.Helper()
	tuples := NewTuples(types, own, 8, 1)
	router := tuples.Router(1)
	binOf, keys := map[string]int32{}, map[int32]string{}
	res, err := c.Query(t.Context(), "SELECT n"+list+" FROM (SELECT (hash(range) % 5000)::BIGINT AS n FROM range(20000))")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	for {
		ch, err := res.Next(t.Context())
		if err != nil {
			break
		}
		bins, err := router.Route(ch, nil)
		if err != nil {
			t.Fatal(err)
		}
		for row, bin := range bins {
			var tuple []transform.Value
			for i, typ := range types {
				x := columnOf(ch.handle, 1+i, ch.Rows())
				if !x.isValid(row) {
					tuple = append(tuple, nil)
				} else {
					tuple = append(tuple, x.value(typ, row))
				}
			}
			key := catalog.TupleKey(0, tuple)
			if known, ok := binOf[key]; ok && known != bin {
				t.Fatalf("%v is in the bins %d and %d", tuple, known, bin)
			}
			binOf[key] = bin
			if int(bin) < own {
				if other, ok := keys[bin]; ok && other != key || key != catalog.TupleKey(0, tuples.Own()[bin]) {
					t.Fatalf("%v is in bin %d, of %v", tuple, bin, tuples.Own()[bin])
				}
				keys[bin] = key
			} else if int(bin) >= tuples.Bins() {
				t.Fatalf("there is no bin %d", bin)
			}
		}
		ch.Close()
	}
	if len(binOf) < 2 || len(tuples.Own()) != min(own, len(binOf)) {
		t.Errorf("of %d tuples %d have bins of their own", len(binOf), len(tuples.Own()))
	}
}

// TestTuplesOfOtherTypes refuses what isn't a partition value.
func TestTuplesOfOtherTypes(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	res, err := c.Query(t.Context(), "SELECT INTERVAL 1 DAY")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	ch, err := res.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer ch.Close()
	_, err = NewTuples([]transform.Type{longType}, 1, 1, 0).Router(0).Route(ch, nil)
	wantError(t, err, errs.Internal, "INTERVAL")
}

// TestSpillKeepsNestedExpressions spills values whose parts DuckDB has computed once for many, and reads a bin by parts.
func TestSpillKeepsNestedExpressions(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	element := catalog.Field{ID: 3, Name: "element", Type: catalog.Type{Nested: catalog.Struct, Fields: []catalog.Field{primitive(4, "a", longType), primitive(5, "b", stringType)}}}
	key := primitive(7, "key", stringType)
	columns := []ScanColumn{
		{Field: primitive(1, "k", longType), As: "k"},
		{Field: catalog.Field{ID: 2, Name: "l", Type: catalog.Type{Nested: catalog.List, Fields: []catalog.Field{element}}}, As: "l"},
		{Field: catalog.Field{ID: 6, Name: "m", Type: catalog.Type{Nested: catalog.Map, Fields: []catalog.Field{key, element}}}, As: "m"},
	}
	s := newSpill(t, c, columns, 3)
	const rows = `SELECT i AS k, list_transform(range(i % 5), lambda e: CASE WHEN e % 3 > 0 THEN struct_pack(a := CASE WHEN e % 2 = 0 THEN i END, b := 'always') END) AS l,
  CASE WHEN i % 4 > 0 THEN map_from_entries([struct_pack(key := 'one', value := struct_pack(a := 7::BIGINT, b := i::VARCHAR)), struct_pack(key := 'two', value := NULL)]) END AS m
FROM range(10000) t(i)`
	if err := spillRows(t.Context(), c, rows, s.Writer(64<<10), bucketBins(t, 3)); err != nil {
		t.Fatal(err)
	}
	text := ""
	for bin := range 3 {
		var sum int64
		for i, part := range s.Parts(bin, 50_000) {
			sql, release := s.ReadPart(bin, part)
			defer release()
			if text != "" {
				text += " UNION ALL "
			}
			text += sql
			sum += part.Rows
			wantRows(t, c, "SELECT count(*) FROM ("+sql+")", fmt.Sprint(part.Rows))
			if part.Bytes > 50_000 && part.Rows > vectorRows { // more than one block
				t.Errorf("part %d has %d bytes", i, part.Bytes)
			}
		}
		if sum != s.Rows(bin) || sum != s.Whole(bin).Rows {
			t.Errorf("the parts of bin %d have %d rows of %d", bin, sum, s.Rows(bin))
		}
	}
	wantRows(t, c, "SELECT count(*) FROM ("+text+")", "10000")
	wantRows(t, c, "SELECT count(*) FROM (("+rows+") EXCEPT ALL ("+text+"))", "0")
}
