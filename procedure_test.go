package tarn_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// history has n.h (k) in three snapshots of one row each, whose IDs it returns, the oldest first.
func history(t *testing.T, kind string) (*inserting, []string) {
	t.Helper()
	i := &inserting{t: t, folder: t.TempDir()}
	i.Session = emptyLake(t, kind, i.folder).Session()
	i.run("CREATE NAMESPACE n")
	i.run("CREATE TABLE n.h (k int) TBLPROPERTIES ('write.wap.enabled'='true')")
	for k := range 3 {
		i.run(fmt.Sprintf("INSERT INTO n.h VALUES (%d)", k))
	}
	return i, strings.Split(i.ask("SELECT snapshot_id FROM n.h.snapshots ORDER BY committed_at"), "\n")
}

// refuses fails unless the statement does, with the text in its error.
func (i *inserting) refuses(stmt string, kind errs.Kind, text string) {
	i.t.Helper()
	_, err := i.Exec(i.t.Context(), stmt)
	if errs.KindOf(err) != kind || !strings.Contains(fmt.Sprint(err)+errs.HintOf(err), text) {
		i.t.Errorf("%s: the error is %v (%v), wanted %v with %q", stmt, err, errs.KindOf(err), kind, text)
	}
}

// TestMovingBranches rolls back and forth.
func TestMovingBranches(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		i, ids := history(t, kind)
		i.want("CALL system.rollback_to_snapshot('n.h', "+ids[1]+")", ids[2]+" "+ids[1])
		i.want("SELECT count(*) FROM n.h", "2")
		i.refuses("CALL system.rollback_to_snapshot('n.h', "+ids[2]+")", errs.Invalid, "no ancestor")
		i.want("CALL lake.system.set_current_snapshot(table => 'n.h', snapshot_id => "+ids[2]+")", ids[1]+" "+ids[2])
		i.run("ALTER TABLE n.h CREATE TAG first AS OF VERSION " + ids[0])
		i.run("ALTER TABLE n.h CREATE BRANCH b AS OF VERSION " + ids[0] + " RETAIN 3 DAYS")
		i.want("CALL system.set_current_snapshot(ref => 'first', table => 'lake.n.h')", ids[2]+" "+ids[0])
		i.want("SELECT count(*) FROM n.h", "1")
		i.want("CALL system.set_current_snapshot('n.h', "+ids[2]+")", ids[0]+" "+ids[2])
		i.want("CALL system.fast_forward('n.h', 'b', 'main')", `"b" `+ids[0]+" "+ids[2])
		i.want("SELECT snapshot_id, max_reference_age_in_ms FROM n.h.refs WHERE name = 'b'", ids[2]+" 259200000")
		i.want("CALL system.fast_forward('n.h', 'new', 'first')", `"new" NULL `+ids[0])
		i.refuses("CALL system.fast_forward('n.h', 'b', 'first')", errs.Invalid, "no ancestor")
		i.refuses("CALL system.fast_forward('n.h', 'first', 'main')", errs.Invalid, "tag")
		i.want("CALL system.rollback_to_timestamp('n.h', TIMESTAMP '2999-01-01 00:00:00')", ids[2]+" "+ids[2])
		i.refuses("CALL system.rollback_to_timestamp('n.h', '2001-01-01 00:00:00')", errs.NotFound, "older")
		got := strings.Split(i.ask("CALL system.ancestors_of('n.h')"), "\n")
		if len(got) != 3 || !strings.HasPrefix(got[0], ids[2]+" ") || !strings.HasPrefix(got[2], ids[0]+" ") {
			t.Errorf("the ancestors are %v", got)
		}
		i.refuses("CALL system.ancestors_of('n.h', 5)", errs.NotFound, "5")
	}
}

