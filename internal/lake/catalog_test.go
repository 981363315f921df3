package lake

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

func TestCatalogTypes(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		cfg  Config
		kind errs.Kind
		text string
	}{
		{Config{Type: "rest", URI: "https://x"}, errs.Unsupported, "rest"},
		{Config{Type: "glue"}, errs.Unsupported, "glue"},
		{Config{Type: "Hive"}, errs.Unsupported, "hive"},
		{Config{Type: "postgres"}, errs.Invalid, "postgres"},
		{Config{}, errs.Invalid, "no type"},
		{Config{Type: "hadoop"}, errs.Invalid, "warehouse"},
		{Config{Type: "hadoop", Warehouse: dir + "/none"}, errs.NotFound, "none"},
		{Config{Type: "hadoop", Warehouse: "s3://b/wh"}, errs.Unsupported, "s3"},
		{Config{Type: "sql"}, errs.Invalid, "uri"},
		{Config{Type: "sql", URI: "sqlite:///"}, errs.Invalid, "names no file"},
		{Config{Type: "sql", URI: "sqlite://"}, errs.Invalid, "names no file"},
		{Config{Type: "sql", URI: "mysql+pymysql://u@h/db"}, errs.Unsupported, "mysql"},
		{Config{Type: "hadoop", Warehouse: dir, Relocate: []Relocation{{From: "x"}}}, errs.Invalid, "FROM and TO"},
	} {
		_, err := Open(t.Context(), c.cfg)
		if err == nil || errs.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v (%v), want %v about %q", c.cfg, err, errs.KindOf(err), c.kind, c.text)
		}
	}
}

func TestVersionFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		files string
		hint  string
		want  string
		kind  errs.Kind
	}{
		{"newest by number", "v2.metadata.json v10.metadata.json v9.metadata.json", "10", "v10.metadata.json", 0},
		{"hint behind", "v1.metadata.json v2.metadata.json", "1", "v2.metadata.json", 0},
		{"no hint", "v1.metadata.json", "", "v1.metadata.json", 0},
		{"garbled hint", "v1.metadata.json", "what", "v1.metadata.json", 0},
		{"hint with a line end", "v1.metadata.json v2.metadata.json", "2\n", "v2.metadata.json", 0},
		{"gzip, new spelling", "v1.metadata.json v2.gz.metadata.json", "", "v2.gz.metadata.json", 0},
		{"gzip, old spelling", "v1.metadata.json v2.metadata.json.gz", "", "v2.metadata.json.gz", 0},
		{"unfinished files", "v1.metadata.json .v2.metadata.json.x.tmp v01.metadata.json vx.metadata.json v-3.metadata.json", "", "v1.metadata.json", 0},
		{"hint ahead", "v1.metadata.json", "7", "", errs.NotFound},
		{"only a hint", "", "7", "", errs.NotFound},
		{"a catalog's", "00001-aa.metadata.json", "", "", errs.Invalid},
	} {
		dir := t.TempDir()
		for _, f := range strings.Fields(c.files) {
			writeTest(t, filepath.Join(dir, f), "{}")
		}
		if c.hint != "" {
			writeTest(t, filepath.Join(dir, hintName), c.hint)
		}
		v, err := newestVersion(t.Context(), fileio.Disk{}, dir)
		switch {
		case c.want != "" && (err != nil || v.path != dir+"/"+c.want):
			t.Errorf("%s: %+v, %v", c.name, v, err)
		case c.want == "" && (err == nil || errs.KindOf(err) != c.kind):
			t.Errorf("%s: %+v, %v; want %v", c.name, v, err, c.kind)
		}
	}
}

