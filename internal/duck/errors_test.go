package duck

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

func TestErrorKinds(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	dir := t.TempDir()
	noParquet, gone := filepath.Join(dir, "no.parquet"), filepath.Join(dir, "gone.parquet")
	if err := os.WriteFile(noParquet, []byte(strings.Repeat("not a Parquet file ", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.parquet")
	mustExec(t, c, "COPY (SELECT i AS a, hash(i) AS b FROM range(20000) t(i)) TO "+quote.Text(cut)+" (FORMAT parquet, COMPRESSION zstd)")
	damage(t, cut)
	for _, test := range []struct {
		sql    string
		kind   errs.Kind
		object string
		text   string
	}{
		{`SELECT 1 FROM`, errs.Syntax, "", "syntax error"},
		{`SELECT nope FROM range(3)`, errs.NotFound, "", `column "nope" not found`},
		{`SELECT t.nope FROM (SELECT 1 AS a) t`, errs.NotFound, "", `"nope"`},
		{`SELECT z.a FROM (SELECT 1 AS a) t`, errs.NotFound, "", `"z" not found`},
		{`SELECT * FROM nope`, errs.NotFound, "", "nope does not exist"},
		{`SELECT nope(1)`, errs.Invalid, "", "there is no function nope"},
		{`SELECT a FROM (SELECT 1 AS a) t, (SELECT 2 AS a) u`, errs.Invalid, "", "mbiguous"},
		{`SELECT 1 + [1]`, errs.Invalid, "", "no function matches"},
		{`SELECT 1 + [i] FROM range(2) t(i)`, errs.Invalid, "", "+(INTEGER, BIGINT[])"},
		{`SELECT * FROM (VALUES ('nan'), (1))`, errs.Invalid, "", "VARCHAR and INTEGER -"},
		{`SELECT * FROM (VALUES (1), ([1]))`, errs.Invalid, "", "cannot combine types"},
		{`SELECT 'x'::INTEGER`, errs.Invalid, "", "could not convert"},
		{`SELECT 'corrupt'::INTEGER`, errs.Invalid, "", "could not convert"},
		{`SELECT 'it''s a corrupt parquet file'::DATE`, errs.Invalid, "", ""},
		{`SELECT strptime('corrupt', '%d')`, errs.Invalid, "", "could not parse"},
		{`SELECT x::INTEGER FROM (SELECT 'failed to read file' || chr(10) || 'decompress' AS x)`, errs.Invalid, "", "could not convert"},
		{`SELECT "magic bytes" FROM (SELECT 1 AS "corrupt")`, errs.NotFound, "", ""},
		{`SELECT * FROM read_csv(` + quote.Text(filepath.Join(dir, "No such temp_directory.csv")) + `)`, errs.NotFound, filepath.Join(dir, "No such temp_directory.csv"), ""},
		{`SELECT 9223372036854775807 + i FROM range(3) t(i)`, errs.Invalid, "", "overflow"},
		{`SELECT 1::DECIMAL(3,1) * 1000 + 10::DECIMAL(3,1) + i::DECIMAL(2,1) FROM range(200) t(i)`, errs.Invalid, "", ""},
		{`SELECT error('boom')`, errs.Invalid, "", "boom"},
		{`SELECT (SELECT i FROM range(3) t(i))`, errs.Invalid, "", "one row"},
		{`SELECT st_point(1, 2)`, errs.Invalid, "", "spatial"},
		{`SELECT * FROM read_parquet(` + quote.Text(gone) + `)`, errs.NotFound, gone, "no files found"},
		{`SELECT * FROM read_parquet([` + quote.Text(cut) + `, ` + quote.Text(gone) + `])`, errs.NotFound, gone, "no files found"},
		{`SELECT * FROM read_parquet(` + quote.Text(noParquet) + `)`, errs.Corrupt, noParquet, "magic bytes"},
		{`SELECT sum(b) FROM read_parquet(` + quote.Text(cut) + `)`, errs.Corrupt, "", ""},
		{`COPY (SELECT 1) TO ` + quote.Text(filepath.Join(dir, "no", "such.parquet")), errs.NotFound, filepath.Join(dir, "no", "such.parquet"), ""},
	} {
		_, err := rowsOf(t.Context(), c, test.sql)
		wantError(t, err, test.kind, test.text)
		var e *errs.Error
		if errors.As(err, &e) && e.Object != test.object {
			t.Errorf("%s: the error is about %q, not %q: %v", test.sql, e.Object, test.object, err)
		}
		if err != nil && (strings.Contains(err.Error(), "LINE 1") || strings.Contains(err.Error(), "exception_type") ||
			strings.Contains(err.Error(), "INSTALL ")) {
			t.Errorf("%s: untidy: %v", test.sql, err)
		}
	}
}

// Damage has a name, also where DuckDB gives none: of a footer, and of a page that is met while the result streams.
func TestDamagedFileIsNamed(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	key, text := primitive(1, "k", longType), primitive(2, "s", stringType)
	file := func(name string) ScanFile {
		return writeFile(t, c, name, "SELECT i AS k, 'text ' || (i % 1000) AS s FROM range(20000) t(i)", key, text)
	}
	footer, pages := file("it's footer[1].parquet"), file("pages.parquet")
	damageAt(t, footer.Ref.Local, -60, -20)
	damage(t, pages.Ref.Local)
	for _, broken := range []ScanFile{footer, pages} {
		sql := mustScan(t, Scan{Columns: []ScanColumn{{key, "k"}, {text, "s"}}, Files: []ScanFile{file("good.parquet"), broken}})
		_, err := rowsOf(t.Context(), c, sql)
		var e *errs.Error
		if !errors.As(err, &e) || e.Kind != errs.Corrupt || e.Object != broken.Ref.Local {
			t.Errorf("%s: %v", broken.Ref.Local, err)
		}
		wantError(t, err, errs.Corrupt, "damaged")
	}
}

// damage overwrites bytes between a file's head and its footer.
func damage(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	damageAt(t, path, 4, int(info.Size())/2)
}

// damageAt overwrites the bytes from..to-1 of a file; negative ones count from its end.
func damageAt(t *testing.T, path string, from, to int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if from < 0 {
		from, to = from+len(b), to+len(b)
	}
	for i := from; i < to; i++ {
		b[i] ^= 0x5a
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestErrorTexts(t *testing.T) {
	for text, want := range map[string]struct {
		kind errs.Kind
		text string
	}{
		"Binder Error: Referenced column \"x\" is odd!\n\nLINE 1: SELECT x\n               ^": {errs.Invalid, `op: referenced column "x" is odd`},
		"INTERRUPT Error: Interrupted!":                                             {errs.Canceled, "op: interrupted"},
		"Out of Memory Error: failed to pin block\n\nPossible solutions:\n* none":   {errs.Resource, "op: out of memory: failed to pin block"},
		"INTERNAL Error: Attempted to access index 1":                               {errs.Internal, "op: attempted to access index 1"},
		"IO Error: Could not write file \"/t/x\": No space left on device":          {errs.Resource, "op /t/x: could not write file \"/t/x\": No space left on device"},
		"IO Error: Cannot open file \"/t/x\": Permission denied":                    {errs.Invalid, "op /t/x: cannot open file \"/t/x\": Permission denied"},
		"something without a type":                                                  {errs.Internal, "op: something without a type"},
		`{"exception_type":"Invalid","exception_message":"don't know what type: "}`: {errs.Corrupt, "op: don't know what type:"},
		"": {errs.Internal, "op"},
	} {
		err := fault("op", text)
		if errs.KindOf(err) != want.kind || err.Error() != want.text {
			t.Errorf("%q: %v (%v), want %v (%v)", text, err, errs.KindOf(err), want.text, want.kind)
		}
	}
}

func TestSerialize(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	ast, err := c.SerializeSQL(t.Context(), `SELECT "a b", 'it''s' FROM t WHERE x > 1`)
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.DeserializeSQL(t.Context(), ast)
	if err != nil || text != `SELECT "a b", 'it''s' FROM t WHERE (x > 1)` {
		t.Errorf("%q, %v", text, err)
	}
	for sql, part := range map[string]string{
		"SELECT 1\nFROM FROM":                    "line 2, column 6: ",
		"SELECT 'äöü', 1 FRM t x y":              "line 1, column 21: ",
		"SELECT 'abc":                            "line 1, column 8: ",
		"SELECT (1":                              "line 1, column 10: ",
		"MERGE SELECT":                           "",
		"SELECT 1 AS a,\n  -- note\n\tb c d e f": "line 3, column ",
	} {
		_, err := c.SerializeSQL(t.Context(), sql)
		wantError(t, err, errs.Syntax, part)
	}
	_, err = c.SerializeSQL(t.Context(), "DELETE FROM t")
	wantError(t, err, errs.Unsupported, "SELECT")
	if _, err = c.DeserializeSQL(t.Context(), []byte(`{"a": 1}`)); err == nil {
		t.Error("a tree without statements was written as SQL")
	}
}
