package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/write"
)

// namespace holds the tables.
const namespace = "bench"

// bed is a lake with the tables of one size, in a folder.
type bed struct {
	dir     string // absolute
	size    size
	catalog *lake.Catalog
	files   map[string]string // by table: what DuckDB reads it as
}

func newBed(ctx context.Context, dir string, s size) (*bed, error) {
	dir, err := filepath.Abs(filepath.Join(dir, fmt.Sprintf("rows-%d-seed-%d", s.orders, s.seed)))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "made"), 0o777); err != nil {
		return nil, err
	}
	b := &bed{dir: dir, size: s, files: map[string]string{}}
	b.catalog, err = lake.Open(ctx, lake.Config{Name: "lake", Type: "hadoop", Warehouse: b.warehouse(), CreateIfMissing: true})
	return b, err
}

func (b *bed) warehouse() string { return filepath.ToSlash(filepath.Join(b.dir, "warehouse")) }

// flags are the command line's for this lake.
func (b *bed) flags() []string {
	return []string{"--catalog", "lake", "--type", "hadoop", "--warehouse", b.warehouse()}
}

func (b *bed) config() tarn.Config {
	return tarn.Config{Catalogs: []tarn.CatalogConfig{{Name: "lake", Type: "hadoop", Warehouse: b.warehouse()}}}
}

// fill makes those tables of the list that aren't there yet.
func (b *bed) fill(ctx context.Context, names map[string]bool) error {
	for _, t := range tables {
		if !names[t.name] {
			continue
		}
		if err := b.ensure(ctx, t); err != nil {
			return fmt.Errorf("make %s.%s: %w", namespace, t.name, err)
		}
		var err error
		if b.files[t.name], err = b.parquet(ctx, t.name); err != nil {
			return err
		}
	}
	return nil
}

// ensure makes a table unless it is there. A file that says what its rows were made of is written last, so that what an
// interrupted run left, or another version of this program made, is made anew.
func (b *bed) ensure(ctx context.Context, t table) error {
	mark := filepath.Join(b.dir, "made", t.name)
	var want strings.Builder
	for _, p := range t.parts {
		fmt.Fprintf(&want, "%v\n%s\n", p.spec, p.rows(b.size))
	}
	if there, err := os.ReadFile(mark); err == nil && string(there) == want.String() {
		return nil
	}
	fmt.Fprintf(os.Stderr, "making %s.%s ...\n", namespace, t.name)
	if err := errors.Join(os.RemoveAll(mark), os.RemoveAll(b.folder(t.name))); err != nil {
		return err
	}
	if err := b.make(ctx, t); err != nil {
		return err
	}
	return os.WriteFile(mark, []byte(want.String()), 0o600)
}

func (b *bed) folder(table string) string { return filepath.Join(b.dir, "warehouse", namespace, table) }

// make writes a table on an instance of its own, so that no table's rows stay in memory.
func (b *bed) make(ctx context.Context, t table) error {
	db, err := duck.Open(ctx, duck.Options{TempDir: b.dir})
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	id := catalog.Ident{namespace, t.name}
	if err := os.MkdirAll(filepath.Dir(b.folder(t.name)), 0o777); err != nil {
		return err
	}
	made, err := b.catalog.CreateTable(ctx, lake.NewTable{Ident: id, Schema: &catalog.Schema{Fields: t.fields}, Spec: t.parts[0].spec})
	if err != nil {
		return err
	}
	for i, p := range t.parts {
		if i > 0 {
			if err := b.evolve(made, p.spec); err != nil {
				return err
			}
			if made, err = b.catalog.LoadTable(ctx, id, catalog.Version{}); err != nil {
				return err
			}
		}
		if _, err := write.Append(ctx, conn, b.catalog, made, p.rows(b.size)); err != nil {
			return err
		}
	}
	return nil
}

// evolve gives a table a new current spec, as another engine's ALTER TABLE would.
func (b *bed) evolve(t *catalog.Table, spec []catalog.PartitionField) error {
	folder := filepath.Join(b.folder(t.Ident[len(t.Ident)-1]), "metadata")
	version := 1
	for fileExists(metadataFile(folder, version+1)) {
		version++
	}
	text, err := os.ReadFile(metadataFile(folder, version))
	if err != nil {
		return err
	}
	var meta map[string]any
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	if err := dec.Decode(&meta); err != nil {
		return err
	}
	last := 999
	for _, s := range t.Specs {
		for _, f := range s.Fields {
			last = max(last, int(f.ID))
		}
	}
	var fields []any
	for _, f := range spec {
		last++
		fields = append(fields, map[string]any{
			"name": f.Name, "transform": f.Transform.String(), "source-id": int(f.Sources[0]), "field-id": last,
		})
	}
	id := int(t.DefaultSpec) + 1
	meta["partition-specs"] = append(meta["partition-specs"].([]any), map[string]any{"spec-id": id, "fields": fields})
	meta["default-spec-id"], meta["last-partition-id"] = id, last
	if text, err = json.Marshal(meta); err != nil {
		return err
	}
	return os.WriteFile(metadataFile(folder, version+1), text, 0o600)
}

func metadataFile(folder string, version int) string {
	return filepath.Join(folder, fmt.Sprintf("v%d.metadata.json", version))
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// parquet returns DuckDB's own read of a table's data files.
func (b *bed) parquet(ctx context.Context, name string) (string, error) {
	t, err := b.catalog.LoadTable(ctx, catalog.Ident{namespace, name}, catalog.Version{})
	if err != nil {
		return "", err
	}
	layout, err := b.catalog.Survey(ctx, t, catalog.Filter{})
	if err != nil {
		return "", err
	}
	var files []string
	err = layout.Files(ctx, func(f catalog.DataFile) error {
		files = append(files, quote.Text(f.Ref.Local))
		return nil
	})
	return "read_parquet([" + strings.Join(files, ", ") + "])", err
}