func writeTest(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestSQLiteReadsWriteNothing(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "50% & #1 copy.db")
	original, err := os.ReadFile(goldenFolder + "/py_catalog.db")
	if err != nil {
		t.Fatal(err)
	}
	writeTest(t, copied, string(original))
	cfg := Config{Name: "py", Type: "sql", URI: "sqlite:///" + copied, Relocate: goldenRelocation(t)}
	c := openTest(t, cfg)
	table, err := c.LoadTable(t.Context(), catalog.Ident{"py", "tr"}, catalog.Version{})
	if err != nil || table.Catalog != "py" || table.MetadataLocation != "file:///warehouse/py/tr/metadata/00002-6bb4f242-7e82-443d-a99b-750367c3e4dc.metadata.json" {
		t.Errorf("got %+v, %v", table, err)
	}
	cfg.Name = "another"
	if ns, err := openTest(t, cfg).ListNamespaces(t.Context()); err != nil || len(ns) != 0 {
		t.Errorf("another catalog's namespaces: %v, %v", ns, err)
	}
	after, err := os.ReadFile(copied)
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(copied), "*"))
	if err != nil || !bytes.Equal(original, after) || len(left) != 1 {
		t.Errorf("reading changed the catalog, or left files: %v, %v", left, err)
	}
}

func TestSQLiteIsMadeByWritesOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lake")
	c := openTest(t, Config{Name: "local", Type: "sql", URI: "sqlite:///" + dir + "/catalog.db", Warehouse: dir, CreateIfMissing: true})
	if ns, err := c.ListNamespaces(t.Context()); err != nil || len(ns) != 0 {
		t.Errorf("got %v, %v", ns, err)
	}
	if _, err := c.LoadTable(t.Context(), catalog.Ident{"a", "b"}, catalog.Version{}); errs.KindOf(err) != errs.NotFound {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("reading made %s: %v", dir, err)
	}
	if err := c.CreateNamespace(t.Context(), catalog.Ident{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateNamespace(t.Context(), catalog.Ident{"a", "b"}); errs.KindOf(err) != errs.Exists {
		t.Errorf("got %v", err)
	}
	if ns, err := c.ListNamespaces(t.Context()); err != nil || join(ns) != "a.b" {
		t.Errorf("got %v, %v", ns, err)
	}
}

// TestNamedSQLiteIsMadeByItsFirstNamespace: of a catalog that someone names, reading says that its file isn't there.
func TestNamedSQLiteIsMadeByItsFirstNamespace(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Name: "local", Type: "sql", URI: "sqlite:///" + dir + "/catalog.db", Warehouse: dir + "/wh"}
	c := openTest(t, cfg)
	table := NewTable{Ident: catalog.Ident{"a", "t"}, Schema: testSchema()}
	for what, call := range map[string]func() error{
		"list namespaces": func() error { _, err := c.ListNamespaces(t.Context()); return err },
		"list tables":     func() error { _, err := c.ListTables(t.Context(), catalog.Ident{"a"}); return err },
		"load":            func() error { _, err := c.LoadTable(t.Context(), table.Ident, catalog.Version{}); return err },
		"create table":    func() error { _, err := c.CreateTable(t.Context(), table); return err },
		"drop namespace":  func() error { return c.DropNamespace(t.Context(), catalog.Ident{"a"}) },
	} {
		if err := call(); errs.KindOf(err) != errs.NotFound || !strings.Contains(err.Error(), dir+"/catalog.db") || IsNoTable(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("reading made %v", left)
	}
	if err := os.WriteFile(dir+"/catalog.db", nil, 0o600); err != nil { // as a process leaves it that is killed before it makes tables
		t.Fatal(err)
	}
	if err := c.CreateNamespace(t.Context(), catalog.Ident{"a"}); err != nil {
		t.Fatal(err)
	}
	createTest(t, c, table)
	if err := openTest(t, cfg).CreateNamespace(t.Context(), catalog.Ident{"a"}); errs.KindOf(err) != errs.Exists {
		t.Errorf("again: %v", err)
	}
	load(t, openTest(t, cfg), table.Ident)

	cfg.URI = "sqlite:///" + dir + "/no/such/catalog.db"
	if err := openTest(t, cfg).CreateNamespace(t.Context(), catalog.Ident{"a"}); errs.KindOf(err) != errs.NotFound || !strings.Contains(err.Error(), cfg.URI[10:]) {
		t.Errorf("in a folder that isn't there: %v", err)
	}
	others := sqliteTest(t, "CREATE TABLE mine (x)")
	if err := others.CreateNamespace(t.Context(), catalog.Ident{"a"}); errs.KindOf(err) != errs.Invalid {
		t.Errorf("in a file of something else: %v", err)
	}
}

func TestSQLiteVariants(t *testing.T) {
	const location = "file:///warehouse/py/bk/metadata/00002-4cfc34c8-c04e-46df-9164-0805e0591bb0.metadata.json"
	old := sqliteTest(t, `CREATE TABLE iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location);
		INSERT INTO iceberg_tables VALUES ('c', 'n', 't', '`+location+`', NULL);
		CREATE TABLE iceberg_namespace_properties (catalog_name, namespace, property_key, property_value);`)
	if table, err := old.LoadTable(t.Context(), catalog.Ident{"n", "t"}, catalog.Version{}); err != nil || table.Snapshot == nil {
		t.Errorf("version 0: %v", err)
	}
	if tables, err := old.ListTables(t.Context(), catalog.Ident{"n"}); err != nil || join(tables) != "n.t" {
		t.Errorf("version 0: %v, %v", tables, err)
	}
	typed := sqliteTest(t, strings.Join(sqlTables, ";")+`;INSERT INTO iceberg_tables VALUES
		('c', 'n', 'untyped', '`+location+`', NULL, NULL), ('c', 'n', 'v', 'x', NULL, 'VIEW'), ('c', 'n', 'lost', NULL, NULL, 'TABLE')`)
	if _, err := typed.LoadTable(t.Context(), catalog.Ident{"n", "untyped"}, catalog.Version{}); err != nil {
		t.Errorf("a NULL type is a table: %v", err)
	}
	if tables, err := typed.ListTables(t.Context(), catalog.Ident{"n"}); err != nil || join(tables) != "n.lost n.untyped" {
		t.Errorf("got %v, %v", tables, err)
	}
	if _, err := typed.LoadTable(t.Context(), catalog.Ident{"n", "v"}, catalog.Version{}); errs.KindOf(err) != errs.Unsupported {
		t.Errorf("a view: %v", err)
	}
	if _, err := typed.LoadTable(t.Context(), catalog.Ident{"n", "lost"}, catalog.Version{}); errs.KindOf(err) != errs.Corrupt {
		t.Errorf("no location: %v", err)
	}
	if _, err := sqliteTest(t, "CREATE TABLE other (x)").ListNamespaces(t.Context()); errs.KindOf(err) != errs.Invalid {
		t.Errorf("no catalog: %v", err)
	}
	garbage := filepath.Join(t.TempDir(), "x.db")
	writeTest(t, garbage, strings.Repeat("garbage", 1000))
	if _, err := openTest(t, Config{Name: "c", Type: "sql", URI: garbage}).ListNamespaces(t.Context()); errs.KindOf(err) != errs.Corrupt || !strings.Contains(err.Error(), "x.db") {
		t.Errorf("garbage: %v", err)
	}
}

// sqliteTest opens a catalog "c" over a SQLite file made by the statements.
func sqliteTest(t *testing.T, statements string) *Catalog {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return openTest(t, Config{Name: "c", Type: "sql", URI: "sqlite:///" + path, Relocate: goldenRelocation(t)})
}

// TestOddMetadata edits a good metadata file and reads it.
func TestOddMetadata(t *testing.T) {
	good, err := os.ReadFile(goldenFolder + "/shop/empty/metadata/v1.metadata.json")
	if err != nil {
		t.Fatal(err)
	}
	open := func(text string) (*catalog.Table, error) {
		path := filepath.Join(t.TempDir(), "v1.metadata.json")
		writeTest(t, path, text)
		table, _, err := OpenPath(t.Context(), path, nil)
		return table, err
	}
	edit := func(from, to string) string {
		if !strings.Contains(string(good), from) {
			t.Fatalf("%s is not in %s", from, good)
		}
		return strings.Replace(string(good), from, to, 1)
	}
	table, err := open(edit(`"source-id":1`, `"source-ids":[1,2]`))
	if err != nil {
		t.Fatal(err)
	}
	if f := table.Spec().Fields[0]; len(f.Sources) != 2 || f.SourceType.Kind != 0 {
		t.Errorf("a transform of two columns: %+v", f)
	}
	for name, text := range map[string]string{
		"empty": "", "not JSON": "PK", "an array": "[]", "no version": "{}", "null": "null", "bucket of none": edit("bucket[16]", "bucket[0]"),
		"cut": string(good[:len(good)/2]), "unknown type": edit(`"type":"string"`, `"type":"strung"`), "gzip cut": "\x1f\x8b\x08",
	} {
		if table, err := open(text); errs.KindOf(err) != errs.Corrupt || !strings.Contains(err.Error(), "v1.metadata.json") {
			t.Errorf("%s: %+v, %v", name, table, err)
		}
	}
	if _, err := open(edit(`"properties":{`, `"properties":{"encryption.key-id": "k",`)); err != nil {
		t.Errorf("an encrypted table is refused when it is read, not when it is loaded: %v", err)
	}
}

// TestDamagedFilesNeverPanic flips bytes of manifests and lists.
func TestDamagedFilesNeverPanic(t *testing.T) {
	dir := t.TempDir()
	copyTree(t, goldenFolder+"/mix/identn_l", dir+"/mix/identn_l")
	files, _ := filepath.Glob(dir + "/mix/identn_l/metadata/*.avro")
	parquet, _ := filepath.Glob(dir + "/mix/identn_l/data/*/*.parquet")
	for _, path := range append(files, parquet[0]) {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(whole)/60)
		for at := 0; at < len(whole); at += step {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 0xff
			writeTest(t, path, string(damaged))
			readDamaged(t, dir, path, at)
			writeTest(t, path, string(whole[:at]))
			if err := readDamaged(t, dir, path, at); err == nil {
				t.Fatalf("%s cut at %d of %d is read without an error", path, at, len(whole))
			}
		}
		writeTest(t, path, string(whole))
	}
}

