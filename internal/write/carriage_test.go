package write

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

var rewrite = flag.Bool("rewrite", false, "write docs/types.md anew")

// TestTypesPage compares docs/types.md with the code.
func TestTypesPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "types.md")
	if *rewrite {
		if err := os.WriteFile(path, []byte(typesPage()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil || string(page) != typesPage() {
		t.Errorf("docs/types.md isn't what the code says (%v): go test ./internal/write -run TypesPage -rewrite", err)
	}
}

// TestCarriages compares the table with what package duck has for each type, and sees that no type is missing.
func TestCarriages(t *testing.T) {
	for kind := transform.Boolean; kind <= transform.Geography; kind++ {
		typ := transform.Type{Kind: kind}
		if kind == transform.Decimal {
			typ.Precision, typ.Scale = 9, 2
		}
		c := carriageOf(kind)
		if c.Kind != kind {
			t.Errorf("%s is missing", typ)
		}
		own, err := duck.TypeSQL(catalog.Type{Primitive: typ})
		switch {
		case (c.Duck == "") != (err != nil):
			t.Errorf("%s is %q in queries, or %v", typ, c.Duck, err)
		case kind != transform.Decimal && own != c.Duck:
			t.Errorf("%s is %q in queries, not %q", typ, own, c.Duck)
		case (c.Refused == "") != (c.Parquet != ""):
			t.Errorf("%s is both refused and written, or neither", typ)
		}
	}
}

// TestTypesOfQueries makes columns of what DuckDB gives, and takes each type for what it becomes.
func TestTypesOfQueries(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct{ sql, want string }{
		{"1::UINTEGER", "long"}, {"1.5::DECIMAL(7,3)", "decimal(7, 3)"}, {"[1, 2]", "list<int>"}, {"array_value(1::BIGINT)", "list<long>"},
		{"MAP {'a': [1.5::DOUBLE]}", "map<string, list<double>>"}, {`{'a b': 1, 'c': {'d"e': TIMESTAMPTZ '2020-01-01 00:00:00+00'}}`, `struct<"a b": int, c: struct<"d""e": timestamptz>>`},
		{"'{}'::JSON", "string"}, {"TIMESTAMP_NS '2020-01-01 00:00:00'", "timestamp_ns"}, {"uuid()", "uuid"}, {"''::BLOB", "binary"},
		{"sum(1)", ""}, {"'a'::ENUM('a', 'it''s, b')", ""}, {"INTERVAL 1 DAY", ""}, {"1::UBIGINT", ""}, {"TIMETZ '10:00:00+01'", ""}, {"{'a': [1::HUGEINT]}", ""}, {"row(1, 2)", ""},
		{"'101'::BIT", ""},
	} {
		columns, err := l.conn.Describe(t.Context(), "SELECT "+c.sql)
		l.must(err)
		next := catalog.FieldID(0)
		got, err := TypeOf("k", columns[0].Type, func() catalog.FieldID { next++; return next })
		if c.want == "" {
			if errs.KindOf(err) != errs.Unsupported {
				t.Errorf("%s becomes %s, %v", columns[0].Type, got, err)
			}
			continue
		}
		if err != nil || got.String() != c.want {
			t.Errorf("%s becomes %s, %v, wanted %s", columns[0].Type, got, err, c.want)
		}
		table := l.tableOf([]catalog.Field{{ID: 1000, Name: "k", Type: got}}, nil, nil, 3)
		query := "SELECT " + c.sql + " AS k"
		if c.sql == "uuid()" {
			query = "SELECT UUID 'f79c3e09-677c-4bbd-a479-3f349cb785e7' AS k"
		}
		l.same(l.append(table, query, Options{}), query)
	}
}
