package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
)

const folder = "../../testdata/golden"

func open(t testing.TB) *tarn.Engine {
	abs, err := filepath.Abs(filepath.Join(folder, "warehouse"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := tarn.Open(t.Context(), tarn.Config{
		Catalogs:       []tarn.CatalogConfig{{Name: "files", Type: "hadoop", Warehouse: "/warehouse"}},
		DefaultCatalog: "files",
		Relocate:       []tarn.Relocation{{From: "/warehouse", To: abs}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSurvey(t *testing.T) {
	checks, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	e := open(t)
	for _, c := range checks {
		if !strings.HasPrefix(c.ID, os.Getenv("PREFIX")) || c.Catalog != nil {
			continue
		}
		for _, mode := range []string{"auto", "groups", "off"} {
			s := e.Session()
			if mode == "off" {
				Ask(t.Context(), s, "SET tarn.spj='off'")
			}
			if mode == "groups" {
				Ask(t.Context(), s, "SET tarn.pack_bytes=0")
			}
			a := Ask(t.Context(), s, c.SQL)
			if mode == "groups" {
				x, err := s.Explain(t.Context(), c.SQL, tarn.ExplainOptions{Analyze: true})
				if err == nil && os.Getenv("EXPLAIN") != "" {
					fmt.Println(c.ID, c.SparkSPJ != nil && *c.SparkSPJ, "\n"+x)
				}
			}
			if c.Expect != "" || a.Err != nil {
				fmt.Println(c.ID, mode, "ERR", a.Err, c.Expect)
				continue
			}
			rows, err := c.Rows()
			if err != nil {
				t.Fatal(c.ID, err)
			}
			var names []string
			for _, n := range c.Columns {
				names = append(names, n.Name)
			}
			d := DiffNames(names, a.Names)
			if d == "" && c.Ordered {
				d = DiffOrdered(rows, a.Rows)
			} else if d == "" {
				d = Diff(rows, a.Rows)
			}
			if d != "" {
				fmt.Println(c.ID, mode, "DIFF", d)
			} else {
				fmt.Println(c.ID, mode, "ok")
			}
		}
	}
}
