package property

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/seed"
)

// toldCheck is a read of a random table, as PyIceberg does it.
type toldCheck struct {
	golden.Check
	Story  []string `json:"story"`
	Unread string   `json:"unread"` // why PyIceberg can't read it
}

// TestPyIcebergTables reads random tables that PyIceberg wrote, with deletes and evolution, as PyIceberg does.
// TARN_PYICEBERG_TABLES is how many.
func TestPyIcebergTables(t *testing.T) {
	python := pyIceberg(t, "import pyiceberg, pyarrow, sqlalchemy, pyiceberg_core")
	seed, count := strconv.FormatUint(seed.Of(t), 10), os.Getenv("TARN_PYICEBERG_TABLES")
	if count == "" {
		count = "12"
	}
	folder := t.TempDir()
	uri, warehouse := "sqlite:///"+folder+"/catalog.db", "file://"+folder+"/warehouse"
	cmd := exec.CommandContext(t.Context(), python, "-B", "testdata/tables.py", uri, warehouse, seed, count)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	e, err := tarn.Open(t.Context(), tarn.Config{
		Catalogs: []tarn.CatalogConfig{{Name: "lake", Type: "sql", URI: uri, Warehouse: warehouse}},
		TempDir:  t.TempDir(), MemoryBytes: 2 << 30, Threads: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	checks, unread := decodeTold(t, out), 0
	for _, c := range checks {
		if c.Unread != "" {
			t.Logf("%s: PyIceberg can't read it: %s", c.ID, c.Unread)
			unread++
			continue
		}
		judgeTold(t, e, &c)
	}
	if len(checks) == 0 || unread > len(checks)/4 {
		t.Errorf("PyIceberg can't read %d of %d", unread, len(checks))
	}
}

func decodeTold(t *testing.T, out []byte) (checks []toldCheck) {
	t.Helper()
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		dec.UseNumber()
		var c toldCheck
		if err := dec.Decode(&c); errors.Is(err, io.EOF) {
			return checks
		} else if err != nil {
			t.Fatal(err)
		}
		checks = append(checks, c)
	}
}

func judgeTold(t *testing.T, e *tarn.Engine, c *toldCheck) {
	t.Helper()
	for _, m := range golden.Modes {
		s := e.Session()
		for _, set := range m.Settings() {
			if a := golden.Ask(t.Context(), s, set); a.Err != nil {
				t.Fatal(a.Err)
			}
		}
		if wrong := c.Judge(m, golden.Ask(t.Context(), s, c.SQL)); wrong != "" {
			t.Errorf("%s, %s: %s\n%s\nAfter\n%s", c.ID, m, c.SQL, wrong, strings.Join(c.Story, "\n"))
			return
		}
	}
}

// pyIceberg returns a Python that can run the imports. The test is skipped where there is none, unless TARN_PYICEBERG=1
// says that there must be.
func pyIceberg(t *testing.T, imports string) string {
	t.Helper()
	const python = "python3"
	if err := exec.CommandContext(t.Context(), python, "-c", imports).Run(); err != nil {
		if os.Getenv("TARN_PYICEBERG") == "1" {
			t.Fatalf("PyIceberg isn't there: %v", err)
		}
		t.Skip("PyIceberg isn't installed")
	}
	return python
}
