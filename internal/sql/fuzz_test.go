package sql

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

var seeds = []string{
	"", ";", "SELECT 1; SELECT 2", "SELECT 'a;''b', e'\\';', \"x\"\"\", `y``z`, $$;$$, $t$ $$ $t$, $1 -- c\n; /* /* */ */",
	"EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM a LEFT SEMI JOIN `b` ON a.k <=> b.k", "SET a.\"b c\" = 'x''y'", "RESET ALL",
	"SHOW TABLES IN a.b", "DESCRIBE TABLE EXTENDED a.b", "INSERT INTO a", "INSERT INTO a.b (c, d) BY NAME VALUES (1",
	"CREATE TABLE a.b (c struct<x: array<int>> DEFAULT -1.5e3 COMMENT 'x') PARTITIONED BY (bucket(4, c)) TBLPROPERTIES (a.b-c = 1)",
	"CREATE TABLE a.b AS SELECT `x` <=> 1", "ALTER TABLE a ADD COLUMNS (b decimal(3, 1) FIRST), c map<int, fixed(4)>", "ALTER TABLE a WRITE LOCALLY ORDERED BY (days(b) DESC)",
	"ALTER TABLE a CREATE OR REPLACE BRANCH b AS OF VERSION 1 RETAIN 1 DAYS WITH SNAPSHOT RETENTION 1 SNAPSHOTS 1 HOURS", "\xff'\xfe", "$a$", "e'", "/*", "SELECT * FROM a VERSION AS OF 1 b", "FROM a.b.c.d FOR TIMESTAMP FROM 'x' TO now() - INTERVAL 1 DAY b (x), (a.b.c.e",
}

// FuzzSplit checks that tokens cover the text, and that cutting a script twice gives the same statements.
func FuzzSplit(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		tokens, err := lex(script)
		list, err2 := Split(script)
		if err != nil || err2 != nil {
			wantSyntax(t, err)
			wantSyntax(t, err2)
			return
		}
		var all strings.Builder
		for _, tok := range tokens {
			if tok.start != all.Len() || tok.text == "" {
				t.Fatalf("%q: token %q starts at %d, want %d", script, tok.text, tok.start, all.Len())
			}
			all.WriteString(tok.text)
		}
		if all.String() != script {
			t.Fatalf("the tokens of %q are those of %q", script, all.String())
		}
		// A line end before the semicolon keeps it out of a comment that a statement ends with.
		again, err := Split(strings.Join(list, "\n;"))
		if err != nil || !reflect.DeepEqual(again, list) {
			t.Fatalf("%q: %q became %q, %v", script, list, again, err)
		}
	})
}

// FuzzParse checks that whatever Parse refuses is a Syntax or an Unsupported error, and that no form of Spark that DuckDB
// would misread is left in what it takes.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		st, err := Parse(text)
		if err != nil {
			wantSyntax(t, err)
			return
		}
		var q Query
		switch st := st.(type) {
		case Query:
			q = st
		case Explain:
			var ok bool
			if q, ok = st.Of.(Query); !ok {
				return
			}
		default:
			return
		}
		tokens, err := lex(q.Text)
		if err != nil {
			t.Fatalf("%q was rewritten to %q: %v", text, q.Text, err)
		}
		for _, tok := range tokens {
			if tok.kind == quoted && tok.text[0] == '`' || tok.kind == symbol && tok.text == "<=>" {
				t.Fatalf("%q was rewritten to %q, which has %s", text, q.Text, tok.text)
			}
		}
	})
}

// wantSyntax accepts no error, and those about the text.
func wantSyntax(t *testing.T, err error) {
	t.Helper()
	if k := errs.KindOf(err); err != nil && k != errs.Syntax && k != errs.Unsupported {
		t.Fatalf("%v is %v", err, k)
	}
}
