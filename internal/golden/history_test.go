package golden

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
)

// rowsOf runs a statement that must succeed.
func rowsOf(t *testing.T, s *tarn.Session, sql string, args ...any) Answer {
	t.Helper()
	a := Ask(t.Context(), s, sql, args...)
	if a.Err != nil {
		t.Fatalf("%s\n%v", sql, a.Err)
	}
	return a
}

// TestTimeTravelSchema is SCH-9: a snapshot, a tag and a time show the columns of the snapshot, a branch the current ones.
func TestTimeTravelSchema(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	for sql, want := range map[string]string{
		"snap.travel": "id,val,w: 11 rows",
		"snap.travel VERSION AS OF 491638879528551655":                          "id,v: 5 rows", // renamed and added since
		"snap.travel VERSION AS OF 'first'":                                     "id,v: 5 rows",
		"snap.travel TIMESTAMP AS OF '2026-11-29 19:48:50'":                     "id,v: 5 rows",
		"snap.travel VERSION AS OF 'dev'":                                       "id,val,w: 10 rows",
		"snap.travel.branch_main":                                               "id,val,w: 11 rows",
		"sch.evolve FOR VERSION AS OF 3453986229985764681":                      "id,a,b,c: 13 rows", // a was dropped since
		"sch.evolve FOR VERSION AS OF 'main'":                                   "d,id,e,b_text,c: 21 rows",
		"sch.evolve FOR VERSION FROM 2241213798351387176 TO 118404087590511428": "d,id,a,b_text,c: 2 rows",
	} {
		a := rowsOf(t, s, "SELECT * FROM "+sql)
		if got := fmt.Sprintf("%s: %d rows", strings.Join(a.Names, ","), len(a.Rows)); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	// A dropped column is read under its old name, though the statement has the current state, too.
	a := rowsOf(t, s, `SELECT count(old.a), count(now.e) FROM sch.evolve VERSION AS OF 3453986229985764681 old
		JOIN sch.evolve now ON old.id = now.id`)
	if d := Diff([]Row{{whole(12), whole(0)}}, a.Rows); d != "" {
		t.Error(d)
	}
}

// TestVersionsAreOneSnapshot asks for one version in all the ways that there are.
func TestVersionsAreOneSnapshot(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	want := rowsOf(t, s, "SELECT id, v FROM snap.travel VERSION AS OF 491638879528551655")
	for _, from := range []string{
		"snap.travel FOR VERSION AS OF 491638879528551655",
		"snap.travel VERSION AS OF 491638879528551654 + 1",
		"snap.travel VERSION AS OF '491638879528551655'",
		"snap.travel FOR SYSTEM_VERSION AS OF 'first'",
		"snap.travel FOR TIMESTAMP AS OF '2026-11-29 19:48:49.140'",
		"snap.travel TIMESTAMP AS OF '2026-11-29 20:48:49.140+01:00'",
		"snap.travel TIMESTAMP AS OF TIMESTAMP '2026-11-29 19:48:51'",
		"snap.travel FOR SYSTEM_TIME AS OF DATE '2026-11-29' + INTERVAL '19 hours 48 minutes 50 seconds' t",
		"snap.travel TIMESTAMP AS OF 1795981730",
		"snap.travel TIMESTAMP AS OF 1795981729.140 AS t (id, v)",
		"snap.travel TIMESTAMP AS OF least(now(), '2026-11-29 19:48:50'::timestamptz)",
		"snap.travel TIMESTAMP AS OF least(current_timestamp, TIMESTAMPTZ '2026-11-29 19:48:50 UTC')",
		"snap.travel.tag_first", "files.snap.travel.tag_first", "files.`snap`.travel.\"tag_first\" x",
		"'/warehouse/snap/travel' VERSION AS OF 'first'",
		"(snap.travel VERSION AS OF 'first' JOIN (SELECT 1) ON true)",
		"snap.travel AT (VERSION => 491638879528551655)",
	} {
		got := rowsOf(t, s, "SELECT id, v FROM "+from)
		if d := Diff(want.Rows, got.Rows); d != "" {
			t.Errorf("%s:\n%s", from, d)
		}
	}
	for _, arg := range []any{int64(491638879528551655), "first", "491638879528551655"} {
		if d := Diff(want.Rows, rowsOf(t, s, "SELECT t.id, v FROM snap.travel VERSION AS OF ? t WHERE id >= ?", arg, 0).Rows); d != "" {
			t.Errorf("with the argument %v:\n%s", arg, d)
		}
	}
}

func TestNamesInQueries(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	for sql, want := range map[string]int{
		"SELECT tag_first.id, travel.id FROM snap.travel.tag_first JOIN snap.travel ON travel.id = tag_first.id":                       4,
		"SELECT files.snap.travel.tag_first.v, snap.travel.tag_first.id FROM files.snap.travel.tag_first WHERE tag_first.id >= 0":      5,
		"SELECT tag_first FROM files.snap.travel.tag_first":                                                                            5,
		"WITH travel AS (SELECT 1) SELECT * FROM travel, snap.travel.tag_first":                                                        5,
		"SELECT * FROM files.snap.travel.tag_first a WHERE EXISTS (FROM files.snap.travel.branch_dev b WHERE a.id = b.id AND b.w = 1)": 0,
		"SELECT id FROM files.snap.travel.tag_first UNION ALL SELECT id FROM snap.travel FOR VERSION AS OF 'first'":                    10,
	} {
		if a := rowsOf(t, s, sql); len(a.Rows) != want {
			t.Errorf("%s: %d rows, want %d", sql, len(a.Rows), want)
		}
	}
	// The name of a column without one tells the query as it was written.
	a := rowsOf(t, s, "SELECT (SELECT count(*) FROM files.snap.travel.tag_first)")
	if want := "(SELECT count_star() FROM files.snap.travel.tag_first)"; a.Names[0] != want {
		t.Errorf("the column is called %s, want %s", a.Names[0], want)
	}
}

// TestMeanings looks at what comes first when a name has several meanings: "shop" is a catalog, and a namespace of another.
func TestMeanings(t *testing.T) {
	warehouse, err := filepath.Abs(folder + "/warehouse")
	if err != nil {
		t.Fatal(err)
	}
	e, err := tarn.Open(t.Context(), tarn.Config{
		Catalogs: []tarn.CatalogConfig{
			{Name: "files", Type: "hadoop", Warehouse: "/warehouse"},
			{Name: "shop", Type: "hadoop", Warehouse: filepath.Dir(warehouse)}, // of the nested namespaces warehouse.snap, ...
		},
		DefaultCatalog: "files", Relocate: []tarn.Relocation{{From: "/warehouse", To: warehouse}}, TempDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := session(t, e, Auto)
	for name, want := range map[string]int64{
		"snap.travel": 11, "shop.orders": 180, "shop.orders.snapshots": 3, "files.shop.orders": 180, "files.shop.orders.refs": 1,
		"shop.warehouse.snap.travel": 11, "shop.warehouse.snap.travel.tag_first": 5, "shop.orders.HISTORY": 3,
		`shop.warehouse.snap.travel."tag_odd-tag/1.0"`: 10, "shop.warehouse.snap.travel.changes FOR VERSION FROM 'first' TO 'odd-tag/1.0'": 5,
	} {
		if d := Diff([]Row{{whole(want)}}, Ask(t.Context(), s, "SELECT count(*) FROM "+name).Rows); d != "" {
			t.Errorf("%s\n%s", name, d)
		}
	}
	err = Ask(t.Context(), s, "FROM shop.warehouse.snap.nothing").Err
	if errs.KindOf(err) != errs.NotFound || !strings.Contains(err.Error(), "load table warehouse.snap.nothing") {
		t.Errorf("a table that is in no catalog: %v", err)
	}
}

func TestHistoryFaults(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	for sql, want := range map[string]string{
		"snap.travel VERSION AS OF 'nope'":                         "not-found: branch or tag nope",
		"snap.travel VERSION AS OF 12345":                          "not-found: snapshot 12345",
		"snap.travel VERSION AS OF 1.5":                            "invalid: 1.5 (a DECIMAL(2,1)) is no version",
		"snap.travel VERSION AS OF NULL":                           "invalid: it is NULL or empty",
		"snap.travel VERSION AS OF dev":                            "invalid: it holds the name dev",
		"snap.travel VERSION AS OF (SELECT 1)":                     "invalid: it holds a subquery",
		"snap.travel VERSION AS OF ''":                             "invalid: it is NULL or empty",
		"snap.travel TIMESTAMP AS OF 'yesterday'":                  "invalid: yesterday",
		"snap.travel TIMESTAMP AS OF NULL::TIMESTAMP":              "invalid: it is NULL or infinite",
		"snap.travel TIMESTAMP AS OF 1795981731500":                "invalid: it lies after the year 9999",
		"snap.travel TIMESTAMP AS OF true":                         "invalid: a BOOLEAN is no time",
		"snap.travel TIMESTAMP AS OF '2001-01-01 00:00:00'":        "not-found: earliest known snapshot is of 2026-11-29 19:48:49.14+00",
		"snap.travel FOR VERSION FROM 'first' TO 'dev'":            "invalid: is no append",
		"snap.travel FOR VERSION FROM 'dev'":                       "invalid: read what came after branch dev: it is no ancestor of the current snapshot",
		"snap.travel.branch_dev FOR VERSION FROM 'first'":          "invalid: read appends branch dev: ",
		"snap.travel.branch_dev FOR VERSION FROM 'first' TO 'dev'": "invalid: its name selects branch dev, and the statement selects dev",
		"snap.travel.snapshots FOR VERSION FROM 'first'":           "invalid: a metadata table has no rows between two snapshots",
		"snap.travel.tag_first VERSION AS OF 'dev'":                "invalid: its name selects tag first, and the statement selects dev",
		"snap.nothing.branch_x":                                    "not-found: snap.nothing",
		"(SELECT 1) t, t VERSION AS OF 1":                          "not-found: the name has no namespace",
		"'x.parquet' VERSION AS OF 1":                              "invalid: it is no table",
		"snap.expired.changes VERSION AS OF 1629747816079489057":   "not-found: or it has expired",
		"iceberg('/warehouse/snap/travel') VERSION AS OF 'first'":  "unsupported: a call has no versions",
		"snap.travel t VERSION AS OF 'first'":                      "syntax: VERSION",
	} {
		kind, text, _ := strings.Cut(want, ": ")
		err := Ask(t.Context(), s, "SELECT * FROM "+sql).Err
		if errs.KindOf(err).String() != kind || !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	err := Ask(t.Context(), s, "WITH t AS (SELECT 1) SELECT * FROM t VERSION AS OF 1").Err
	if errs.KindOf(err) != errs.Invalid {
		t.Errorf("a WITH entry has versions: %v", err)
	}
}

// TestErrorsKeepTheirPlace looks for the place of a fault behind a clause that was rewritten.
func TestErrorsKeepTheirPlace(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	for sql, want := range map[string]string{
		"SELECT * FROM snap.travel VERSION AS OF 'first' t WHERE ) = 1":              "line 1, column 57",
		"SELECT * FROM snap.travel FOR VERSION FROM 1 TO 2 WHERE ) = 1":              "line 1, column 57",
		"SELECT *\nFROM files.snap.travel.tag_first\n AS t\nWHERE ) = 1":             "line 4, column 7",
		"SELECT * FROM snap.travel\nVERSION AS OF\n'first' AS t\nWHERE id = 1 AND )": "line 4, column 18",
	} {
		if err := Ask(t.Context(), s, sql).Err; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %s", sql, err, want)
		}
	}
}

func TestAppends(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	between := rowsOf(t, s, "SELECT * FROM snap.travel FOR VERSION FROM 'first' TO 'odd-tag/1.0'")
	want := rowsOf(t, s, "SELECT * FROM snap.travel VERSION AS OF 'odd-tag/1.0' EXCEPT ALL SELECT * FROM snap.travel VERSION AS OF 'first'")
	if d := Diff(want.Rows, between.Rows); d != "" || len(between.Rows) != 5 {
		t.Errorf("%d rows\n%s", len(between.Rows), d)
	}
	for sql, want := range map[string]int{
		"snap.travel FOR VERSION FROM 'first' TO 'first'":                                 0,
		"snap.travel FOR TIMESTAMP FROM '2026-11-29 19:48:49.5' TO '2026-11-29 19:48:52'": 5,
		"snap.manifests FOR VERSION FROM 3659519805372368933":                             9, // and a replace
		"snap.manifests FOR VERSION FROM 3659519805372368933 TO 7159266152261087193":      6,
		"snap.expired FOR VERSION FROM 1953824613859127870":                               3,
		"snap.wap FOR VERSION FROM 5237660255188675016 TO 2907138374880917306":            2,
		"snap.travel.branch_main FOR VERSION FROM 7161800808131307925":                    2,
	} {
		if a := rowsOf(t, s, "SELECT * FROM "+sql); len(a.Rows) != want {
			t.Errorf("%s: %d rows, want %d", sql, len(a.Rows), want)
		}
	}
	text, err := s.Explain(t.Context(), `SELECT * FROM shop.orders FOR VERSION FROM 730550702081915291 o JOIN shop.customers c USING (customer_id)`,
		tarn.ExplainOptions{})
	if err != nil || !strings.Contains(text, "strategy=storage-partitioned") || !strings.Contains(text, "27 files of 27 kept") {
		t.Errorf("%v\n%s", err, text)
	}
}

// loggedTables are golden tables with appends, copies on write, overwrites, deletes of all kinds and branches.
var loggedTables = []string{
	"snap.travel", "snap.rolled", "snap.wap", "snap.overwritten", "snap.manifests", "shop.orders",
	"dels.cow", "dels.dv", "dels.eq_global", "dels.eq_part", "dels.eq_pos_mix", "dels.pos_part", "dels.v2to3",
}

// TestChangesMakeTheNextState adds each snapshot's changes to what its parent has: that is what the snapshot has.
func TestChangesMakeTheNextState(t *testing.T) {
	l := newLab(t)
	for _, table := range loggedTables {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			h := history{s: session(t, l.files, Auto), table: table, states: map[string]Answer{}}
			for _, row := range rowsOf(t, h.s, "SELECT snapshot_id::VARCHAR, parent_id::VARCHAR, operation FROM "+table+".snapshots ORDER BY committed_at").Rows {
				h.check(t, row)
			}
		})
	}
}

// history is a table and what its snapshots have.
type history struct {
	s      *tarn.Session
	table  string
	states map[string]Answer
}

func (h *history) check(t *testing.T, snapshot Row) {
	t.Helper()
	id, operation := fmt.Sprint(snapshot[0]), fmt.Sprint(snapshot[2])
	after := rowsOf(t, h.s, "SELECT * FROM "+h.table+" VERSION AS OF "+id)
	h.states[id] = after
	var before Answer
	bounds := " VERSION AS OF " + id
	if snapshot[1] != nil {
		parent := fmt.Sprint(snapshot[1])
		bounds = " FOR VERSION FROM " + parent + " TO " + id
		if before = h.states[parent]; strings.Join(before.Names, ",") != strings.Join(after.Names, ",") {
			return // rows of other columns can't be compared
		}
	}
	inserted, deleted := h.changes(t, bounds, id)
	if d := Diff(append(slices.Clone(before.Rows), inserted...), append(slices.Clone(after.Rows), deleted...)); d != "" {
		t.Errorf("snapshot %s (%s): what was there and was inserted isn't what is there and was deleted\n%s", id, operation, d)
	}
	onlyDeletes := operation == "delete" && strings.HasPrefix(h.table, "dels.") && h.table != "dels.cow"
	switch {
	case operation == "append" && len(deleted) > 0, operation == "replace" && len(inserted)+len(deleted) > 0, onlyDeletes && len(inserted) > 0,
		onlyDeletes && len(deleted) != len(before.Rows)-len(after.Rows):
		t.Errorf("snapshot %s (%s) has %d rows inserted and %d deleted", id, operation, len(inserted), len(deleted))
	}
}

// changes returns the rows of a log that is about one snapshot, without the log's own columns.
func (h *history) changes(t *testing.T, bounds, id string) (inserted, deleted []Row) {
	t.Helper()
	a := rowsOf(t, h.s, "SELECT * FROM "+h.table+".changes"+bounds)
	n := len(a.Names) - 3
	if got := strings.Join(a.Names[n:], " "); got != "_change_type _change_ordinal _commit_snapshot_id" {
		t.Fatalf("the log ends with the columns %s", got)
	}
	for _, row := range a.Rows {
		if fmt.Sprint(row[n+1], row[n+2]) != "0/1 "+id+"/1" {
			t.Errorf("a row of snapshot %s has %v", id, row[n:])
		}
		if row[n] == "INSERT" {
			inserted = append(inserted, row[:n])
			continue
		}
		deleted = append(deleted, row[:n])
	}
	return inserted, deleted
}

// TestWholeChangeLog looks at the logs of whole tables: their order, and that they add up to the current state.
func TestWholeChangeLog(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	a := rowsOf(t, s, `SELECT _change_ordinal, _commit_snapshot_id, _change_type, count(*) FROM snap.overwritten.changes
		GROUP BY ALL ORDER BY ALL`)
	want := []Row{
		{whole(0), whole(5263816221757598150), "INSERT", whole(4)},
		{whole(1), whole(7074753245665671275), "DELETE", whole(2)},
		{whole(1), whole(7074753245665671275), "INSERT", whole(2)},
	}
	if d := DiffOrdered(want, a.Rows); d != "" {
		t.Error(d)
	}
	for _, table := range []string{"snap.travel", "snap.rolled", "snap.overwritten", "snap.manifests", "dels.dv", "dels.eq_pos_mix"} {
		state := rowsOf(t, s, "SELECT * FROM "+table)
		columns := `"` + strings.Join(state.Names, `","`) + `"`
		net := rowsOf(t, s, "SELECT * FROM (SELECT "+columns+" FROM "+table+".changes WHERE _change_type = 'INSERT' EXCEPT ALL SELECT "+
			columns+" FROM "+table+".changes WHERE _change_type = 'DELETE')")
		if d := Diff(state.Rows, net.Rows); d != "" {
			t.Errorf("%s\n%s", table, d)
		}
	}
	if a := rowsOf(t, s, "SELECT * FROM snap.expired.changes"); len(a.Rows) != 3 || len(a.Names) != 5 {
		t.Errorf("the log of a table with expired snapshots has %d rows of %v", len(a.Rows), a.Names)
	}
}

func TestExplainNamesTheSnapshot(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	for from, want := range map[string]string{
		"snap.travel VERSION AS OF 'first' b":                         "scan snap.travel AS b at snapshot 491638879528551655 (tag first): ",
		"snap.travel VERSION AS OF 491638879528551655":                "scan snap.travel at snapshot 491638879528551655: ",
		"snap.travel TIMESTAMP AS OF '2026-11-29 19:48:50'":           "scan snap.travel at snapshot 491638879528551655 (2026-11-29 19:48:50+00): ",
		"snap.travel.branch_dev":                                      "scan snap.travel at snapshot 1279498829351745131 (branch dev): ",
		"snap.travel.changes":                                         "scan snap.travel changes up to snapshot 5086169376843623533: ",
		"snap.travel FOR VERSION FROM 'first' TO 3370394800187669357": "scan snap.travel appends after tag first up to snapshot 3370394800187669357: ",
		"snap.travel": "scan snap.travel: ",
	} {
		text, err := s.Explain(t.Context(), "SELECT * FROM "+from, tarn.ExplainOptions{})
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v, want %s\n%s", from, err, want, text)
		}
	}
	text, err := s.Explain(t.Context(), "SELECT * FROM snap.travel VERSION AS OF 'dev'", tarn.ExplainOptions{JSON: true})
	if want := `"named": "branch dev",
        "snapshot": 1279498829351745131`; err != nil || !strings.Contains(text, want) {
		t.Errorf("%v\n%s", err, text)
	}
}