// TestPublishing stages changes and publishes them: by moving the branch where nothing came between, else by a new snapshot.
func TestPublishing(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		i, _ := history(t, kind)
		staged := func(id, stmt string) string {
			i.run("SET spark.wap.id = '" + id + "'")
			i.run(stmt)
			i.run("RESET tarn.wap_id")
			return i.ask("SELECT snapshot_id FROM n.h.snapshots WHERE summary['wap.id'] = '" + id + "'")
		}
		one := staged("one", "INSERT INTO n.h VALUES (10)")
		i.want("SELECT count(*) FROM n.h", "3")
		i.want("SELECT count(*) FROM n.h FOR VERSION AS OF "+one, "4")
		i.want("CALL system.publish_changes('n.h', 'one')", one+" "+one)
		i.want("SELECT count(*) FROM n.h", "4")
		i.refuses("CALL system.publish_changes('n.h', 'one')", errs.Invalid, "already")
		two := staged("two", "INSERT INTO n.h VALUES (20)")
		i.run("INSERT INTO n.h VALUES (30)")
		got := strings.Fields(i.ask("CALL system.publish_changes(table => 'n.h', wap_id => 'two')"))
		if len(got) != 2 || got[0] != two || got[1] == two {
			t.Errorf("publishing gives %v", got)
		}
		i.want("SELECT k FROM n.h WHERE k >= 10 ORDER BY k", "10\n20\n30")
		i.want("SELECT summary['published-wap-id'], summary['source-snapshot-id'] FROM n.h.snapshots WHERE snapshot_id = "+got[1], `"two" "`+two+`"`)
		i.refuses("CALL system.publish_changes('n.h', 'two')", errs.Invalid, "already")
		i.refuses("CALL system.cherrypick_snapshot('n.h', "+two+")", errs.Invalid, "already")
		i.refuses("CALL system.publish_changes('n.h', 'three')", errs.NotFound, "three")
		over := staged("over", "INSERT OVERWRITE n.h VALUES (40)")
		i.run("INSERT INTO n.h VALUES (50)")
		i.refuses("CALL system.cherrypick_snapshot('n.h', "+over+")", errs.Unsupported, "neither an append")
		// A dynamic overwrite can be picked unless what came since has to do with its partitions.
		i.run("CREATE OR REPLACE TABLE n.h (k int, v int) PARTITIONED BY (k)")
		i.run("INSERT INTO n.h VALUES (1, 1), (2, 1), (3, 1)")
		i.run("SET tarn.partition_overwrite_mode = dynamic")
		first := staged("first", "INSERT OVERWRITE n.h VALUES (1, 2)")
		second := staged("second", "INSERT OVERWRITE n.h VALUES (3, 2)")
		i.run("INSERT INTO n.h VALUES (2, 3), (3, 3)")
		i.ask("CALL system.cherrypick_snapshot('n.h', " + first + ")")
		i.refuses("CALL system.cherrypick_snapshot('n.h', "+second+")", errs.Conflict, "data file")
		i.want("SELECT k, v FROM n.h ORDER BY k, v", "1 2\n2 1\n2 3\n3 1\n3 3")
		i.run("RESET tarn.partition_overwrite_mode")
	}
}

// TestPickAfterExpiry picks a snapshot whose files the table has, though its metadata doesn't know the one between that and the
// current one any more, as after another engine's expiry.
func TestPickAfterExpiry(t *testing.T) {
	i, ids := history(t, "hadoop")
	i.run("ALTER TABLE n.h CREATE TAG first AS OF VERSION " + ids[0])
	folder := filepath.Join(i.folder, "warehouse", "n", "h", "metadata")
	versions, _ := filepath.Glob(filepath.Join(folder, "v*.metadata.json"))
	raw, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("v%d.metadata.json", len(versions))))
	if err != nil {
		t.Fatal(err)
	}
	var meta map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&meta); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"snapshots", "snapshot-log"} {
		meta[list] = slices.DeleteFunc(meta[list].([]any), func(s any) bool { return fmt.Sprint(s.(map[string]any)["snapshot-id"]) == ids[1] })
	}
	if raw, err = json.Marshal(meta); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("v%d.metadata.json", len(versions)+1)), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	i.want("SELECT count(*) FROM n.h.snapshots", "2")
	i.refuses("CALL system.cherrypick_snapshot('n.h', "+ids[0]+")", errs.Invalid, "has its file")
	i.want("SELECT count(*) FROM n.h", "3")
}

