package datafile_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/datafile"
	"github.com/tarndb/tarn/internal/lake"
)

// prepared prepares a scan of all columns of a table that another engine wrote.
func prepared(t *testing.T, c *lake.Catalog, id catalog.Ident) *catalog.TableLayout {
	t.Helper()
	table, err := c.LoadTable(t.Context(), id, catalog.Version{})
	if err != nil {
		t.Fatal(err)
	}
	layout, err := c.Survey(t.Context(), table, catalog.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var columns []catalog.FieldID
	for _, f := range table.Schema.Fields {
		columns = append(columns, f.ID)
	}
	if layout, err = c.Prepare(t.Context(), table, columns, layout, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return layout
}

// TestGoldenCopies compares files in Avro, and in Parquet with the old codec LZ4, with those of a table of the same rows.
func TestGoldenCopies(t *testing.T) {
	folder, err := filepath.Abs("../../testdata/golden/warehouse")
	if err != nil {
		t.Fatal(err)
	}
	c, err := lake.Open(t.Context(), lake.Config{Name: "golden", Type: "hadoop", Warehouse: "/warehouse",
		Relocate: []lake.Relocation{{From: "file:///warehouse", To: folder}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rows := map[string][]string{}
	for _, name := range []string{"snappy", "avro", "lz4"} {
		err := prepared(t, c, catalog.Ident{"wr", name}).Files(t.Context(), func(f catalog.DataFile) error {
			isCopy := !strings.Contains(f.Ref.Local, "golden")
			if isCopy != (name != "snappy") || f.Shape != nil || f.ByName || f.Format != catalog.Parquet {
				t.Errorf("%s: got %+v", name, f)
			}
			rows[name] = append(rows[name], strings.Split(datafile.RowsOf(t, f.Ref.Local), "\n")...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(rows[name])
		rows[name] = slices.DeleteFunc(rows[name], func(s string) bool { return s == "" })
	}
	if len(rows["snappy"]) != 40 || !reflect.DeepEqual(rows["avro"], rows["snappy"]) || !reflect.DeepEqual(rows["lz4"], rows["snappy"]) {
		t.Errorf("%d, %d and %d rows differ", len(rows["avro"]), len(rows["lz4"]), len(rows["snappy"]))
	}
}
