package demo

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/write"
	"github.com/tarndb/tarn/transform"
)

// catalogName is the embedded catalog's.
const catalogName = "lake"

// lakeFolder is an embedded lake: a SQLite catalog and a warehouse in one folder.
type lakeFolder struct {
	uri, warehouse string
	catalog        *lake.Catalog
}

func openLake(ctx context.Context, dir string) (*lakeFolder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "find folder", dir, err)
	}
	abs = filepath.ToSlash(abs)
	l := &lakeFolder{uri: "sqlite:///" + abs + "/catalog.db", warehouse: "file://" + abs + "/warehouse"}
	l.catalog, err = lake.Open(ctx, lake.Config{
		Name: catalogName, Type: "sql", URI: l.uri, Warehouse: l.warehouse, CreateIfMissing: true,
	})
	return l, err
}

func (l *lakeFolder) close() error { return l.catalog.Close() }

func (l *lakeFolder) config() tarn.Config {
	return tarn.Config{Catalogs: []tarn.CatalogConfig{{Name: catalogName, Type: "sql", URI: l.uri, Warehouse: l.warehouse}}}
}

// flags are the command line's for this lake.
func (l *lakeFolder) flags() []string {
	return []string{"--catalog", catalogName, "--type", "sql", "--uri", l.uri, "--warehouse", l.warehouse}
}

func (l *lakeFolder) yaml() string {
	return fmt.Sprintf("catalog:\n  %s:\n    type: sql\n    uri: %q\n    warehouse: %q\n", catalogName, l.uri, l.warehouse)
}

// Buckets is the count of both tables' bucket transforms.
const Buckets = 64

// fill makes the tables; made is false when they are there already.
func (l *lakeFolder) fill(ctx context.Context, w io.Writer, o Options) (made bool, err error) {
	orders, customers := catalog.Ident{"sales", "orders"}, catalog.Ident{"sales", "customers"}
	if _, err := l.catalog.LoadTable(ctx, customers, catalog.Version{}); err == nil {
		return false, nil
	} else if errs.KindOf(err) != errs.NotFound {
		return false, err
	}
	if err := l.catalog.CreateNamespace(ctx, orders[:1]); err != nil && errs.KindOf(err) != errs.Exists {
		return false, err
	}
	db, err := duck.Open(ctx, duck.Options{Threads: o.Threads, MemoryBytes: o.MemoryBytes})
	if err != nil {
		return false, err
	}
	defer db.Close()
	conn, err := db.Connect()
	if err != nil {
		return false, err
	}
	defer conn.Close()
	n := Customers(o.Rows)
	fmt.Fprintf(w, "Making sales.orders (%d rows) and sales.customers (%d rows), both bucket(%d, customer_id), in %s ...\n", o.Rows, n, Buckets, o.Dir)
	if err := l.make(ctx, conn, orders, orderFields, ordersQuery(o.Rows)); err != nil {
		return false, err
	}
	return true, l.make(ctx, conn, customers, customerFields, customersQuery(n))
}

// make creates a table bucketed by its customer_id and fills it.
func (l *lakeFolder) make(ctx context.Context, conn *duck.Conn, id catalog.Ident, fields []catalog.Field, query string) error {
	if err := l.dropOwn(ctx, id); err != nil {
		return err
	}
	t, err := l.catalog.CreateTable(ctx, lake.NewTable{
		Ident: id, Schema: &catalog.Schema{Fields: fields},
		Spec: []catalog.PartitionField{{
			Name: "customer_id_bucket", Sources: []catalog.FieldID{keyID}, Transform: transform.Transform{Op: transform.Bucket, N: Buckets},
		}},
		Properties: map[string]string{ownProperty: "true"},
	})
	if err != nil {
		return err
	}
	_, err = write.Append(ctx, conn, l.catalog, t, query)
	return err
}

// ownProperty marks the demo's tables.
const ownProperty = "tarn.demo"

// dropOwn forgets what an interrupted demo left, and refuses to touch a table of anybody else.
func (l *lakeFolder) dropOwn(ctx context.Context, id catalog.Ident) error {
	t, err := l.catalog.LoadTable(ctx, id, catalog.Version{})
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return nil
	case err != nil:
		return err
	case t.Properties[ownProperty] != "true":
		return errs.New(errs.Exists, "make demo", id.String(), "there is a table of that name, which isn't the demo's").
			WithHint("give another folder with --dir")
	}
	return l.catalog.DropTable(ctx, id)
}

// keyID is customer_id's field ID in both tables.
const keyID = 1

func column(id int, name string, t transform.Type) catalog.Field {
	return catalog.Field{ID: catalog.FieldID(id), Name: name, Type: catalog.Type{Primitive: t}}
}

var orderFields = []catalog.Field{
	column(keyID, "customer_id", transform.Type{Kind: transform.Long}),
	column(2, "order_id", transform.Type{Kind: transform.Long}),
	column(3, "amount", transform.Type{Kind: transform.Decimal, Precision: 12, Scale: 2}),
	column(4, "status", transform.Type{Kind: transform.String}),
	column(5, "order_date", transform.Type{Kind: transform.Date}),
}

var customerFields = []catalog.Field{
	column(keyID, "customer_id", transform.Type{Kind: transform.Long}),
	column(2, "name", transform.Type{Kind: transform.String}),
	column(3, "region", transform.Type{Kind: transform.String}),
}

// Customers keeps the proportion of a shop: seven orders a customer.
func Customers(orders int64) int64 { return max(orders/7, 1) }

// ordersQuery gives orders whose every value is a function of its number alone, so that each run makes the same table.
func ordersQuery(rows int64) string {
	return fmt.Sprintf(`SELECT CAST(hash(i) %% %d AS BIGINT) AS customer_id, i AS order_id,
  CAST(CAST(hash(i + 7) %% 100000 AS DECIMAL(12,2)) / 100 AS DECIMAL(12,2)) AS amount,
  CASE CAST(hash(i + 13) %% 4 AS INTEGER) WHEN 0 THEN 'open' WHEN 1 THEN 'paid' WHEN 2 THEN 'shipped' ELSE 'returned' END AS status,
  DATE '2024-01-01' + CAST(hash(i + 29) %% 730 AS INTEGER) AS order_date
FROM range(%d) AS r(i)`, Customers(rows), rows)
}

func customersQuery(rows int64) string {
	return fmt.Sprintf(`SELECT i AS customer_id, 'customer ' || i AS name,
  CASE CAST(hash(i) %% 4 AS INTEGER) WHEN 0 THEN 'north' WHEN 1 THEN 'south' WHEN 2 THEN 'east' ELSE 'west' END AS region
FROM range(%d) AS r(i)`, rows)
}