func readDamaged(t *testing.T, dir, path string, at int) error {
	t.Helper()
	table, c, err := OpenPath(t.Context(), dir+"/mix/identn_l", []Relocation{{From: "/warehouse", To: dir}})
	if err == nil {
		var layout *catalog.TableLayout
		if layout, err = c.Survey(t.Context(), table, catalog.Filter{}); err == nil {
			_, err = c.Prepare(t.Context(), table, []catalog.FieldID{1, 2}, layout, dir)
		}
	}
	if err != nil && errs.KindOf(err) == errs.Internal {
		t.Errorf("%s damaged at %d: %v has no kind", path, at, err)
	}
	return err
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// TestOtherCatalogsOfADatabaseAreNamed: one database holds catalogs by their names, and a table that isn't there may lie in another.
func TestOtherCatalogsOfADatabaseAreNamed(t *testing.T) {
	dir := t.TempDir()
	createTest(t, newLake(t, "sql", dir), NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema()})
	other := openTest(t, Config{Name: "other", Type: "sql", URI: "sqlite:///" + dir + "/catalog.db", Warehouse: dir})
	id := catalog.Ident{"db", "t"}
	_, err := other.LoadTable(t.Context(), id, catalog.Version{})
	if hint := errs.HintOf(other.Missing(t.Context(), id, err)); !strings.Contains(hint, "catalogs lake: --catalog lake opens those") {
		t.Errorf("%v: %q", err, hint)
	}
}