// TestStagedOnce: one WAP ID is for one change, and none stages a table's definition.
func TestStagedOnce(t *testing.T) {
	i, _ := history(t, "hadoop")
	i.run("SET tarn.wap_id = 'a'")
	i.run("INSERT INTO n.h VALUES (10)")
	for _, stmt := range []string{"DELETE FROM n.h WHERE k = 1", "INSERT INTO n.h VALUES (11)", "INSERT OVERWRITE n.h VALUES (12)", "UPDATE n.h SET k = 0", "EXPLAIN UPDATE n.h SET k = 0"} {
		i.refuses(stmt, errs.Exists, "one change")
	}
	i.run("RESET tarn.wap_id")
	i.run("INSERT INTO n.h VALUES (11)")
	i.ask("CALL system.publish_changes('n.h', 'a')")
	i.run("SET tarn.wap_id = 'a'")
	i.refuses("DELETE FROM n.h WHERE k = 1", errs.Exists, "one change")
	i.run("SET tarn.wap_id = 'b'")
	i.run("DELETE FROM n.h WHERE k = 1")
	i.want("SELECT count(*) FROM n.h WHERE k = 1", "1")

	i.run("SET tarn.wap_id = 'c'")
	for _, stmt := range []string{
		"REPLACE TABLE n.h AS SELECT 9 AS k", "CREATE OR REPLACE TABLE n.h AS SELECT 9 AS k", "EXPLAIN REPLACE TABLE n.h AS SELECT 9 AS k",
		"CREATE OR REPLACE TABLE n.h TBLPROPERTIES ('write.wap.enabled'='false') AS SELECT 9 AS k",
		"CREATE TABLE n.i TBLPROPERTIES ('write.wap.enabled'='TRUE') AS SELECT 9 AS k",
		"CREATE OR REPLACE TABLE n.g TBLPROPERTIES ('write.wap.enabled'='true') AS SELECT 9 AS k",
	} {
		if strings.Contains(stmt, "n.g") {
			i.run("CREATE TABLE n.g (k int)")
		}
		i.refuses(stmt, errs.Unsupported, "staged")
	}
	i.want("SELECT count(*) FROM n.h", "5")
	i.run("CREATE TABLE n.i AS SELECT 9 AS k") // the ID means nothing to a table that stages nothing
	i.want("SELECT * FROM n.i", "9")
	i.run("CREATE TABLE n.j (k int) TBLPROPERTIES ('write.wap.enabled'='true')")
	i.run("INSERT INTO n.j VALUES (1)")
	i.want("SELECT count(*) FROM n.j", "0")
	i.ask("CALL system.publish_changes('n.j', 'c')")
	i.want("SELECT count(*) FROM n.j", "1")
}

