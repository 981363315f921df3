package tarn

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/scratch"
	"github.com/tarndb/tarn/internal/settings"
)

// Error is the type of all errors that the package returns; Kind says what sort of thing went wrong.
type Error = errs.Error

// CatalogConfig names a catalog and says how to reach it.
type CatalogConfig struct {
	Name      string // in statements
	Type      string // "hadoop" or "sql"
	URI       string // sql: "sqlite:///path" or "postgresql://..."
	Warehouse string // the folder of new tables; hadoop: of all tables
	// Properties are the catalog's other properties.
	Properties map[string]string
	// CreateIfMissing has reads of a catalog that isn't there find it empty, and lets the first write make a SQL catalog's file and
	// warehouse. Without it only CREATE NAMESPACE makes a SQLite file.
	CreateIfMissing bool
}

// Relocation maps a prefix of the paths in metadata to where it lies: paths that start with From are read at To.
type Relocation struct{ From, To string }

// Config is what an Engine needs. The zero value of a field is its default.
type Config struct {
	Catalogs       []CatalogConfig
	DefaultCatalog string // the catalog of names without one; "": the only one, or the one called "default"
	Relocate       []Relocation
	// MemoryBytes is the limit for the whole process; 0: 80 % of what the machine or container has. When it is given, Open
	// also sets the Go runtime's soft memory limit to an eighth of it.
	MemoryBytes int64
	Threads     int               // 0: one per core
	TempDir     string            // where data is spilled; made when missing, and then removed by Close; "": the system's
	Settings    map[string]string // defaults of SET options
	Notice      func(string)      // receives what a person should know and no error says; may be nil
}

// Engine holds open catalogs. It is safe for concurrent use and must be closed.
type Engine struct {
	cfg      Config
	settings *settings.Set

	mu       sync.Mutex
	catalogs map[string]*lake.Catalog
	binder   *duck.DB // parses and describes; reads no data
	temp     *scratch.Folder
}

// Open makes an Engine. Catalogs are opened when first used.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	if cfg.MemoryBytes > 0 {
		debug.SetMemoryLimit(exec.GoHeapBytes(cfg.MemoryBytes))
	} else {
		cfg.MemoryBytes = settings.DefaultMemory()
	}
	if cfg.Threads == 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	set, err := settings.New(cfg.Settings)
	if err != nil {
		return nil, err
	}
	temp, err := scratch.Make(cfg.TempDir)
	if err != nil {
		return nil, err
	}
	db, err := duck.Open(ctx, duck.Options{Threads: 1, TempDir: temp.Path(), MemoryBytes: binderBytes})
	if err != nil {
		return nil, errors.Join(err, temp.Remove())
	}
	return &Engine{cfg: cfg, settings: set, catalogs: map[string]*lake.Catalog{}, binder: db, temp: temp}, nil
}

// binderBytes is the limit of the instance that parses and describes: it holds trees and empty tables.
const binderBytes = 64 << 20

// Close closes the catalogs and removes the temporary files. Rows must be closed before.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []error
	for name, c := range e.catalogs {
		all = append(all, c.Close())
		delete(e.catalogs, name)
	}
	all = append(all, e.binder.Close(), e.temp.Remove())
	return errors.Join(all...)
}

// notice passes a message to whoever asked for them.
func (e *Engine) notice(text string) {
	if e.cfg.Notice != nil && text != "" {
		e.cfg.Notice(text)
	}
}

// catalog returns an open catalog by its name.
func (e *Engine) catalog(ctx context.Context, name string) (*lake.Catalog, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c, ok := e.catalogs[name]; ok {
		return c, nil
	}
	for _, c := range e.cfg.Catalogs {
		if c.Name != name {
			continue
		}
		open, err := lake.Open(ctx, lake.Config{
			Name: c.Name, Type: c.Type, URI: c.URI, Warehouse: c.Warehouse, Properties: c.Properties,
			CreateIfMissing: c.CreateIfMissing, Relocate: e.relocations(),
		})
		if err != nil {
			return nil, err
		}
		e.catalogs[name] = open
		return open, nil
	}
	return nil, errs.New(errs.NotFound, "open catalog", name, "there is no catalog of that name").
		WithHint("tarn config show lists those that are configured")
}

func (e *Engine) relocations() []lake.Relocation {
	out := make([]lake.Relocation, len(e.cfg.Relocate))
	for i, r := range e.cfg.Relocate {
		out[i] = lake.Relocation(r)
	}
	return out
}

// defaultCatalog returns the name of the catalog that names without one belong to.
func (e *Engine) defaultCatalog() (string, error) {
	switch {
	case e.cfg.DefaultCatalog != "":
		return e.cfg.DefaultCatalog, nil
	case len(e.cfg.Catalogs) == 1:
		return e.cfg.Catalogs[0].Name, nil
	case e.isCatalog("default"):
		return "default", nil
	}
	return "", errs.New(errs.NotFound, "open catalog", "", "no default catalog is configured").
		WithHint("name one with --catalog, or call it default")
}

func (e *Engine) isCatalog(name string) bool {
	for _, c := range e.cfg.Catalogs {
		if c.Name == name {
			return true
		}
	}
	return false
}

// meaning is a table that a dotted name may mean.
type meaning struct {
	catalog string
	id      catalog.Ident // in the catalog
}

// meanings returns what a dotted name may mean, in the order in which it is tried: a table of the catalog that its first
// part names, when at least a namespace and a table follow, then one of the default catalog.
func (e *Engine) meanings(parts []string) ([]meaning, error) {
	if len(parts) < 2 {
		return nil, errs.New(errs.NotFound, "find table", catalog.Ident(parts).String(), "the name has no namespace").
			WithHint("write namespace.table; SHOW NAMESPACES lists them")
	}
	var out []meaning
	if len(parts) > 2 && e.isCatalog(parts[0]) {
		out = append(out, meaning{parts[0], parts[1:]})
	}
	name, err := e.defaultCatalog()
	if err == nil {
		out = append(out, meaning{name, parts})
	}
	if len(out) > 0 {
		err = nil
	}
	return out, err
}
