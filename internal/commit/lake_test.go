package commit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// postgresEnv has the DSN of a PostgreSQL database that tests may make catalogs in. Without it they don't run there.
const postgresEnv = "TARN_TEST_POSTGRES"

// stores are the kinds of catalogs that can be tested here.
func stores() []string {
	all := []string{"hadoop", "sqlite"}
	if os.Getenv(postgresEnv) != "" {
		all = append(all, "postgres")
	}
	return all
}

// opened opens a catalog of a kind whose files are in a folder. Its tables' files go through files, if that isn't nil.
func opened(t testing.TB, kind, dir string, files fileio.Files) *lake.Catalog {
	t.Helper()
	cfg := lake.Config{Name: "lake", Type: kind, Warehouse: dir + "/wh", CreateIfMissing: true, Files: files}
	switch kind {
	case "sqlite":
		cfg.Type, cfg.URI = "sql", "sqlite:///"+dir+"/catalog.db"
	case "postgres":
		cfg.Type, cfg.URI = "sql", os.Getenv(postgresEnv)
		cfg.Name = dir // one database holds the catalogs of all tests
	}
	c, err := lake.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

var tableName = catalog.Ident{"db", "t"}

// created makes an empty table that is partitioned by its column p, a long.
func created(t testing.TB, c *lake.Catalog, format int, properties map[string]string) {
	t.Helper()
	if err := c.CreateNamespace(t.Context(), tableName[:1]); err != nil {
		t.Fatal(err)
	}
	_, err := c.CreateTable(t.Context(), lake.NewTable{
		Ident: tableName, FormatVersion: format, Properties: properties,
		Schema: &catalog.Schema{Fields: []catalog.Field{{ID: 1, Name: "p", Type: catalog.Type{Primitive: transform.Type{Kind: transform.Long}}}}},
		Spec:   []catalog.PartitionField{{Sources: []catalog.FieldID{1}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func loaded(t testing.TB, c *lake.Catalog) *catalog.Table {
	t.Helper()
	table, err := c.LoadTable(t.Context(), tableName, catalog.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// written makes a file of a table that nobody reads, and describes it as a data file of a partition.
func written(t testing.TB, table *catalog.Table, name string, p int64) manifest.File {
	t.Helper()
	path := table.Location + "/data/" + name
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(name), 0o666); err != nil {
		t.Fatal(err)
	}
	return manifest.File{Path: path, Format: catalog.Parquet, Partition: []transform.Value{p}, Rows: 10, Bytes: int64(len(name))}
}

// live lists the data files of a table's pinned snapshot.
func live(t testing.TB, c *lake.Catalog, table *catalog.Table) []catalog.DataFile {
	t.Helper()
	layout, err := c.Survey(t.Context(), table, catalog.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var files []catalog.DataFile
	if err := layout.Files(t.Context(), func(f catalog.DataFile) error { files = append(files, f); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b catalog.DataFile) int { return strings.Compare(a.Ref.Path, b.Ref.Path) })
	return files
}

// paths are the names of files.
func paths(files []catalog.DataFile) []string {
	var out []string
	for _, f := range files {
		out = append(out, filepath.Base(f.Ref.Path))
	}
	return out
}

// checkWhole fails where a file that the table's metadata names isn't there. It returns the metadata files that it doesn't name.
func checkWhole(t testing.TB, table *catalog.Table) (orphans []string) {
	t.Helper()
	named := map[string]bool{table.MetadataLocation: true}
	raw, err := os.ReadFile(table.MetadataLocation)
	if err != nil {
		t.Fatal(err)
	}
	var meta struct {
		Log []struct {
			File string `json:"metadata-file"`
		} `json:"metadata-log"`
		Snapshots []struct {
			List string `json:"manifest-list"`
		} `json:"snapshots"`
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		t.Fatal(err)
	}
	for _, entry := range meta.Log {
		named[entry.File] = true
	}
	reader := manifest.NewReader(fileio.Disk{}, table.Specs)
	for _, s := range meta.Snapshots {
		named[s.List] = true
		list, err := manifest.ReadList(t.Context(), fileio.Disk{}, s.List)
		if err != nil {
			t.Error(err)
		}
		for i := range list {
			if named[list[i].Path] {
				continue
			}
			named[list[i].Path] = true
			err := reader.Visit(t.Context(), &list[i], manifest.StatColumns{}, func(e *manifest.Entry) error {
				named[e.Path] = named[e.Path] || e.IsLive()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	for path, wanted := range named {
		if _, err := os.Stat(path); wanted && err != nil {
			t.Errorf("the table names %s: %v", path, err)
		}
	}
	err = filepath.WalkDir(table.Location+"/metadata", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !named[path] && d.Name() != "version-hint.text" {
			orphans = append(orphans, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return orphans
}

// replaced commits a dynamic overwrite by a file.
func replaced(ctx context.Context, c *lake.Catalog, table *catalog.Table, isolation commit.Isolation, job string, f manifest.File) error {
	files := []manifest.File{f}
	_, err := c.Commit(ctx, table, commit.Change{
		Kind: commit.Overwrite, Add: files, Replace: commit.PartitionsOf(table.Spec(), files), Isolation: isolation, Job: job,
	})
	return err
}

func named(writer, n int) string { return fmt.Sprintf("w%d-%03d", writer, n) }
