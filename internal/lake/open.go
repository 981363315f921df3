package lake

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/datafile"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// Relocation says that files whose paths in metadata start with From lie at To.
type Relocation = fileio.Relocation

// Config names a catalog and says how to reach it.
type Config struct {
	Name      string // the name in statements, and in a SQL catalog's catalog_name column
	Type      string // "hadoop" or "sql"
	URI       string // sql: "sqlite:///relative.db", "sqlite:////absolute.db" or "postgresql://user:password@host/database"
	Warehouse string // the folder of new tables; hadoop: of all tables
	Relocate  []Relocation
	// Properties are the catalog's own properties; the keys that this version knows are the fields above.
	Properties map[string]string
	// Files are what the catalog's and its tables' files are read and written through; nil is this machine's file system, with
	// Relocate. A SQLite file is opened at the place that Files name, by SQLite itself.
	Files fileio.Files
	// CreateIfMissing has reads of a catalog that isn't there find it empty, and the first write make the SQLite file, its folder and
	// the warehouse. Without it such reads are NotFound, and the first namespace makes the SQLite file. Reads never make anything.
	CreateIfMissing bool
}

// Catalog is an open catalog. It implements catalog.Catalog and catalog.Surveyor, and is safe for concurrent use.
type Catalog struct {
	name      string
	warehouse string // as metadata will spell it; may be empty
	fio       fileio.Files
	store     store
	footers   datafile.Footers
}

var (
	_ catalog.Catalog  = (*Catalog)(nil)
	_ catalog.Surveyor = (*Catalog)(nil)
)

// Open opens a catalog. It reads little or nothing: a wrong table is found when it is asked for. The caller closes it.
func Open(ctx context.Context, cfg Config) (*Catalog, error) {
	files := cfg.Files
	if files == nil {
		disk, err := fileio.NewDisk(cfg.Relocate)
		if err != nil {
			return nil, err
		}
		files = disk
	}
	warehouse, err := absoluteFolder(cfg.Warehouse)
	if err != nil {
		return nil, err
	}
	c := &Catalog{name: cfg.Name, warehouse: warehouse, fio: files}
	switch strings.ToLower(cfg.Type) {
	case "hadoop":
		c.store, err = newHadoopStore(ctx, cfg, c.warehouse, c.fio)
	case "sql":
		c.store, err = newSQLStore(ctx, cfg, c.fio)
	case "rest", "glue", "hive", "dynamodb", "bigquery", "nessie":
		err = errs.New(errs.Unsupported, "open catalog", cfg.Name, "catalogs of type %s can't be opened yet", strings.ToLower(cfg.Type)).
			WithHint("types that can: hadoop, sql (SQLite, PostgreSQL); a table also opens by its metadata file or folder")
	case "":
		err = errs.New(errs.Invalid, "open catalog", cfg.Name, "the catalog has no type").WithHint("types: hadoop, sql")
	default:
		err = errs.New(errs.Invalid, "open catalog", cfg.Name, "unknown catalog type %q", cfg.Type).WithHint("types: hadoop, sql")
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// absoluteFolder makes a relative warehouse absolute: its path goes into metadata, which outlives the working folder.
func absoluteFolder(folder string) (string, error) {
	plain := fileio.Plain(folder)
	if plain == "" || fileio.Scheme(plain) != "" || filepath.IsAbs(plain) {
		return fileio.TrimSlash(folder), nil
	}
	abs, err := filepath.Abs(plain)
	if err != nil {
		return "", errs.Wrap(errs.Invalid, "resolve warehouse", folder, err)
	}
	return "file://" + filepath.ToSlash(abs), nil
}

// Close releases the catalog's connections. Tables that it loaded can't be surveyed afterwards.
func (c *Catalog) Close() error { return c.store.close() }

// Name is the name under which statements address the catalog.
func (c *Catalog) Name() string { return c.name }

// ListNamespaces returns all namespaces, nested ones included, sorted.
func (c *Catalog) ListNamespaces(ctx context.Context) ([]catalog.Ident, error) {
	return c.store.namespaces(ctx)
}

// ListTables returns the tables directly in a namespace, sorted. A namespace that isn't there is NotFound.
func (c *Catalog) ListTables(ctx context.Context, namespace catalog.Ident) ([]catalog.Ident, error) {
	return c.store.tables(ctx, namespace)
}

// LoadTable pins a version of the table.
func (c *Catalog) LoadTable(ctx context.Context, id catalog.Ident, v catalog.Version) (*catalog.Table, error) {
	location, err := c.store.current(ctx, id)
	if err != nil {
		return nil, err
	}
	t, err := c.loadAt(ctx, id, location)
	if err != nil {
		return nil, errs.Lost(err)
	}
	return c.Pin(t, v)
}
