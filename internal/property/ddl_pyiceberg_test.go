package property

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/lake"
)

// defined is how a table is defined.
type defined struct {
	Version       int                 `json:"version"`
	LastColumn    int                 `json:"last_column"`
	LastPartition int                 `json:"last_partition"`
	Schemas       map[string][]string `json:"schemas"`
	Schema        int                 `json:"schema"`
	Identifier    []int               `json:"identifier"`
	Specs         map[string][]string `json:"specs"`
	Spec          int                 `json:"spec"`
	Orders        map[string][]string `json:"orders"`
	Order         int                 `json:"order"`
	Properties    map[string]string   `json:"properties"`
	Refs          map[string]string   `json:"refs"`
}

// definitions are scripts, each about the table t of the namespace.
var definitions = map[string][]string{
	"columns": {
		"CREATE TABLE t (id bigint NOT NULL COMMENT 'the key', s struct<a:int NOT NULL,b:array<map<string,double>>> NOT NULL, ts timestamp, d date) PARTITIONED BY (bucket(16, id), days(ts)) COMMENT 'it''s'",
		"ALTER TABLE t ADD COLUMNS (s.c decimal(9,2) FIRST, x string COMMENT 'ü' AFTER id, f float)", "ALTER TABLE t RENAME COLUMN s.a TO aa",
		"ALTER TABLE t ALTER COLUMN s.c TYPE decimal(12,2), f TYPE double", "ALTER TABLE t DROP COLUMN x", "ALTER TABLE t SET IDENTIFIER FIELDS id, s.aa",
	},
	"layout": {
		"CREATE TABLE t (customer_id bigint, name string, ts timestamp_ntz) PARTITIONED BY (bucket(64, customer_id))",
		"ALTER TABLE t WRITE ORDERED BY bucket(64, customer_id), customer_id", "ALTER TABLE t ADD PARTITION FIELD truncate(4, name) AS prefix",
		"ALTER TABLE t REPLACE PARTITION FIELD bucket(64, customer_id) WITH bucket(32, customer_id)", "ALTER TABLE t DROP PARTITION FIELD prefix",
		"ALTER TABLE t WRITE LOCALLY ORDERED BY days(ts) DESC NULLS FIRST, name ASC NULLS LAST", "ALTER TABLE t ADD PARTITION FIELD truncate(4, name)",
	},
	"one": {
		"CREATE TABLE t (id int, r string) PARTITIONED BY (r, bucket(8, id)) TBLPROPERTIES ('format-version'='1')", "ALTER TABLE t DROP PARTITION FIELD r",
		"ALTER TABLE t ADD PARTITION FIELD truncate(2, r) AS r2",
	},
	"upgraded": {
		"CREATE TABLE t (id int, r string) PARTITIONED BY (r) TBLPROPERTIES ('format-version'='1')", "ALTER TABLE t DROP PARTITION FIELD r",
		"ALTER TABLE t SET TBLPROPERTIES ('format-version'='2', 'a'='b')", "ALTER TABLE t DROP PARTITION FIELD r", "ALTER TABLE t DROP COLUMN r",
		"ALTER TABLE t SET TBLPROPERTIES ('format-version'='3')", "ALTER TABLE t ADD COLUMN n bigint DEFAULT 9007199254740993",
	},
	"three": {
		"CREATE TABLE t (a int DEFAULT 5, b uuid, c time, d fixed(16), e binary DEFAULT X'00ff', n timestamp_ns, z timestamptz_ns, u void, dt date) TBLPROPERTIES ('format-version'='3')",
		"ALTER TABLE t ADD COLUMN g decimal(9,2) NOT NULL DEFAULT -1.5", "ALTER TABLE t ALTER COLUMN a SET DEFAULT 6", "ALTER TABLE t ALTER COLUMN dt TYPE timestamp_ntz",
	},
	"replaced": {
		"CREATE TABLE t (a int, b string, c int) PARTITIONED BY (a, b)", "CREATE OR REPLACE TABLE t (b string, a bigint, c string) PARTITIONED BY (b, bucket(4, a)) TBLPROPERTIES ('x'='y')",
	},
}

