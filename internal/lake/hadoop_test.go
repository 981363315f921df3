package lake

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// lateFiles let another writer in once, right before a version's file is made.
type lateFiles struct {
	fileio.Files
	first func(path string)
}

func (f *lateFiles) Create(ctx context.Context, path string, data []byte) error {
	if _, name := fileio.Split(path); f.first != nil && isMetadataName(name) {
		first := f.first
		f.first = nil
		first(path)
	}
	return f.Files.Create(ctx, path, data)
}

var hadoopTable = catalog.Ident{"db", "t"}

// overtake makes db.t by the statements, and then has the last of them meet a writer who finds the same version current.
func overtake(t *testing.T, other func(c *Catalog, path string), stmts ...string) (*Catalog, error) {
	t.Helper()
	dir := t.TempDir()
	mine, theirs := newLake(t, "hadoop", dir), newLake(t, "hadoop", dir)
	last := len(stmts) - 1
	mustDefine(t, mine, stmts[:last]...)
	setFiles(mine, &lateFiles{mine.fio, func(path string) { other(theirs, path) }})
	return theirs, define(t, mine, stmts[last])
}

// TestOneNameForTheNextVersion: two writers of one base make the same file, whatever each of them says of compression.
func TestOneNameForTheNextVersion(t *testing.T) {
	const set, gzip = "ALTER TABLE db.t SET TBLPROPERTIES ('a'='1')", "ALTER TABLE db.t SET TBLPROPERTIES ('write.metadata.compression-codec'='gzip')"
	for _, both := range [][2]string{{set, gzip}, {gzip, set}} {
		c, err := overtake(t, func(c *Catalog, _ string) { mustDefine(t, c, both[0]) }, "CREATE TABLE db.t (a int)", both[1])
		now := load(t, c, hadoopTable)
		if err != nil || now.Properties["a"] != "1" || now.Properties["write.metadata.compression-codec"] != "gzip" {
			t.Errorf("%s, then %s: %v, %v", both[0], both[1], err, now.Properties)
		}
		mustDefine(t, c, "ALTER TABLE db.t SET TBLPROPERTIES ('b'='2')")
		if now = load(t, c, hadoopTable); !strings.HasSuffix(now.MetadataLocation, "/v4.gz.metadata.json") || now.Properties["b"] != "2" {
			t.Errorf("%s: %v", now.MetadataLocation, now.Properties)
		}
	}
	zipped := "CREATE TABLE db.t (a int) TBLPROPERTIES ('write.metadata.compression-codec'='gzip')"
	if _, err := overtake(t, func(c *Catalog, _ string) { mustDefine(t, c, "CREATE TABLE db.t (b int)") }, "CREATE TABLE db.u (a int)", zipped); err == nil {
		t.Error("two writers made one table")
	}
}

// TestForeignNamesOfTheNextVersion: another engine makes a file of the same number and another name. Its version counts.
func TestForeignNamesOfTheNextVersion(t *testing.T) {
	c, err := overtake(t, func(c *Catalog, path string) {
		base, err := fileio.Read(t.Context(), c.fio, strings.Replace(path, "/v2.", "/v1.", 1))
		if err == nil {
			base, err = zipped([]byte(strings.Replace(string(base), `"properties":{`, `"properties":{"theirs":"1",`, 1)))
		}
		if err == nil {
			err = c.fio.Create(t.Context(), strings.Replace(path, "/v2.", "/v2.gz.", 1), base)
		}
		if err != nil {
			t.Fatal(err)
		}
	}, "CREATE TABLE db.t (a int)", "ALTER TABLE db.t SET TBLPROPERTIES ('mine'='1')")
	now := load(t, c, hadoopTable)
	if err != nil || now.Properties["theirs"] != "1" || now.Properties["mine"] != "1" {
		t.Errorf("%v, %v", err, now.Properties)
	}
	if left := metadataFiles(t, c, now); slices.Contains(left, "v2.metadata.json") {
		t.Errorf("the version that didn't count is left: %v", left)
	}
}

// TestPurgedUnderAWriter: the table is dropped after a writer found its version current. No statement brings it back.
func TestPurgedUnderAWriter(t *testing.T) {
	drop := func(c *Catalog, _ string) {
		plan, err := c.PlanPurge(t.Context(), load(t, c, hadoopTable))
		if err == nil {
			_, err = plan.Execute(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := overtake(t, drop, "CREATE TABLE db.t (a int)", "ALTER TABLE db.t ADD COLUMN b int")
	if errs.KindOf(err) != errs.NotFound {
		t.Errorf("%v", err)
	}
	if _, err := c.LoadTable(t.Context(), hadoopTable, catalog.Version{}); !IsNoTable(err) {
		t.Errorf("the table is there: %v", err)
	}
	// The other way round: the version comes between the last removal and the look for it.
	dir := t.TempDir()
	c = newLake(t, "hadoop", dir)
	mustDefine(t, c, "CREATE TABLE db.t (a int)")
	path := load(t, c, hadoopTable).MetadataLocation
	body, err := fileio.Read(t.Context(), c.fio, path)
	if err != nil {
		t.Fatal(err)
	}
	own := c.fio
	setFiles(c, &lateRemoval{own, path, func() error {
		return own.Create(t.Context(), strings.Replace(path, "/v1.", "/v2.", 1), body)
	}})
	plan, err := c.PlanPurge(t.Context(), load(t, c, hadoopTable))
	if err == nil {
		_, err = plan.Execute(t.Context())
	}
	if errs.KindOf(err) != errs.CommitUnknown {
		t.Errorf("a version that came meanwhile: %v", err)
	}
}

// lateRemoval lets another writer in after a file's removal.
type lateRemoval struct {
	fileio.Files
	path string
	then func() error
}

func (f *lateRemoval) Remove(ctx context.Context, path string) error {
	err := f.Files.Remove(ctx, path)
	if err == nil && path == f.path {
		return f.then()
	}
	return err
}

// TestNothingLiesInATable: a table's folder holds its own folders, which no statement makes anything else of.
func TestNothingLiesInATable(t *testing.T) {
	c := newLake(t, "hadoop", t.TempDir())
	mustDefine(t, c, "CREATE TABLE db.t (a int)")
	state := stateOf(t, c, hadoopTable)
	state.Location = ""
	for _, id := range []catalog.Ident{{"db", "t", "files"}, {"db", "t", "u"}, {"db", "t", "data", "u"}} {
		if _, err := c.Create(t.Context(), id, state); errs.KindOf(err) != errs.NotFound {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, namespace := range []catalog.Ident{{"db", "t", "data"}, {"db", "t", "data", "deeper"}} {
		if err := c.CreateNamespace(t.Context(), namespace); errs.KindOf(err) != errs.Invalid || err == nil {
			t.Errorf("%s: %v", namespace, err)
		}
	}
	if _, err := c.ListTables(t.Context(), hadoopTable); errs.KindOf(err) != errs.NotFound {
		t.Errorf("a table as a namespace: %v", err)
	}
	load(t, c, hadoopTable)
}
