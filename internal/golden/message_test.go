package golden

import (
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
)

// TestMessages looks at errors as people see them: one line, a hint that leads on, and no name of the engine's own.
func TestMessages(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	for _, c := range []struct{ sql, message, hint string }{
		{"FROM snap.travl", "load table snap.travl: no such table", "did you mean snap.travel?"},
		{"FROM files.snap.travl", "load table snap.travl: no such table", "did you mean snap.travel?"},
		{"FROM Snap.travel", "no such table", "did you mean the namespace snap?"},
		{"FROM snap.travel.filez", "no such table", "did you mean snap.travel.files?"},
		{"FROM snap.travel.BRANCH_dev", "no such table", "snap.travel is a table: behind its name may stand branch_NAME"},
		{"FROM snap.travel.branch_dev.files", "no such table", "snap.travel.files FOR VERSION AS OF 'dev'"},
		{"FROM snap.travl.files", "load table snap.travl: no such table", "did you mean snap.travel?"},
		{"SELECT t.idd FROM snap.travel t", `does not have a column named "idd"`, `did you mean "id"?`},
		{"SELECT x.id FROM snap.travel t", `referenced table "x" not found`, `did you mean "t"?`},
		{"SELECT lower(nothing), _file FROM snap.travel", `referenced column "nothing" not found`, ""},
		{"SELECT _pos, count(*) FROM snap.travel", `column "_pos" must appear in the GROUP BY clause`, `"ANY_VALUE(_pos)"`},
		{"SELECT CAST(_file AS INT) FROM snap.travel", "could not convert string", ""},
		{"SELECT bucket(4, id) FROM snap.travel", "there is no function bucket", "system.bucket(...)"},
		{"SELECT id + val FROM snap.travel", "no function matches the given name and argument types", ""},
		{"SELECT _partition FROM snap.travel.files", "the table is made of metadata", ""},
	} {
		err := Ask(t.Context(), s, c.sql).Err
		if err == nil {
			t.Errorf("%s: no error", c.sql)
			continue
		}
		message, hint := err.Error(), errs.HintOf(err)
		if !strings.Contains(message, c.message) || !strings.Contains(hint, c.hint) || c.hint == "" && hint != "" {
			t.Errorf("%s: %s\nhint: %s\nwant %s\nhint: %s", c.sql, message, hint, c.message, c.hint)
		}
		if text := message + hint; strings.Contains(text, "tarn_") || strings.Contains(text, "\n") {
			t.Errorf("%s: several lines, or a name of the engine's own: %q", c.sql, text)
		}
	}
}

// TestCallsKeepTheirNames looks at what columns and plans call Iceberg's transforms.
func TestCallsKeepTheirNames(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	for sql, want := range map[string]string{
		"SELECT system.bucket(4, id) FROM snap.travel":                                   "system.bucket(4, id)",
		"SELECT * FROM (SELECT 1 + system.bucket(4, id) FROM snap.travel)":               "(1 + system.bucket(4, id))",
		"SELECT (SELECT max(system.bucket(4, id)) FROM snap.travel)":                     "(SELECT max(system.bucket(4, id)) FROM snap.travel)",
		"SELECT system.bucket(4, id) FROM snap.travel GROUP BY system.bucket(4, id)":     "system.bucket(4, id)",
		"SELECT system.bucket(4, id) AS b FROM snap.travel ORDER BY system.bucket(4, 1)": "b",
	} {
		if a := rowsOf(t, s, sql); a.Names[0] != want {
			t.Errorf("%s: the column is called %s, want %s", sql, a.Names[0], want)
		}
	}
	text, err := s.Explain(t.Context(), "SELECT 1 FROM snap.travel a JOIN snap.travel b ON system.bucket(4, a.id) = system.bucket(4, b.id)",
		tarn.ExplainOptions{})
	if want := "inner join (system.bucket(4, a.id) = system.bucket(4, b.id))"; err != nil || !strings.Contains(text, want) {
		t.Errorf("%v, want %s\n%s", err, want, text)
	}
}

// TestMetadataLogIsSpelledAsOne looks at the newest metadata file, which a Hadoop catalog finds where the table was moved to.
func TestMetadataLogIsSpelledAsOne(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	a := rowsOf(t, s, "SELECT count(*), count(*) FILTER (file LIKE 'file:%/warehouse/snap/travel/metadata/v%.metadata.json' AND file NOT LIKE '%golden%') FROM snap.travel.metadata_log_entries")
	if d := Diff([]Row{{whole(13), whole(13)}}, a.Rows); d != "" {
		t.Error(d)
	}
}

// TestChangeLogNeedsNoRewrite: the reason for a hash join with a change log gives no advice that can't help.
func TestChangeLogNeedsNoRewrite(t *testing.T) {
	s := session(t, newLab(t).files, Auto)
	text, err := s.Explain(t.Context(), "SELECT 1 FROM snap.travel.changes a JOIN snap.travel b ON a.id = b.id", tarn.ExplainOptions{})
	if err != nil || !strings.Contains(text, "the change log of snap.travel has rows of one file in several places") || strings.Contains(text, "rewrite") {
		t.Errorf("%v\n%s", err, text)
	}
}
