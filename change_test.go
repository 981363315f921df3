package tarn_test

import (
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// TestChangesTakeNoClausesOfSelect: conditions and tables of statements that change rows are texts inside of a query, where what
// follows them must not become a clause of it.
func TestChangesTakeNoClausesOfSelect(t *testing.T) {
	i := newInserting(t)
	i.run("INSERT INTO n.a VALUES (1, 1, 'x'), (2, 1, 'y')")
	i.run("INSERT INTO n.b VALUES (1, 1, 'x'), (2, 1, 'y')")
	for _, stmt := range []string{
		"DELETE FROM n.a WHERE v = 1 LIMIT 1",
		"DELETE FROM n.a WHERE v = 1 ORDER BY k LIMIT 1",
		"DELETE FROM n.a WHERE v = 1 USING SAMPLE 10%",
		"DELETE FROM n.a WHERE v = 1 GROUP BY k",
		"DELETE FROM n.a WHERE v = 1 QUALIFY row_number() OVER () = 1",
		"DELETE FROM n.a WHERE v = 1 UNION ALL SELECT true",
		"DELETE FROM n.a USING n.b LIMIT 1",
		"DELETE FROM n.a USING n.b ORDER BY 1",
		"UPDATE n.a SET v = 2 FROM n.b LIMIT 1",
		"UPDATE n.a SET v = 2 FROM n.b UNION ALL SELECT * FROM n.b",
		"UPDATE n.a SET v = 2 LIMIT 1",
		"MERGE INTO n.a USING n.b ON a.k = b.k LIMIT 1 WHEN MATCHED THEN DELETE",
		"MERGE INTO n.a USING n.b ON a.k = b.k QUALIFY count(*) OVER (PARTITION BY a._pos) = 1 WHEN MATCHED THEN UPDATE SET v = 3",
		"MERGE INTO n.a USING n.b LIMIT 1 ON a.k = b.k WHEN MATCHED THEN DELETE",
		"MERGE INTO n.a USING n.b ON a.k = b.k WHEN MATCHED AND true LIMIT 1 THEN DELETE",
	} {
		_, err := i.Query(t.Context(), stmt)
		if kind := errs.KindOf(err); kind != errs.Syntax && kind != errs.Invalid {
			t.Errorf("%s: %v", stmt, err)
		}
	}
	if got := i.ask("SELECT count(*) FROM n.a WHERE v = 1"); got != "2" {
		t.Errorf("there are %s rows", got)
	}
	i.run("DELETE FROM n.a USING n.b AS b JOIN n.c AS c ON b.k = c.k WHERE a.k = b.k")
	i.run("DELETE FROM n.a USING (SELECT * FROM n.b ORDER BY k LIMIT 1) AS b WHERE a.k = b.k")
	if got := i.ask("SELECT count(*) FROM n.a"); got != "1" {
		t.Errorf("there are %s rows", got)
	}
}

// TestChangesAssignStructsByName: a struct of fields in another order is the same, one of other names is not.
func TestChangesAssignStructsByName(t *testing.T) {
	i := newInserting(t)
	i.run("CREATE TABLE n.s (k bigint, pos struct<lat: double, lon: double>)")
	i.run("INSERT INTO n.s VALUES (1, {'lat': 1.0, 'lon': 2.0})")
	i.run("MERGE INTO n.s USING (SELECT 1 AS k, {'lon': 20.0, 'lat': 10.0} AS pos) AS u ON s.k = u.k WHEN MATCHED THEN UPDATE SET *")
	i.want("SELECT pos.lat, pos.lon FROM n.s", "10f 20f")
	for _, stmt := range []string{
		"MERGE INTO n.s USING (SELECT 1 AS k, {'longitude': 20.0, 'latitude': 10.0} AS pos) AS u ON s.k = u.k WHEN MATCHED THEN UPDATE SET *",
		"MERGE INTO n.s USING (SELECT 2 AS k, {'longitude': 20.0, 'latitude': 10.0} AS pos) AS u ON s.k = u.k WHEN NOT MATCHED THEN INSERT *",
		"UPDATE n.s SET pos = {'longitude': 20.0, 'latitude': 10.0}",
	} {
		i.refuses(stmt, errs.Invalid, "by their names")
	}
}
