package lake

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/faultfs"
	"github.com/tarndb/tarn/internal/fileio"
)

// filesUnder lists the files of a folder, as the catalog's own file that SQLite keeps isn't.
func filesUnder(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.Contains(path, "catalog.db") && e.Name() != hintName {
			out = append(out, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// purgeable makes a table with rows of several snapshots, and some that are none any more.
func purgeable(t *testing.T, c *Catalog) *catalog.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	table := createTest(t, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema(), Spec: []catalog.PartitionField{field(t, 1, "bucket[4]")}})
	for range 2 {
		if _, err := c.Append(t.Context(), table, writeFiles(t, c, table, testRows(rng, 10))); err != nil {
			t.Fatal(err)
		}
		table = load(t, c, table.Ident)
	}
	return table
}

func planOf(t *testing.T, c *Catalog, id catalog.Ident) (*Purge, []string) {
	t.Helper()
	plan, err := c.PlanPurge(t.Context(), load(t, c, id))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, g := range plan.Groups {
		for _, path := range g.Files {
			all = append(all, fileio.Plain(path))
		}
		var size int64
		for _, path := range g.Files {
			info, err := os.Stat(fileio.Plain(path))
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if size != g.Bytes {
			t.Errorf("%s: %d bytes are planned, and there are %d", g.Kind, g.Bytes, size)
		}
	}
	slices.Sort(all)
	return plan, all
}

func TestPurge(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		dir := t.TempDir()
		c := newLake(t, kind, dir)
		table := purgeable(t, c)
		before := filesUnder(t, dir)
		plan, planned := planOf(t, c, table.Ident)
		if !slices.Equal(planned, before) {
			t.Errorf("%s: planned are\n%v\nof\n%v", kind, planned, before)
		}
		if now := filesUnder(t, dir); !slices.Equal(now, before) {
			t.Errorf("%s: planning deleted %d files", kind, len(before)-len(now))
		}
		left, err := plan.Execute(t.Context())
		if err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", kind, err, left)
		}
		if now := filesUnder(t, dir); len(now) > 0 {
			t.Errorf("%s: left are %v", kind, now)
		}
		if _, err := c.LoadTable(t.Context(), table.Ident, catalog.Version{}); !IsNoTable(err) {
			t.Errorf("%s: the table is there: %v", kind, err)
		}
		if tables, err := c.ListTables(t.Context(), catalog.Ident{"db"}); err != nil || len(tables) > 0 {
			t.Errorf("%s: %v, %v", kind, tables, err)
		}
		if spaces, err := c.ListNamespaces(t.Context()); err != nil || len(spaces) != 1 {
			t.Errorf("%s: the namespaces are %v, %v", kind, spaces, err)
		}
	}
}

// TestPurgeOfMovedTable plans for a version after which another one comes.
func TestPurgeOfMovedTable(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		dir := t.TempDir()
		c := newLake(t, kind, dir)
		table := purgeable(t, c)
		plan, _ := planOf(t, c, table.Ident)
		mustDefine(t, c, "ALTER TABLE db.t SET TBLPROPERTIES ('a'='b')")
		before := filesUnder(t, dir)
		if _, err := plan.Execute(t.Context()); errs.KindOf(err) != errs.Conflict {
			t.Errorf("%s: %v", kind, err)
		}
		if now := filesUnder(t, dir); !slices.Equal(now, before) {
			t.Errorf("%s: %d of %d files are left", kind, len(now), len(before))
		}
		mustDefine(t, c, "ALTER TABLE db.t SET TBLPROPERTIES ('gc.enabled'='false')")
		if _, err := c.PlanPurge(t.Context(), load(t, c, table.Ident)); errs.KindOf(err) != errs.Invalid {
			t.Errorf("%s: files that aren't the table's: %v", kind, err)
		}
	}
}