// TestPyIcebergLoads lets PyIceberg load what statements made, and compares all that both say of it.
func TestPyIcebergLoads(t *testing.T) {
	python := pyIceberg(t, "import pyiceberg, pyarrow, sqlalchemy")
	folder := t.TempDir()
	uri, warehouse := "sqlite:///"+folder+"/catalog.db", "file://"+folder+"/warehouse"
	engine, err := tarn.Open(t.Context(), tarn.Config{Catalogs: []tarn.CatalogConfig{{Name: "lake", Type: "sql", URI: uri, Warehouse: warehouse, CreateIfMissing: true}}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s := engine.Session()
	stmts := []string{"CREATE NAMESPACE defs"}
	for name, script := range definitions {
		for _, stmt := range script {
			stmts = append(stmts, strings.Replace(stmt, "TABLE t", "TABLE defs."+name, 1))
		}
	}
	for _, stmt := range stmts {
		if _, err := s.Exec(t.Context(), stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
	c, err := lake.Open(t.Context(), lake.Config{Name: "lake", Type: "sql", URI: uri, Warehouse: warehouse})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cmd := exec.CommandContext(t.Context(), python, "testdata/metadata.py", uri, warehouse, "defs")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]defined{}
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatal(err)
	}
	if len(read) != len(definitions) {
		t.Errorf("PyIceberg sees %d tables, wanted %d", len(read), len(definitions))
	}
	for name := range definitions {
		table, err := c.LoadTable(t.Context(), catalog.Ident{"defs", name}, catalog.Version{})
		if err != nil {
			t.Fatal(err)
		}
		state, err := c.StateOf(table)
		if err != nil {
			t.Fatal(err)
		}
		if want := definedBy(state); !reflect.DeepEqual(read[name], want) {
			t.Errorf("%s: PyIceberg reads\n%+v, wanted\n%+v", name, read[name], want)
		}
	}
}

func definedBy(s evolve.State) defined {
	out := defined{
		Version: s.FormatVersion, LastColumn: int(s.LastColumnID), LastPartition: int(s.LastPartitionID), Schemas: map[string][]string{}, Schema: s.SchemaID,
		Identifier: []int{}, Specs: map[string][]string{}, Spec: int(s.SpecID), Orders: map[string][]string{}, Order: s.OrderID, Properties: s.Properties,
		Refs: map[string]string{},
	}
	for _, schema := range s.Schemas {
		out.Schemas[fmt.Sprint(schema.ID)] = fieldLines(schema.Fields, "")
	}
	for _, id := range s.Schema().Identifier {
		out.Identifier = append(out.Identifier, int(id))
	}
	for _, spec := range s.Specs {
		lines := []string{}
		for _, f := range spec.Fields {
			lines = append(lines, fmt.Sprint(f.ID, " ", f.Name, " ", f.Transform, " ", f.Sources[0]))
		}
		out.Specs[fmt.Sprint(spec.ID)] = lines
	}
	for _, order := range s.Orders {
		lines := []string{}
		for _, f := range order.Fields {
			direction, nulls := "asc", "nulls-first"
			if f.Descending {
				direction = "desc"
			}
			if f.NullsLast {
				nulls = "nulls-last"
			}
			lines = append(lines, fmt.Sprint(f.Transform, " ", f.Source, " ", direction, " ", nulls))
		}
		out.Orders[fmt.Sprint(order.ID)] = lines
	}
	return out
}

func fieldLines(fields []catalog.Field, indent string) []string {
	out := []string{}
	for _, f := range fields {
		kind := f.Type.Primitive.String()
		if f.Type.Nested != catalog.NotNested {
			kind = [...]string{catalog.Struct: "struct", catalog.List: "list", catalog.Map: "map"}[f.Type.Nested]
		}
		line := fmt.Sprintf("%s%d %s %s", indent, f.ID, f.Name, kind)
		if f.Required {
			line += " required"
		}
		if f.Doc != "" {
			line += " '" + f.Doc + "'"
		}
		out = append(append(out, line), fieldLines(f.Type.Fields, indent+"  ")...)
	}
	return out
}