// TestRegisterTable gives a table that was dropped a name again, but one that has a name no second one.
func TestRegisterTable(t *testing.T) {
	i, ids := history(t, "sql")
	files, _ := filepath.Glob(i.folder + "/warehouse/n/h/metadata/00003-*.json")
	if len(files) != 1 {
		t.Fatal(files)
	}
	i.refuses("CALL system.register_table('n.h', '"+files[0]+"')", errs.Exists, "exists")
	i.run("DROP TABLE n.h")
	i.want("CALL system.register_table('n.h', '"+files[0]+"')", ids[2]+" 3 3")
	i.want("SELECT count(*) FROM n.h", "3")
	second := "CALL lake.system.register_table(metadata_file => 'file://" + files[0] + "', table => 'n.old')"
	i.refuses(second, errs.Exists, "as n.h") // it is the current version
	i.run("INSERT INTO n.h VALUES (9)")
	i.refuses(second, errs.Exists, "as n.h") // it is in the log of versions
	i.run("ALTER TABLE n.h SET LOCATION '" + i.folder + "/elsewhere'")
	i.run("ALTER TABLE n.h SET TBLPROPERTIES ('write.metadata.previous-versions-max'='1')")
	i.run("INSERT INTO n.h VALUES (10)")
	i.refuses(second, errs.Exists, "as n.h") // they have snapshots in common
	i.run("ALTER TABLE n.h RENAME TO n.g")
	i.refuses(second, errs.Exists, "as n.g")
	i.run("DROP TABLE n.g")
	i.want(second, ids[2]+" 3 3")
	i.want("SELECT count(*) FROM n.old", "3")
	// A table that is made anew in the same folder is another one.
	i.run("DROP TABLE n.old")
	i.run("CREATE TABLE n.h (k int)")
	i.want(second, ids[2]+" 3 3")
	i.refuses("CALL system.register_table('n.x', '"+files[0]+".gone')", errs.NotFound, "gone")
	i.refuses("CALL system.register_table('nope.x', '"+files[0]+"')", errs.NotFound, "nope")
	h := &inserting{t: t, folder: t.TempDir()}
	h.Session = emptyLake(t, "hadoop", h.folder).Session()
	h.run("CREATE NAMESPACE n")
	h.refuses("CALL system.register_table('n.h', '"+files[0]+"')", errs.Unsupported, "folders")
}

func TestCalls(t *testing.T) {
	i, ids := history(t, "sql")
	for stmt, want := range map[string]struct {
		kind errs.Kind
		text string
	}{
		"CALL system.nope('n.h')":                                                {errs.NotFound, "rollback_to_snapshot"},
		"CALL system.rollback_to_snapshots('n.h', 1)":                            {errs.NotFound, "did you mean rollback_to_snapshot"},
		"CALL system.migrate('n.h')":                                             {errs.Exists, "n.h"},
		"CALL nope.system.ancestors_of('n.h')":                                   {errs.NotFound, "nope"},
		"CALL ancestors_of('n.h')":                                               {errs.Syntax, "system"},
		"CALL system.ancestors_of()":                                             {errs.Invalid, "table is missing"},
		"CALL system.ancestors_of(5)":                                            {errs.Invalid, "text"},
		"CALL system.ancestors_of('n.h', 'x')":                                   {errs.Invalid, "whole number"},
		"CALL system.ancestors_of('n.h', 1.5)":                                   {errs.Invalid, "whole number"},
		"CALL system.ancestors_of('n.h', 1, 2)":                                  {errs.Invalid, `"3"`},
		"CALL system.ancestors_of(tabel => 'n.h')":                               {errs.Invalid, "tabel"},
		"CALL system.ancestors_of(table => 'n.h', 5)":                            {errs.Invalid, "behind"},
		"CALL system.ancestors_of('n.h', table => 'n.h')":                        {errs.Invalid, "twice"},
		"CALL system.ancestors_of('n.nope')":                                     {errs.NotFound, "n.nope"},
		"CALL system.ancestors_of('n.h.branch_main')":                            {errs.Unsupported, "version"},
		"CALL system.ancestors_of('n..h')":                                       {errs.Syntax, ""},
		"CALL system.ancestors_of('n.h') extra":                                  {errs.Syntax, "extra"},
		"CALL system.ancestors_of(map('a'))":                                     {errs.Syntax, "without a value"},
		"CALL system.ancestors_of(map('a', 'b'))":                                {errs.Invalid, "text"},
		"CALL system.set_current_snapshot('n.h')":                                {errs.Invalid, "either"},
		"CALL system.set_current_snapshot('n.h', " + ids[0] + ", ref => 'main')": {errs.Invalid, "either"},
		"CALL system.set_current_snapshot('n.h', ref => 'nope')":                 {errs.NotFound, "nope"},
		"CALL system.rollback_to_timestamp('n.h', 'yesterday')":                  {errs.Invalid, "yesterday"},
	} {
		i.refuses(stmt, want.kind, want.text)
	}
}
