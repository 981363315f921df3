package lake

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// define runs a CREATE TABLE or an ALTER TABLE.
func define(t *testing.T, c *Catalog, stmt string) error {
	t.Helper()
	parsed, err := sql.Parse(stmt)
	if err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	switch st := parsed.(type) {
	case sql.CreateTable:
		id := catalog.Ident(st.Table)
		if err := c.CreateNamespace(t.Context(), id[:len(id)-1]); err != nil && errs.KindOf(err) != errs.Exists {
			t.Fatal(err)
		}
		s, err := evolve.Create(st)
		if err != nil {
			return err
		}
		_, err = c.Create(t.Context(), id, s)
		return err
	case sql.AlterTable:
		_, err := c.Evolve(t.Context(), load(t, c, st.Table), "alter table", func(s evolve.State) (evolve.State, error) {
			return evolve.Apply(s, st.Changes)
		})
		return err
	}
	t.Fatalf("%s is no definition", stmt)
	return nil
}

func mustDefine(t *testing.T, c *Catalog, stmts ...string) {
	t.Helper()
	for _, stmt := range stmts {
		if err := define(t, c, stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
}

func stateOf(t *testing.T, c *Catalog, id catalog.Ident) evolve.State {
	t.Helper()
	s, err := c.StateOf(load(t, c, id))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDefinitionsAsSpark runs what Spark ran on golden tables and compares all schemas, specs and sort orders with their
// numbers and IDs, and the properties.
func TestDefinitionsAsSpark(t *testing.T) {
	text, err := os.ReadFile("testdata/replay.txt")
	if err != nil {
		t.Fatal(err)
	}
	golden := goldenHadoop(t)
	tables := 0
	for _, part := range strings.Split(string(text), "\n\n")[1:] {
		lines := strings.Split(strings.TrimSpace(part), "\n")
		id := catalog.Ident(strings.Split(lines[0], "."))
		for _, kind := range []string{"sql", "hadoop"} {
			c := newLake(t, kind, t.TempDir())
			mustDefine(t, c, lines[1:]...)
			got, want := shape(t, stateOf(t, c, id)), shape(t, stateOf(t, golden, id))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s:\n%s\nand by Spark\n%s", kind, id, inJSON(t, got), inJSON(t, want))
			}
		}
		tables++
	}
	if tables < 20 {
		t.Errorf("only %d tables", tables)
	}
}

// shape leaves out of a state what isn't of its definition: the place, the snapshots, and who made it.
func shape(t *testing.T, s evolve.State) evolve.State {
	t.Helper()
	s.Location, s.Snapshots, s.Refs = "", nil, nil
	s.Properties = maps.Clone(s.Properties)
	delete(s.Properties, "owner") // Spark's, the user of the machine
	const mapping = "schema.name-mapping.default"
	if m, ok := s.Properties[mapping]; ok {
		var flat bytes.Buffer
		if err := json.Compact(&flat, []byte(m)); err != nil {
			t.Fatal(err)
		}
		s.Properties[mapping] = flat.String()
	}
	return s
}

func inJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDefaultsAreExact has defaults that iceberg-go would round survive other changes of the table, and its rows.
func TestDefaultsAreExact(t *testing.T) {
	c := newLake(t, "sql", t.TempDir())
	mustDefine(t, c, "CREATE TABLE db.t (id int, w bigint DEFAULT 9007199254740993) TBLPROPERTIES ('format-version'='3')",
		"ALTER TABLE db.t ADD COLUMN l bigint DEFAULT 9223372036854775807",
		"ALTER TABLE db.t ADD COLUMN ts timestamp DEFAULT TIMESTAMP '1969-12-31 23:59:59.999999'",
		"ALTER TABLE db.t ADD COLUMN s struct<a: int>", "ALTER TABLE db.t SET TBLPROPERTIES ('a'='b')", "ALTER TABLE db.t RENAME COLUMN id TO key")
	if _, err := c.Append(t.Context(), load(t, c, catalog.Ident{"db", "t"}), nil); errs.KindOf(err) == errs.Unsupported {
		t.Errorf("the table can't be written: %v", err)
	}
	fields := stateOf(t, c, catalog.Ident{"db", "t"}).Schema().Fields
	if fields[1].WriteDefault != int64(9007199254740993) || fields[2].InitialDefault != int64(9223372036854775807) || fields[3].InitialDefault != int64(-1) {
		t.Errorf("the defaults are %v, %v and %v", fields[1].WriteDefault, fields[2].InitialDefault, fields[3].InitialDefault)
	}
	raw, err := os.ReadFile(filepath.Clean(strings.TrimPrefix(load(t, c, catalog.Ident{"db", "t"}).MetadataLocation, "file://")))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"9007199254740993", "9223372036854775807", `"1969-12-31T23:59:59.999999+00:00"`} {
		if !bytes.Contains(raw, []byte(want)) {
			t.Errorf("the metadata doesn't say %s", want)
		}
	}
}

// TestUnknownTransformsAreOnlyRead has a spec with a transform that isn't known, one with a transform of two columns, and a
// sort order with one.
func TestUnknownTransformsAreOnlyRead(t *testing.T) {
	changes := []string{"ADD COLUMN x int", "SET TBLPROPERTIES ('a'='b')", "WRITE UNORDERED", "ADD PARTITION FIELD bucket(4, id) AS p"}
	golden := goldenHadoop(t)
	for _, change := range changes {
		if err := define(t, golden, "ALTER TABLE broken.unknown_transform "+change); errs.KindOf(err) != errs.Unsupported {
			t.Errorf("%s: %v", change, err)
		}
	}
	for _, c := range [][2]string{
		{`"source-id":1,"field-id":1000,"name":"id_bucket","transform":"bucket[4]"`, `"source-ids":[1,2],"field-id":1000,"name":"id_bucket","transform":"bucket[4]"`},
		{`"source-id":2,"transform":"truncate[3]"`, `"source-ids":[2,1],"transform":"bucket[3]"`},
	} {
		lake := newLake(t, "hadoop", t.TempDir())
		mustDefine(t, lake, "CREATE TABLE db.t (id int, name string) PARTITIONED BY (bucket(4, id)) TBLPROPERTIES ('format-version'='3')",
			"ALTER TABLE db.t WRITE ORDERED BY truncate(3, name)")
		path := strings.TrimPrefix(load(t, lake, catalog.Ident{"db", "t"}).MetadataLocation, "file://")
		raw, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			t.Fatal(err)
		}
		edited := bytes.ReplaceAll(raw, []byte(c[0]), []byte(c[1]))
		if bytes.Equal(edited, raw) {
			t.Fatalf("no %s in %s", c[0], raw)
		}
		if err := os.WriteFile(filepath.Clean(path), edited, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := lake.Survey(t.Context(), load(t, lake, catalog.Ident{"db", "t"}), catalog.Filter{}); err != nil {
			t.Errorf("%s: the table can't be read: %v", c[1], err)
		}
		for _, change := range changes {
			if err := define(t, lake, "ALTER TABLE db.t "+change); errs.KindOf(err) != errs.Unsupported {
				t.Errorf("%s: %s: %v", c[1], change, err)
			}
		}
	}
}

// TestPropertiesThatAreWrong can be mended by the statement that sets them.
func TestPropertiesThatAreWrong(t *testing.T) {
	c := newLake(t, "sql", t.TempDir())
	mustDefine(t, c, "CREATE TABLE db.t (id int) TBLPROPERTIES ('commit.retry.num-retries'='many')", "ALTER TABLE db.t SET TBLPROPERTIES ('commit.retry.num-retries'='4')")
}

// TestNamesThatDifferInCase has columns that only another engine makes side by side.
func TestNamesThatDifferInCase(t *testing.T) {
	c := newLake(t, "sql", t.TempDir())
	schema := &catalog.Schema{Fields: []catalog.Field{
		{ID: 1, Name: "ab", Type: primitive(transform.Int)}, {ID: 2, Name: "AB", Type: primitive(transform.Int)}, {ID: 3, Name: "c", Type: primitive(transform.Int)},
	}}
	createTest(t, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: schema})
	if err := define(t, c, "ALTER TABLE db.t DROP COLUMN Ab"); errs.KindOf(err) != errs.Invalid {
		t.Errorf("an ambiguous name: %v", err)
	}
	if err := define(t, c, "ALTER TABLE db.t ADD COLUMN aB int"); errs.KindOf(err) != errs.Exists {
		t.Errorf("a third one: %v", err)
	}
	mustDefine(t, c, "ALTER TABLE db.t ALTER COLUMN AB TYPE bigint", "ALTER TABLE db.t RENAME COLUMN AB TO d", "ALTER TABLE db.t DROP COLUMN Ab")
	if f := stateOf(t, c, catalog.Ident{"db", "t"}).Schema().Fields; len(f) != 2 || f[0].ID != 2 || f[0].Name != "d" || f[1].ID != 3 {
		t.Errorf("left are %+v", f)
	}
}