// TestPurgeLeavesOthersFiles has a table with a file that lies in another one's folder, and one that has moved.
func TestPurgeLeavesOthersFiles(t *testing.T) {
	dir := t.TempDir()
	c := newLake(t, "sql", dir)
	table := purgeable(t, c)
	rng := rand.New(rand.NewPCG(3, 4))
	other := createTest(t, c, NewTable{Ident: catalog.Ident{"db", "other"}, Schema: testSchema(), Spec: []catalog.PartitionField{field(t, 1, "bucket[4]")}})
	others := writeFiles(t, c, other, testRows(rng, 10))
	for _, to := range []*catalog.Table{other, table} {
		if _, err := c.Append(t.Context(), to, others); err != nil {
			t.Fatal(err)
		}
	}
	mustDefine(t, c, "ALTER TABLE db.t SET LOCATION '"+dir+"/moved'")
	if _, err := c.Append(t.Context(), load(t, c, table.Ident), writeFiles(t, c, load(t, c, table.Ident), testRows(rng, 10))); err != nil {
		t.Fatal(err)
	}
	plan, planned := planOf(t, c, table.Ident)
	last := plan.Groups[len(plan.Groups)-1]
	if !last.Kept || len(last.Files) != len(others) {
		t.Errorf("kept are %+v", last)
	}
	var want []string
	for _, path := range filesUnder(t, dir) {
		if !slices.Contains(planned, path) || strings.Contains(path, "/other/") {
			want = append(want, path)
		}
	}
	if left, err := plan.Execute(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if now := filesUnder(t, dir); !slices.Equal(now, want) || len(now) != len(filesUnder(t, dir+"/wh/db/other")) {
		t.Errorf("left are %v, wanted %v", now, want)
	}
}

// forgetful drops a table, or doesn't, and loses the answer.
type forgetful struct {
	store
	lands bool
}

func (s *forgetful) drop(ctx context.Context, id catalog.Ident, base string, purge bool) error {
	if s.lands {
		if err := s.store.drop(ctx, id, base, purge); err != nil {
			return err
		}
	}
	return &errs.Error{Kind: errs.CommitUnknown, Op: "drop table", Object: id.String(), Err: faultfs.ErrInjected}
}

func TestPurgeOfTwoNames(t *testing.T) {
	c := newLake(t, "sql", t.TempDir())
	table := purgeable(t, c)
	store := c.store.(*sqlStore)
	db, err := store.write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.handleOf(table)
	if err != nil {
		t.Fatal(err)
	}
	register := func(owner, namespace, name, location string) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), `INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type)
			VALUES (?, ?, ?, ?, 'TABLE')`, owner, namespace, name, location)
		if err != nil {
			t.Fatal(err)
		}
	}
	forget := func() {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), "DELETE FROM iceberg_tables WHERE table_name <> 't'"); err != nil {
			t.Fatal(err)
		}
	}
	folder := h.meta.Location()
	oldest := ""
	for previous := range h.meta.PreviousFiles() {
		oldest = previous.MetadataFile
		break
	}
	for _, other := range [][]string{{store.name, "db", "u", h.location}, {store.name, "db", "u", oldest}, {"another", "db", "u", h.location}} {
		register(other[0], other[1], other[2], other[3])
		_, err := c.PlanPurge(t.Context(), load(t, c, table.Ident))
		if errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), "db.u") {
			t.Errorf("beside %v: %v", other, err)
		}
		forget()
	}
	broken := fileio.Under(folder, "metadata", "broken.metadata.json")
	if err := os.WriteFile(fileio.Plain(broken), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	register(store.name, "db", "broken", broken)
	if _, err := c.PlanPurge(t.Context(), load(t, c, table.Ident)); errs.KindOf(err) != errs.Corrupt {
		t.Errorf("beside one whose metadata may be anything: %v", err)
	}
	forget()
	// Names of no table, of another one, and of one that lies elsewhere are in nobody's way.
	register(store.name, "db", "gone", fileio.Under(folder, "metadata", "gone.metadata.json"))
	register(store.name, "db", "far", "s3://bucket/far.metadata.json")
	o, err := c.handleOf(createTest(t, c, NewTable{Ident: catalog.Ident{"db", "other"}, Schema: testSchema()}))
	if err != nil {
		t.Fatal(err)
	}
	inside := fileio.Under(folder, "inside.metadata.json")
	if err := os.Link(fileio.Plain(o.location), fileio.Plain(inside)); err != nil {
		t.Fatal(err)
	}
	register(store.name, "db", "inside", inside)
	if _, err := c.PlanPurge(t.Context(), load(t, c, table.Ident)); err != nil {
		t.Error(err)
	}
}

func TestPurgeOfUnknownOutcome(t *testing.T) {
	for _, lands := range []bool{false, true} {
		dir := t.TempDir()
		c := newLake(t, "sql", dir)
		table := purgeable(t, c)
		plan, planned := planOf(t, c, table.Ident)
		c.store = &forgetful{c.store, lands}
		if _, err := plan.Execute(t.Context()); errs.KindOf(err) != errs.CommitUnknown {
			t.Errorf("%v", err)
		}
		if now := filesUnder(t, dir); !slices.Equal(now, planned) {
			t.Errorf("lands %v: %d of %d files are left", lands, len(now), len(planned))
		}
	}
}

// brokenRemove makes the k-th removal of a file that is there fail.
type brokenRemove struct {
	fileio.Files
	k int
}

func (f *brokenRemove) Remove(ctx context.Context, path string) error {
	if file, err := f.Open(ctx, path); err == nil {
		f.k--
		if err := file.Close(); err != nil {
			return err
		}
	}
	if f.k == 0 {
		f.k = -1
		return errs.Wrap(errs.Transient, "remove", path, faultfs.ErrInjected)
	}
	return f.Files.Remove(ctx, path)
}

