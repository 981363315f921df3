package plainreader

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
)

const warehouse = "../../../testdata/golden/warehouse"

// leastTables is how many golden tables must be compared: with fewer, one of the two readers has become too shy.
const leastTables = 120

// unreadable tables are refused with other kinds of error: the first has an empty metadata file, and a codec that DuckDB
// doesn't have is found out when it reads the second.
var unreadable = map[string]bool{"py/nanos": true, "wr/lz4": true}

// TestTables compares SELECT * of the engine with what lies in the files, for each golden table that it reads.
func TestTables(t *testing.T) {
	abs, err := filepath.Abs(warehouse)
	if err != nil {
		t.Fatal(err)
	}
	e, err := tarn.Open(t.Context(), tarn.Config{
		Relocate: []tarn.Relocation{{From: "/warehouse", To: abs}}, TempDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	folders, err := filepath.Glob(filepath.Join(abs, "*", "*", "metadata"))
	if err != nil {
		t.Fatal(err)
	}
	var compared atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, metadata := range folders {
			name, err := filepath.Rel(abs, filepath.Dir(metadata))
			if err != nil {
				t.Fatal(err)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if compare(t, e.Session(), abs, name) {
					compared.Add(1)
				}
			})
		}
	})
	if n := compared.Load(); n < leastTables {
		t.Errorf("%d tables were compared, wanted at least %d", n, leastTables)
	}
}

// compare says whether the two readers were compared. Where the engine refuses a table as not supported, or broken, there
// is nothing to compare.
func compare(t *testing.T, s *tarn.Session, warehouse, name string) bool {
	a := golden.Ask(t.Context(), s, "SELECT * FROM iceberg('"+address(t, warehouse, name)+"')")
	if a.Err != nil {
		if errs.KindOf(a.Err) != errs.Unsupported && !strings.HasPrefix(name, "broken/") && !unreadable[name] {
			t.Error(a.Err)
		}
		return false
	}
	table, err := Open(warehouse, name)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := table.Rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := golden.DiffNames(table.Names, a.Names); d != "" {
		t.Fatal(d)
	}
	if d := golden.Diff(rows, a.Rows); d != "" {
		t.Error(d)
	}
	return true
}

// address names a table by its folder, or, where only a catalog knows the current version, by its newest metadata file.
func address(t *testing.T, warehouse, name string) string {
	if !strings.HasPrefix(name, "py/") {
		return "/warehouse/" + name
	}
	path, err := newest(filepath.Join(warehouse, name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
