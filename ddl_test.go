package tarn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
)

// emptyLake opens an engine over a new catalog of a kind, which is called lake.
func emptyLake(t *testing.T, kind, dir string) *tarn.Engine {
	t.Helper()
	engine, err := tarn.Open(t.Context(), tarn.Config{Catalogs: []tarn.CatalogConfig{{
		Name: "lake", Type: kind, URI: "sqlite:///" + filepath.Join(dir, "catalog.db"), Warehouse: filepath.Join(dir, "warehouse"), CreateIfMissing: true,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return engine
}

// texts runs a statement and returns its rows as text.
func texts(ctx context.Context, s *tarn.Session, stmt string) (lines []string, err error) {
	rows, err := s.Query(ctx, stmt)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for {
		batch, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range int(batch.NumRows()) {
			var cells []string
			for _, c := range batch.Columns() {
				cells = append(cells, strings.Clone(c.ValueStr(i))) // the text is the batch's
			}
			lines = append(lines, strings.TrimRight(strings.Join(cells, " | "), " "))
		}
		batch.Release()
	}
}

// sizes are those of files that name the test's folder.
var sizes = regexp.MustCompile(`[0-9.]+ (B|KiB)`)

// TestDefinitions runs the statements of testdata/ddl: those of both.txt on a catalog of each kind, the others on that of
// the file's name. Each line is a statement.
func TestDefinitions(t *testing.T) {
	for _, run := range [][2]string{{"sql", "both"}, {"hadoop", "both"}, {"sql", "sql"}, {"hadoop", "hadoop"}} {
		t.Run(run[0]+" "+run[1], func(t *testing.T) {
			dir := t.TempDir()
			s := emptyLake(t, run[0], dir).Session()
			datadriven.RunTest(t, filepath.Join("testdata/ddl", run[1]+".txt"), func(t *testing.T, d *datadriven.TestData) string {
				var out strings.Builder
				for _, stmt := range strings.Split(d.Input, "\n") {
					lines, err := texts(t.Context(), s, strings.ReplaceAll(stmt, "DIR", dir))
					if err != nil {
						fmt.Fprintf(&out, "%s: %v\n", errs.KindOf(err), err)
						if hint := errs.HintOf(err); hint != "" {
							fmt.Fprintf(&out, "  hint: %s\n", hint)
						}
					}
					for _, line := range lines {
						out.WriteString(line + "\n")
					}
				}
				return sizes.ReplaceAllString(strings.ReplaceAll(out.String(), dir, "DIR"), "SIZE")
			})
		})
	}
}

// TestDropOfATableThatIsBroken: a table whose metadata file is lost or damaged can be dropped, or its row could never go.
func TestDropOfATableThatIsBroken(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"lost": os.Remove, "damaged": func(file string) error { return os.WriteFile(file, []byte("{"), 0o600) },
	} {
		dir := t.TempDir()
		engine := emptyLake(t, "sql", dir)
		session := engine.Session()
		run := func(stmt string) error {
			_, err := texts(t.Context(), session, stmt)
			return err
		}
		err := errors.Join(run("CREATE NAMESPACE a"), run("CREATE TABLE a.t (id int)"))
		files, _ := filepath.Glob(filepath.Join(dir, "warehouse/a/t/metadata/*.metadata.json"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", err, files)
		}
		if err := spoil(files[0]); err != nil {
			t.Fatal(err)
		}
		if err := run("SELECT * FROM a.t"); err == nil || errs.KindOf(err) == errs.Internal {
			t.Errorf("%s: %v", name, err)
		}
		if err := run("DROP TABLE a.t PURGE"); err == nil {
			t.Errorf("%s: a table of unknown files was purged", name)
		}
		if err := run("DROP TABLE a.t"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := run("DROP TABLE a.t"); !lake.IsNoTable(err) {
			t.Errorf("%s: %v", name, err)
		}
		if err := run("DROP TABLE IF EXISTS a.t"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCatalogThatIsntThere runs statements of every kind on a SQLite file that isn't there: CREATE NAMESPACE alone makes it, and nothing takes it
// for a catalog without tables.
func TestCatalogThatIsntThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "catalog.db")
	engine, err := tarn.Open(t.Context(), tarn.Config{Catalogs: []tarn.CatalogConfig{{Name: "lake", Type: "sql", URI: "sqlite:///" + file, Warehouse: filepath.Join(dir, "warehouse")}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	s := engine.Session()
	for _, stmt := range []string{
		"CREATE TABLE n.t (a int)", "CREATE TABLE IF NOT EXISTS n.t (a int)", "CREATE OR REPLACE TABLE n.t (a int)", "REPLACE TABLE n.t (a int)",
		"CREATE TABLE n.t AS SELECT 1 AS a", "CREATE TABLE IF NOT EXISTS n.t AS SELECT 1 AS a", "CREATE OR REPLACE TABLE n.t AS SELECT 1 AS a",
		"DROP TABLE n.t", "DROP TABLE IF EXISTS n.t", "DROP TABLE n.t PURGE", "DROP TABLE IF EXISTS n.t PURGE", "EXPLAIN DROP TABLE n.t PURGE",
		"DROP NAMESPACE n", "DROP NAMESPACE IF EXISTS n", "ALTER TABLE n.t ADD COLUMN b int", "ALTER TABLE n.t RENAME TO n.u", "ALTER TABLE n.t CREATE BRANCH b",
		"INSERT INTO n.t VALUES (1)", "DELETE FROM n.t WHERE a = 1", "SELECT * FROM n.t", "SELECT * FROM n.t.files", "DESCRIBE n.t", "DESCRIBE NAMESPACE n",
		"SHOW NAMESPACES", "SHOW TABLES IN n", "SHOW CREATE TABLE n.t", "CALL system.register_table('n.t', '/none.metadata.json')",
		"CALL system.snapshot('/none', 'n.t')", "CALL system.migrate('n.t')", "CALL system.add_files('n.t', '/none')", "CALL system.ancestors_of('n.t')",
	} {
		_, err := texts(t.Context(), s, stmt)
		var told *errs.Error
		if errs.KindOf(err) != errs.NotFound || !errors.As(err, &told) || !strings.Contains(err.Error(), "open catalog lake: there is no file "+file) || !strings.Contains(told.Hint, "CREATE NAMESPACE") {
			t.Errorf("%s: %v", stmt, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("%s leaves %v, %v", stmt, left, err)
		}
	}
	for _, stmt := range []string{"CREATE NAMESPACE IF NOT EXISTS n", "CREATE TABLE n.t AS SELECT 1 AS a", "DROP NAMESPACE IF EXISTS m", "SELECT * FROM n.t"} {
		if _, err := texts(t.Context(), s, stmt); err != nil {
			t.Errorf("%s: %v", stmt, err)
		}
	}
}
