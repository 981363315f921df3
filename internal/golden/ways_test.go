package golden

import (
	"testing"
)

// TestWaysAgree runs queries in every mode, and with small tables read by each pack: the rows are those of the whole query.
func TestWaysAgree(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	everywhere := []string{"SET tarn.pack_bytes = 0", "SET tarn.exchange = 'force'", "SET tarn.broadcast_bytes = '75KiB'"}
	for _, query := range []string{
		// Unions of derived tables, joined by groups or read everywhere.
		"SELECT count(*) FROM (SELECT customer_id FROM shop.orders UNION ALL SELECT customer_id FROM shop.orders) u JOIN shop.customers c USING (customer_id)",
		`SELECT count(*), count(u.name) FROM shop.orders o JOIN shop.orders p USING (customer_id)
			LEFT JOIN (SELECT name FROM shop.customers UNION ALL SELECT name FROM shop.customers) u ON o.status = u.name`,
		"SELECT count(*) FROM shop.orders o JOIN shop.customers c USING (customer_id) JOIN (SELECT DISTINCT status FROM shop.orders) u ON o.status = u.status",
		// Metadata tables lie in no groups.
		"SELECT content, count(*) FROM shop.orders.files GROUP BY content",
		"SELECT DISTINCT spec_id FROM shop.orders.files",
		"SELECT count(*) FROM shop.orders.snapshots s JOIN shop.orders.history h USING (snapshot_id)",
		"SELECT count(*) FROM shop.orders o JOIN shop.orders.files f ON o.customer_id = f.record_count",
		"SELECT o.customer_id, count(*) FROM shop.orders o JOIN shop.customers c USING (customer_id) JOIN shop.orders.files f ON o.customer_id = f.record_count GROUP BY 1",
		// Rows that are paired by their places may not be left out before.
		"SELECT sum(i) FROM shop.orders.files f POSITIONAL JOIN range(100) AS r(i) WHERE f.partition.customer_id_bucket = 3",
		"SELECT sum(i) FROM shop.orders.files f POSITIONAL JOIN range(100) AS r(i) WHERE partition.customer_id_bucket = 3",
	} {
		want := rowsOf(t, session(t, l.files, Off), query)
		for _, m := range Modes {
			if d := Diff(want.Rows, rowsOf(t, session(t, l.files, m), query).Rows); d != "" {
				t.Errorf("%s %s\n%s", m, query, d)
			}
		}
		s := session(t, l.files, Auto)
		for _, set := range everywhere {
			if a := Ask(t.Context(), s, set); a.Err != nil {
				t.Fatal(a.Err)
			}
		}
		if d := Diff(want.Rows, rowsOf(t, s, query).Rows); d != "" {
			t.Errorf("%v %s\n%s", everywhere, query, d)
		}
	}
}

// TestPairedRowsStay: what is asked of a struct's field leaves out no row of a positional join, in no mode.
func TestPairedRowsStay(t *testing.T) {
	const from = " FROM shop.orders.files f POSITIONAL JOIN range(100) AS r(i) WHERE f.partition.customer_id_bucket"
	s := session(t, newLab(t).files, Off)
	want := rowsOf(t, s, "SELECT sum(i)"+from+" + 0 = 3")
	if d := Diff(want.Rows, rowsOf(t, s, "SELECT sum(i)"+from+" = 3").Rows); d != "" {
		t.Error(d)
	}
}
