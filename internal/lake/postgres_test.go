package lake

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

func TestPostgresURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"postgresql://me:secret@db.example:5433/lake":          "postgresql://me@db.example:5433/lake",
		"postgresql+psycopg2://me:secret@db.example/lake":      "postgresql://me@db.example:5432/lake",
		"postgres://db.example/lake?user=me&password=secret":   "postgresql://me@db.example:5432/lake",
		"jdbc:postgresql://db.example/lake?user=me&password=x": "postgresql://me@db.example:5432/lake",
	} {
		dsn, ok := postgresDSN(uri)
		if !ok {
			t.Errorf("%s: not taken", uri)
			continue
		}
		if p, err := newPostgres("lake", dsn); err != nil || p.place() != want {
			t.Errorf("%s: %v, %v, want %s", uri, p, err, want)
		}
	}
	for _, uri := range []string{"sqlite:////a.db", "mysql://db/lake", "", "postgres.db"} {
		if _, ok := postgresDSN(uri); ok {
			t.Errorf("%s: taken", uri)
		}
	}
	_, err := Open(t.Context(), Config{Name: "lake", Type: "sql", URI: "postgresql://me:secret@db:port/lake"})
	if errs.KindOf(err) != errs.Invalid || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestNumberedParameters(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT 1":                   "SELECT 1",
		"a = ? AND b = ? OR c = ?":   "a = $1 AND b = $2 OR c = $3",
		"a = ?1 AND b = ?2 OR c=?1 ": "a = $1 AND b = $2 OR c=$1 ",
		"VALUES (?, ?)":              "VALUES ($1, $2)",
	} {
		if got := numbered(query); got != want {
			t.Errorf("%s becomes %s, want %s", query, got, want)
		}
	}
}

// TestPostgresOutcomes is what a failed statement says of its effect: only what the server refused, or never got, is undone.
func TestPostgresOutcomes(t *testing.T) {
	p := &postgres{}
	for _, c := range []struct {
		err    error
		kind   errs.Kind
		undone bool
	}{
		{&pgconn.PgError{Code: "40001"}, errs.Transient, true},
		{&pgconn.PgError{Code: "55P03"}, errs.Transient, true},
		{&pgconn.PgError{Code: "42501"}, errs.Invalid, true},
		{&pgconn.PgError{Code: "53100"}, errs.Resource, true},
		{&pgconn.PgError{Code: "57P01"}, errs.Transient, false},
		{&pgconn.PgError{Code: "XX000"}, errs.Internal, false},
		{errors.New("unexpected EOF"), errs.Internal, false},
		{context.DeadlineExceeded, errs.Resource, false},
	} {
		if kind, undone := p.kind(c.err), p.isUndone(c.err); kind != c.kind || undone != c.undone {
			t.Errorf("%v: kind %s, undone %v", c.err, kind, undone)
		}
	}
}

// postgresServer returns the URI of the server that tests may use; without one the test is skipped.
func postgresServer(t *testing.T) string {
	uri := os.Getenv("TARN_TEST_POSTGRES")
	if uri == "" {
		t.Skip("no server: TARN_TEST_POSTGRES isn't set; testdata/services/with-postgres starts one")
	}
	return uri
}

// TestPostgresCatalog goes through what a store does, on a real server.
func TestPostgresCatalog(t *testing.T) {
	uri := postgresServer(t)
	dir := t.TempDir()
	open := func() *Catalog {
		return openTest(t, Config{Name: dir, Type: "sql", URI: uri, Warehouse: dir, CreateIfMissing: true})
	}
	c := open()
	if all, err := c.ListNamespaces(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("a new catalog has %v, %v", all, err)
	}
	made := newTestTable(t, c)
	if _, err := c.CreateTable(t.Context(), NewTable{Ident: made.Ident, Schema: testSchema()}); errs.KindOf(err) != errs.Exists {
		t.Errorf("created twice: %v", err)
	}
	other := open()
	if tables, err := other.ListTables(t.Context(), catalog.Ident{"db"}); err != nil || join(tables) != "db.t" {
		t.Errorf("got %v, %v", tables, err)
	}
	if _, err := other.LoadTable(t.Context(), catalog.Ident{"db", "none"}, catalog.Version{}); errs.KindOf(err) != errs.NotFound {
		t.Errorf("%v", err)
	}
	if _, err := c.Update(t.Context(), made, "alter table", setting("a", "1")); err != nil {
		t.Error(err)
	}
	if now, err := other.Update(t.Context(), load(t, other, made.Ident), "alter table", setting("b", "2")); err != nil || now.Properties["a"] != "1" {
		t.Errorf("%v, %+v", err, now)
	}
	renamed := catalog.Ident{"db", "u"}
	if err := c.CreateNamespaceWith(t.Context(), catalog.Ident{"other"}, map[string]string{"owner": "me"}); err != nil {
		t.Error(err)
	}
	if props, err := other.NamespaceProperties(t.Context(), catalog.Ident{"other"}); err != nil || props["owner"] != "me" {
		t.Errorf("%v, %v", props, err)
	}
	if err := c.DropNamespace(t.Context(), catalog.Ident{"other"}); err != nil {
		t.Error(err)
	}
	second := createTest(t, c, NewTable{Ident: renamed, Schema: testSchema()})
	if err := c.store.rename(t.Context(), made.Ident, renamed); errs.KindOf(err) != errs.Exists {
		t.Errorf("renamed to a name that is taken: %v", err)
	}
	if err := c.DropTable(t.Context(), second.Ident); err != nil {
		t.Error(err)
	}
	if err := c.store.rename(t.Context(), made.Ident, renamed); err != nil {
		t.Error(err)
	}
	made.Ident = renamed
	if err := c.DropTable(t.Context(), made.Ident); err != nil {
		t.Error(err)
	}
	if _, err := other.LoadTable(t.Context(), made.Ident, catalog.Version{}); errs.KindOf(err) != errs.NotFound {
		t.Errorf("dropped: %v", err)
	}
	_, err := openTest(t, Config{Name: "x", Type: "sql", URI: "postgresql://postgres:secret@127.0.0.1:1/x"}).ListNamespaces(t.Context())
	if errs.KindOf(err) != errs.Transient || strings.Contains(err.Error(), "secret") {
		t.Errorf("no server: %v", err)
	}
}

// TestPostgresCatalogMadeTwice has many make the catalog of one empty database at the same time: it is there for all of them.
func TestPostgresCatalogMadeTwice(t *testing.T) {
	server := postgresServer(t)
	db, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 10 {
		schema := fmt.Sprintf("made_%d", time.Now().UnixNano())
		if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+schema); err != nil {
			t.Fatal(err)
		}
		t.Run(schema, func(t *testing.T) {
			var all errgroup.Group
			for n := range 16 {
				c := openTest(t, Config{
					Name: "lake", Type: "sql", URI: server + "&search_path=" + schema, Warehouse: t.TempDir(), CreateIfMissing: true,
				})
				all.Go(func() error { return c.CreateNamespace(t.Context(), catalog.Ident{fmt.Sprintf("db%d", n)}) })
			}
			if err := all.Wait(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
