package lake

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// goldenFolder is a copy of the warehouse that other engines wrote at /warehouse. Its metadata says so.
const goldenFolder = "../../testdata/golden/warehouse"

func goldenRelocation(t testing.TB) []Relocation {
	t.Helper()
	abs, err := filepath.Abs(goldenFolder)
	if err != nil {
		t.Fatal(err)
	}
	return []Relocation{{From: "file:///warehouse", To: abs}}
}

func openTest(t testing.TB, cfg Config) *Catalog {
	t.Helper()
	c, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func goldenHadoop(t testing.TB) *Catalog {
	return openTest(t, Config{Name: "golden", Type: "hadoop", Warehouse: "/warehouse", Relocate: goldenRelocation(t)})
}

func goldenPy(t testing.TB) *Catalog {
	return openTest(t, Config{Name: "py", Type: "sql", URI: "sqlite:////warehouse/py_catalog.db", Relocate: goldenRelocation(t)})
}

// goldenTable is one table of the golden warehouse and the catalog that knows it.
type goldenTable struct {
	catalog *Catalog
	id      catalog.Ident
}

func goldenTables(t testing.TB) []goldenTable {
	t.Helper()
	var all []goldenTable
	for _, c := range []*Catalog{goldenHadoop(t), goldenPy(t)} {
		namespaces, err := c.ListNamespaces(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, ns := range namespaces {
			if c.Name() == "golden" && ns.String() == "py" {
				continue
			}
			tables, err := c.ListTables(t.Context(), ns)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range tables {
				all = append(all, goldenTable{c, id})
			}
		}
	}
	return all
}

// goldenRefusals says which tables can't be read and what the error is about. The other tables must all be read.
var goldenRefusals = map[string]struct {
	kind errs.Kind
	text string
}{
	"broken.bad_footer":       {errs.Corrupt, "read parquet footer file:/warehouse/broken/bad_footer/data/"},
	"broken.cut_manifest":     {errs.Corrupt, "-m0.avro: it is cut short: 7507 bytes of 7547"},
	"broken.cut_metadata":     {errs.Corrupt, "broken/cut_metadata/metadata/v3.metadata.json"},
	"broken.cut_mlist":        {errs.Corrupt, "broken/cut_mlist/metadata/snap-6857850822605447916"},
	"broken.hint_ahead":       {errs.NotFound, "version 99"},
	"broken.missing_data":     {errs.NotFound, "/warehouse/broken/missing_data/data/id_bucket=0/"},
	"broken.missing_delete":   {errs.NotFound, "/warehouse/broken/missing_delete/data/"},
	"broken.missing_manifest": {errs.NotFound, "755ac6aa-336e-47e2-8ef7-462e91128dbc-m0.avro"},
	"broken.missing_mlist":    {errs.NotFound, "snap-8992513398946608086"},
	"broken.no_schema":        {errs.Corrupt, "77"},
	"broken.no_snapshot":      {errs.Corrupt, "4242"},
	"broken.v4":               {errs.Unsupported, "format version 4"},
	"broken.v99":              {errs.Unsupported, "format version 99"},
	"dels.eq_formats":         {errs.Unsupported, "of format orc"},
	"sch.var":                 {errs.Unsupported, "column x of sch.var: values of type variant"},
	"wr.mixed":                {errs.Unsupported, "of format orc"},
	"wr.orc":                  {errs.Unsupported, "of format orc"},
}

// readGolden does all that stands before a scan.
func readGolden(t testing.TB, g goldenTable) (*catalog.Table, *catalog.TableLayout, error) {
	t.Helper()
	ctx := t.Context()
	table, err := g.catalog.LoadTable(ctx, g.id, catalog.Version{})
	if err != nil {
		return nil, nil, err
	}
	layout, err := g.catalog.Survey(ctx, table, catalog.Filter{})
	if err != nil {
		return table, nil, err
	}
	var columns []catalog.FieldID
	for _, f := range table.Schema.Fields {
		columns = append(columns, f.ID)
	}
	prepared, err := g.catalog.Prepare(ctx, table, columns, layout, t.TempDir())
	if err != nil {
		return table, layout, err
	}
	return table, prepared, nil
}

func TestGoldenTablesAreReadOrRefused(t *testing.T) {
	tables := goldenTables(t)
	if len(tables) < 168 {
		t.Fatalf("only %d tables found", len(tables))
	}
	for _, g := range tables {
		t.Run(g.id.String(), func(t *testing.T) {
			table, layout, err := readGolden(t, g)
			want, refused := goldenRefusals[g.id.String()]
			if !refused && err != nil {
				t.Fatal(err)
			}
			if refused {
				if err == nil || errs.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.text) {
					t.Fatalf("got %v (%v), want %v about %q", err, errs.KindOf(err), want.kind, want.text)
				}
				return
			}
			checkTotals(t, table, layout)
		})
	}
}

// checkTotals compares a survey with what the writer says of the snapshot, and with the survey's own list of files.
func checkTotals(t *testing.T, table *catalog.Table, layout *catalog.TableLayout) {
	t.Helper()
	counts := layout.Counts
	if table.Snapshot == nil {
		if counts != (catalog.ScanCounts{}) {
			t.Errorf("no snapshot, but %+v", counts)
		}
		return
	}
	totals := map[string]int64{
		"total-data-files": int64(counts.Files), "total-records": counts.Rows, "total-files-size": counts.Bytes,
		"total-delete-files": int64(counts.DeleteFiles),
	}
	for _, d := range layout.Deletes {
		if d.Kind == catalog.DeletionVector {
			d.Ref.Bytes = d.Length
		}
		totals["total-files-size"] += d.Ref.Bytes
	}
	if len(layout.Deletes) < counts.DeleteFiles {
		delete(totals, "total-files-size") // some apply to no file
	}
	if isImported(t, layout) {
		delete(totals, "total-files-size") // Spark forgets to count files that it only registers
	}
	for total, got := range totals {
		text, ok := table.Snapshot.Summary[total]
		if want, err := strconv.ParseInt(text, 10, 64); ok && err == nil && want != got {
			t.Errorf("%s is %d, want %d", total, got, want)
		}
	}
	var files int
	var rows int64
	err := layout.Files(t.Context(), func(f catalog.DataFile) error {
		files++
		rows += f.Rows
		if f.Ref.Local == "" || strings.HasPrefix(f.Ref.Local, "/warehouse") || !strings.Contains(f.Ref.Path, "/warehouse/") {
			t.Errorf("path %q lies at %q", f.Ref.Path, f.Ref.Local)
		}
		return nil
	})
	if err != nil || files != counts.Files || rows != counts.Rows {
		t.Errorf("Files yields %d files with %d rows, %v; want %d with %d", files, rows, err, counts.Files, counts.Rows)
	}
	for _, g := range layout.Groups {
		files -= g.Files
		rows -= g.Rows
	}
	if files != 0 || rows != 0 {
		t.Errorf("the groups miss %d files, %d rows", files, rows)
	}
}

func isImported(t *testing.T, layout *catalog.TableLayout) (imported bool) {
	t.Helper()
	err := layout.Files(t.Context(), func(f catalog.DataFile) error {
		imported = imported || strings.Contains(f.Ref.Path, "/warehouse/imports/")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imported
}

func TestGoldenLiarsAreFound(t *testing.T) {
	for _, g := range goldenTables(t) {
		_, layout, err := readGolden(t, g)
		if layout == nil {
			continue
		}
		lying, want := map[string]bool{}, map[string]bool{}
		if g.id.String() == "broken.lying_bucket" {
			want["[0]"], want["[7]"] = true, true
		}
		for _, sum := range layout.Groups {
			if sum.Contradicts != 0 {
				lying[fmt.Sprint(sum.Partition)] = true
			}
			if (sum.Contradicts != 0) != (len(sum.Liars) > 0) {
				t.Errorf("%s: partition %v contradicts %b by %v, %v", g.id, sum.Partition, sum.Contradicts, sum.Liars, err)
			}
		}
		if !maps.Equal(lying, want) {
			t.Errorf("%s: the partitions %v have liars, want %v", g.id, lying, want)
		}
	}
}

func TestGoldenNamespaces(t *testing.T) {
	got, err := goldenHadoop(t).ListNamespaces(t.Context())
	want := "broken dels dml evo fn keys mix one py sch shop snap wr"
	if err != nil || join(got) != want {
		t.Errorf("got %s, %v; want %s: data outside of tables is no namespace", join(got), err, want)
	}
	c := goldenPy(t)
	if got, err := c.ListNamespaces(t.Context()); err != nil || join(got) != "py" {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := c.ListTables(t.Context(), catalog.Ident{"py"}); err != nil || join(got) != "py.bk py.ident py.tr py.u4_l py.u4_r py.u8_l py.u8_r" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, c := range []*Catalog{c, goldenHadoop(t)} {
		if _, err := c.ListTables(t.Context(), catalog.Ident{"nowhere"}); errs.KindOf(err) != errs.NotFound {
			t.Errorf("tables of no namespace: %v", err)
		}
		if _, err := c.LoadTable(t.Context(), catalog.Ident{"py", "nowhere"}, catalog.Version{}); errs.KindOf(err) != errs.NotFound {
			t.Errorf("load no table: %v", err)
		}
	}
}

func join(ids []catalog.Ident) string {
	var names []string
	for _, id := range ids {
		names = append(names, id.String())
	}
	return strings.Join(names, " ")
}

func TestGoldenSpecs(t *testing.T) {
	c := goldenHadoop(t)
	load := func(name string) *catalog.Table {
		table, err := c.LoadTable(t.Context(), catalog.Ident(strings.Split(name, ".")), catalog.Version{})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	region := load("evo.src_dropped2").Specs[0].Fields[0]
	if region.Transform.Op != transform.Identity || region.SourceType.Kind != transform.String {
		t.Errorf("the type of a dropped source comes from an older schema: got %+v", region)
	}
	promoted := load("evo.key_promoted").Spec().Fields[0]
	if promoted.SourceType.Kind != transform.Long {
		t.Errorf("the source's type is the newest: got %+v", promoted)
	}
	unknown := load("broken.unknown_transform").Spec().Fields
	i := slices.IndexFunc(unknown, func(f catalog.PartitionField) bool { return f.Transform.Op == transform.OpUnknown })
	if i < 0 || unknown[i].Transform.Text != "hilbert[2]" {
		t.Errorf("the unknown transform isn't carried: %+v", unknown)
	}
	odd := load("sch.odd_names").Spec()
	if odd.Fields[0].Name != "with space" {
		t.Errorf("got %+v", odd)
	}
	defaults := load("sch.defaults")
	for _, f := range defaults.Schema.Fields {
		if f.HasDefault && f.InitialDefault == nil && f.Type.Nested == catalog.NotNested {
			t.Errorf("no default in %+v", f)
		}
	}
}

func TestOpenPath(t *testing.T) {
	table := filepath.Join(goldenFolder, "shop", "orders")
	for path, rows := range map[string]int64{
		table: 180, table + "/": 180,
		filepath.Join(table, "metadata", "v2.metadata.json"): 90, "/warehouse/shop/orders": 180, "file:/warehouse/wr/gz_meta": 30,
		"file:///warehouse/wr/gz_meta/metadata/v3.gz.metadata.json":                          30,
		"/warehouse/py/bk/metadata/00002-4cfc34c8-c04e-46df-9164-0805e0591bb0.metadata.json": 17,
	} {
		got, c, err := OpenPath(t.Context(), path, goldenRelocation(t))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		layout, err := c.Survey(t.Context(), got, catalog.Filter{})
		if err != nil || layout.Counts.Rows != rows {
			t.Errorf("%s: %+v, %v; want %d rows", path, layout, err, rows)
		}
		if again, err := c.LoadTable(t.Context(), got.Ident, catalog.Version{}); err != nil || again.UUID != got.UUID || c.Name() != "" {
			t.Errorf("%s: loading again: %v", path, err)
		}
		if err := c.CreateNamespace(t.Context(), catalog.Ident{"a"}); errs.KindOf(err) != errs.Unsupported {
			t.Errorf("%s: writing: %v", path, err)
		}
	}
	for path, kind := range map[string]errs.Kind{
		"/warehouse/py/bk": errs.Invalid, "/warehouse/nothing": errs.NotFound, "s3://bucket/table": errs.Unsupported,
		"/warehouse/broken/cut_metadata": errs.Corrupt, "/warehouse/shop/orders/metadata/v99.metadata.json": errs.NotFound,
	} {
		if _, _, err := OpenPath(t.Context(), path, goldenRelocation(t)); errs.KindOf(err) != kind || err == nil {
			t.Errorf("%s: %v, want %v", path, err, kind)
		}
	}
}
