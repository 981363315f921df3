package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
)

// folder has the checks and the warehouse, whose metadata says that it lies at /warehouse.
const folder = "../../testdata/golden"

// lab holds the engines that the checks share.
type lab struct {
	files *tarn.Engine // the warehouse's own catalog
	py    *tarn.Engine // PyIceberg's
}

func newLab(t testing.TB) *lab {
	warehouse, err := filepath.Abs(filepath.Join(folder, "warehouse"))
	if err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(t.TempDir(), "py_catalog.db") // a copy: SQLite writes beside what it reads
	data, err := os.ReadFile(filepath.Join(warehouse, "py_catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(db, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return &lab{
		files: openEngine(t, warehouse, tarn.CatalogConfig{Name: "files", Type: "hadoop", Warehouse: "/warehouse"}),
		py:    openEngine(t, warehouse, tarn.CatalogConfig{Name: "py", Type: "sql", URI: "sqlite:///" + db}),
	}
}

func openEngine(t testing.TB, warehouse string, c tarn.CatalogConfig) *tarn.Engine {
	t.Helper()
	e, err := tarn.Open(t.Context(), tarn.Config{
		Catalogs: []tarn.CatalogConfig{c}, Relocate: []tarn.Relocation{{From: "/warehouse", To: warehouse}}, TempDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// engine returns the engine of a check. One that writes gets copies of its tables for itself.
func (l *lab) engine(t testing.TB, c *Check) *tarn.Engine {
	switch {
	case c.Writes():
		warehouse := t.TempDir()
		for _, table := range c.Tables {
			at := filepath.Join(strings.Split(table, ".")...)
			if err := os.CopyFS(filepath.Join(warehouse, at), os.DirFS(filepath.Join(folder, "warehouse", at))); err != nil {
				t.Fatal(err)
			}
		}
		return openEngine(t, warehouse, tarn.CatalogConfig{Name: "files", Type: "hadoop", Warehouse: "/warehouse"})
	case c.Catalog != nil:
		return l.py
	}
	return l.files
}

func session(t testing.TB, e *tarn.Engine, m Mode) *tarn.Session {
	t.Helper()
	s := e.Session()
	for _, set := range m.Settings() {
		if a := Ask(t.Context(), s, set); a.Err != nil {
			t.Fatal(a.Err)
		}
	}
	return s
}