// TestPurgeFails fails every removal in turn: the table stays with all its data, or it is gone.
func TestPurgeFails(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		kept := 0
		for k := 1; ; k++ {
			dir := t.TempDir()
			c := newLake(t, kind, dir)
			table := purgeable(t, c)
			plan, planned := planOf(t, c, table.Ident)
			broken := &brokenRemove{c.fio, k}
			own := c.fio
			setFiles(c, broken)
			left, err := plan.Execute(t.Context())
			setFiles(c, own)
			now := filesUnder(t, dir)
			loaded, loadErr := c.LoadTable(t.Context(), table.Ident, catalog.Version{})
			switch {
			case loadErr == nil:
				kept++
				_, again := planOf(t, c, loaded.Ident)
				if err == nil || countData(again) != countData(planned) {
					t.Errorf("%s %d: the table is there with %d of %d files: %v", kind, k, countData(again), countData(planned), err)
				}
			case !IsNoTable(loadErr):
				t.Errorf("%s %d: %v", kind, k, loadErr)
			case err != nil:
				t.Errorf("%s %d: the table is gone, and the error is %v", kind, k, err)
			default:
				sum := 0
				for _, n := range left {
					sum += n
				}
				if sum != len(now) {
					t.Errorf("%s %d: %v are told to be left, and are %v", kind, k, left, now)
				}
			}
			if broken.k > 0 {
				break
			}
		}
		if (kind == "hadoop") != (kept > 0) {
			t.Errorf("%s: the table was kept %d times", kind, kept)
		}
	}
}

func countData(files []string) int {
	n := 0
	for _, f := range files {
		if !strings.HasSuffix(f, ".metadata.json") {
			n++
		}
	}
	return n
}

// racing lets another writer in before a version is published.
type racing struct {
	store
	first func()
}

func (s *racing) publish(ctx context.Context, id catalog.Ident, base string, next draft) (string, error) {
	if f := s.first; f != nil {
		s.first = nil
		f()
	}
	return s.store.publish(ctx, id, base, next)
}

func (s *racing) drop(ctx context.Context, id catalog.Ident, base string, purge bool) error {
	if f := s.first; f != nil {
		s.first = nil
		f()
	}
	return s.store.drop(ctx, id, base, purge)
}

// TestDropMeetsWriter drops a table that another writer changes meanwhile: its files stay, so that it may be of any version.
func TestDropMeetsWriter(t *testing.T) {
	dir := t.TempDir()
	mine, other := newLake(t, "sql", dir), newLake(t, "sql", dir)
	mustDefine(t, mine, "CREATE TABLE db.t (a int, b int)")
	mine.store = &racing{mine.store, func() { mustDefine(t, other, "ALTER TABLE db.t DROP COLUMN b") }}
	if err := mine.DropTable(t.Context(), catalog.Ident{"db", "t"}); err != nil {
		t.Error(err)
	}
	if _, err := other.LoadTable(t.Context(), catalog.Ident{"db", "t"}, catalog.Version{}); !IsNoTable(err) {
		t.Errorf("the table is there: %v", err)
	}
}

// TestDefinitionsMeet has another writer change the table between a statement's look and its commit.
func TestDefinitionsMeet(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		for _, c := range []struct {
			other, own string
			want       errs.Kind // 0: both are made
		}{
			{"ADD COLUMN x int", "ADD COLUMN y int", 0}, {"ADD COLUMN x int", "ADD COLUMN X string", errs.Conflict},
			{"DROP COLUMN a", "ALTER COLUMN a TYPE bigint", errs.Conflict}, {"SET TBLPROPERTIES ('p'='1')", "SET TBLPROPERTIES ('q'='1')", 0},
			{"ADD PARTITION FIELD b", "DROP COLUMN b", errs.Conflict}, {"ADD PARTITION FIELD b", "ADD PARTITION FIELD bucket(4, b)", 0},
			{"RENAME COLUMN a TO z", "WRITE ORDERED BY a", errs.Conflict}, {"SET TBLPROPERTIES ('format-version'='3')", "ADD COLUMN y int DEFAULT 5", errs.Invalid},
		} {
			dir := t.TempDir()
			mine, other := newLake(t, kind, dir), newLake(t, kind, dir)
			mustDefine(t, mine, "CREATE TABLE db.t (a int, b int)")
			mine.store = &racing{mine.store, func() { mustDefine(t, other, "ALTER TABLE db.t "+c.other) }}
			err := define(t, mine, "ALTER TABLE db.t "+c.own)
			if errs.KindOf(err) != c.want || (err == nil) != (c.want == 0) {
				t.Errorf("%s: %s, then %s: %v", kind, c.other, c.own, err)
			}
			s := stateOf(t, other, catalog.Ident{"db", "t"})
			seen := map[catalog.FieldID]bool{}
			for _, f := range s.Schema().Fields {
				if seen[f.ID] {
					t.Errorf("%s: %s, then %s: the ID %d is there twice", kind, c.other, c.own, f.ID)
				}
				seen[f.ID] = true
			}
		}
	}
}
