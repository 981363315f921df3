package evolve

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/namemapping"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// checkScript runs the statements that SHOW CREATE TABLE gives for a state, which must make a table like it.
func checkScript(t *testing.T, s State) {
	t.Helper()
	made := State{}
	script := CreateScript("s.t", s, s.Location)
	for _, stmt := range script {
		parsed, err := sql.Parse(stmt)
		if err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
		if st, ok := parsed.(sql.CreateTable); ok {
			made, err = Create(st)
		} else {
			made, err = Apply(made, parsed.(sql.AlterTable).Changes)
		}
		if err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
	if got, want := essence(made), essence(s); got != want {
		t.Errorf("the script\n%s\nmakes\n%s\nof\n%s", strings.Join(script, ";\n"), got, want)
	}
}

// essence writes down what a script makes again: no IDs, no history.
func essence(s State) string {
	var b strings.Builder
	schema := s.Schema()
	name := func(id catalog.FieldID) string { return strings.Join(schema.Path(id), "/") }
	props := maps.Clone(s.Properties)
	delete(props, namemapping.Property)
	fmt.Fprintf(&b, "v%d %q %v\n", s.FormatVersion, s.Location, props)
	for _, f := range schema.Fields {
		fmt.Fprintf(&b, "%s %s %v %q", f.Name, TypeSQL(f.Type), f.Required, f.Doc)
		if f.WriteDefault != nil {
			b.WriteString(" " + transform.FormatValue(f.Type.Primitive, f.WriteDefault))
		}
		b.WriteString("\n")
	}
	for _, f := range s.Spec().Fields {
		if !f.IsVoid() {
			fmt.Fprintf(&b, "by %s=%s(%s)\n", f.Name, f.Transform, name(f.Sources[0]))
		}
	}
	for _, f := range s.Order().Fields {
		fmt.Fprintf(&b, "order %s(%s) %v %v\n", f.Transform, name(f.Source), f.Descending, f.NullsLast)
	}
	for _, id := range schema.Identifier {
		b.WriteString("identifier " + name(id) + "\n")
	}
	return b.String()
}

func TestCreateScript(t *testing.T) {
	for _, script := range [][]string{
		{"CREATE TABLE s.t (`a b` int COMMENT 'it''s', \"c\"\"d\" struct<`x.y`: int NOT NULL COMMENT 'in', z: map<string, array<decimal(9,2)>>> NOT NULL) PARTITIONED BY (bucket(4, `a b`), `c\"d`.`x.y`) COMMENT 'what' LOCATION '/it''s' TBLPROPERTIES ('k'='it''s')",
			"SET IDENTIFIER FIELDS `c\"d`.`x.y`", "WRITE ORDERED BY truncate(4, `a b`) DESC NULLS FIRST", "ADD PARTITION FIELD `a b` AS `q\"`", "ADD PARTITION FIELD truncate(10, `a b`)"},
		{"CREATE TABLE s.t (a int DEFAULT -5, b bigint DEFAULT 9007199254740993, c decimal(9,2) DEFAULT 1.5, d date DEFAULT DATE '2024-01-31', e timestamp DEFAULT '2024-01-31 10:00:00', f timestamp_ntz DEFAULT '1969-12-31 23:59:59.999999', g string DEFAULT 'it''s', h binary DEFAULT X'00ff', i uuid DEFAULT 'f79c3e09-677c-4bbd-a479-3f349cb785e7', j boolean DEFAULT true, k double DEFAULT 1e300, l float DEFAULT -0.1, m fixed(2) DEFAULT X'0102', n time DEFAULT '10:00:00', o timestamp_ns DEFAULT '2024-01-31 10:00:00.000000001', p timestamptz_ns, q variant, r geometry, s geography, t void) TBLPROPERTIES ('format-version'='3')",
			"WRITE LOCALLY ORDERED BY a", "ADD PARTITION FIELD hours(o)"},
		{"CREATE TABLE s.t (a int, b string) PARTITIONED BY (a, b) TBLPROPERTIES ('format-version'='1')", "DROP PARTITION FIELD a", "ADD PARTITION FIELD bucket(4, a) AS a2"},
	} {
		s := State{}
		for _, stmt := range script {
			var err error
			if s, err = run(s, stmt); err != nil {
				t.Fatalf("%s: %v", stmt, err)
			}
		}
		checkScript(t, s)
	}
}
