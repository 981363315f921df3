package testcat

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

const shop = `
# Two specs, one dropped column, a promoted one.
create table shop.orders (id int not null, customer bigint, "Sold At" timestamp, price decimal(9, 2), tag fixed(4))
  partitioned by (bucket(4, customer), days("Sold At"))
alter table shop.orders alter column id type long
alter table shop.orders set partitioning (id, truncate(2, price), zorder(customer, id))
alter table shop.orders add column note string
alter table shop.orders rename column note to remark
alter table shop.orders drop column tag
files shop.orders
  (0..3, 2024-01-01) spec=0 rows=7 bytes=4096
  (null, null) spec=0 contradicts=0,1
  (12, 3.50, 'a, b') local='x y'
create table shop.empty (a string)
files shop.empty
  ()
`

func load(t *testing.T, text, name string) (*Catalog, *catalog.Table) {
	t.Helper()
	c, err := New(text)
	if err != nil {
		t.Fatal(err)
	}
	table, err := c.LoadTable(t.Context(), strings.Split(name, "."), catalog.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return c, table
}

func TestTable(t *testing.T) {
	_, o := load(t, shop, "shop.orders")
	var columns []string
	for _, f := range o.Schema.Fields {
		columns = append(columns, fmt.Sprintf("%d %s %s %t", f.ID, f.Name, f.Type, f.Required))
	}
	want := []string{"1 id long true", "2 customer long false", "3 Sold At timestamp false", "4 price decimal(9, 2) false", "6 remark string false"}
	if !reflect.DeepEqual(columns, want) {
		t.Errorf("columns %q, want %q", columns, want)
	}
	if o.DefaultSpec != 1 || len(o.Specs) != 2 || len(o.Spec().Fields) != 3 {
		t.Fatalf("specs %+v, current %d", o.Specs, o.DefaultSpec)
	}
	if got := o.Specs[0].Fields[1].Transform.SQL(o.Specs[0].Fields[1].Name); got != "days(Sold At_days)" {
		t.Errorf("the second field is %s", got)
	}
	z := o.Spec().Fields[2]
	if z.Transform.Op != transform.OpUnknown || len(z.Sources) != 2 {
		t.Errorf("zorder became %+v", z)
	}
	if got := o.Spec().Fields[0].SourceType.Kind; got != transform.Long {
		t.Errorf("the promoted source is %v", got)
	}
}

func TestSurvey(t *testing.T) {
	c, o := load(t, shop, "shop.orders")
	l, err := c.Survey(t.Context(), o, catalog.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if l.Counts.Files != 6 || l.Counts.Rows != 4*7+2 || l.Counts.Bytes != 4*4096+2000 || l.Counts.Manifests != 2 {
		t.Errorf("counts %+v", l.Counts)
	}
	if len(l.Groups) != 6 || l.Groups[0].Contradicts != 3 || l.Groups[0].Liars[0] != "test://shop.orders/004.parquet" {
		t.Errorf("groups %+v", l.Groups)
	}
	var files []catalog.DataFile
	err = l.Files(t.Context(), func(f catalog.DataFile) error { files = append(files, f); return nil })
	if err != nil || len(files) != 6 || files[5].Ref.Local != "x y" || files[5].Partition[2] != "a, b" {
		t.Errorf("files %+v, %v", files, err)
	}
	stop := fmt.Errorf("enough")
	if err := l.Files(t.Context(), func(catalog.DataFile) error { return stop }); err != stop {
		t.Errorf("Files went on after %v: %v", stop, err)
	}
}

func TestSurveyPrunes(t *testing.T) {
	c, o := load(t, shop, "shop.orders")
	equals := func(id catalog.FieldID, typ transform.Type, v transform.Value) catalog.Filter {
		return catalog.Filter{Op: catalog.Test, Field: id, Type: typ, Pred: transform.Predicate{Op: transform.EQ, Values: []transform.Value{v}}}
	}
	long := transform.Type{Kind: transform.Long}
	for _, tc := range []struct {
		filter catalog.Filter
		kept   int
	}{
		{equals(1, long, int64(12)), 6}, // spec 0 has no field of id
		{equals(1, long, int64(13)), 5},
		{equals(2, long, int64(1)), 2}, // one bucket, and the file that zorder says nothing about
		{catalog.AllOf(equals(1, long, int64(13)), equals(2, long, int64(1))), 1},
		{catalog.AnyOf(equals(1, long, int64(13)), equals(2, long, int64(1))), 6},
		{catalog.Filter{Op: catalog.AlwaysFalse}, 0},
	} {
		l, err := c.Survey(t.Context(), o, tc.filter)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Counts.Files - l.Counts.FilesPruned; got != tc.kept || len(l.Groups) != tc.kept {
			t.Errorf("%+v keeps %d files, want %d", tc.filter, got, tc.kept)
		}
	}
}

func TestPinnedTablesStay(t *testing.T) {
	c, before := load(t, shop, "shop.orders")
	if err := c.Add("alter table shop.orders alter column id type string\nalter table shop.orders set partitioning (id)\nfiles shop.orders\n (x)"); err != nil {
		t.Fatal(err)
	}
	if len(before.Specs) != 2 || len(before.Handle.([]catalog.DataFile)) != 6 || before.Schema.Fields[0].Type.Primitive.Kind != transform.Long {
		t.Errorf("a loaded table changed: %+v", before)
	}
}

func TestList(t *testing.T) {
	c, _ := load(t, shop+"create table a.b.c (x int)", "a.b.c")
	ns, _ := c.ListNamespaces(t.Context())
	tables, _ := c.ListTables(t.Context(), catalog.Ident{"shop"})
	if fmt.Sprint(ns) != "[a.b shop]" || fmt.Sprint(tables) != "[shop.empty shop.orders]" {
		t.Errorf("namespaces %v, tables %v", ns, tables)
	}
	if _, err := c.LoadTable(t.Context(), catalog.Ident{"shop", "x"}, catalog.Version{}); errs.KindOf(err) != errs.NotFound {
		t.Errorf("LoadTable of a missing table: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		" (1)":                                                         "goes on with no statement",
		"drop table a.b":                                               "wanted create table",
		"create table t (a int)":                                       "no namespace",
		"create table n.t (a int":                                      "isn't closed",
		"create table n.t (a colour)":                                  `"colour" is no primitive type`,
		"create table n.t (a int) sorted by a":                         `found "sorted", wanted the end`,
		"create table n.t (a int) partitioned by (b)":                  `no column "b"`,
		"create table n.t (a int) partitioned by (f())":                "is of no column",
		"files n.t":                                                    `there is no table "n.t"`,
		"create table n.t (a int)\nfiles n.t\n (1)":                    "spec 0 has 0 fields, the tuple 1",
		"create table n.t (a int)\nfiles n.t\n () colour=1":            `found "colour"`,
		"create table n.t (a int)\nalter table n.t drop a":             "wanted set partitioning",
		"create table n.t (a int) partitioned by (a)\nfiles n.t\n (x)": `"x" is no int`,
	} {
		if _, err := New(text); err == nil || !strings.Contains(err.Error(), want) || errs.KindOf(err) != errs.Syntax {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
