package lake

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// writerOf returns the one connection that a SQLite catalog writes through.
func writerOf(t *testing.T, c *Catalog) *sql.DB {
	t.Helper()
	db, err := c.store.(*sqlStore).write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func mustExec(t *testing.T, db *sql.DB, stmts ...string) {
	t.Helper()
	for _, stmt := range stmts {
		if _, err := db.ExecContext(t.Context(), stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
}

// TestCatalogsThatCantBeWritten: the statement surely changed nothing, so it failed, and leaves no file.
func TestCatalogsThatCantBeWritten(t *testing.T) {
	c := newLake(t, "sql", t.TempDir())
	made := newTestTable(t, c)
	before := metadataFiles(t, c, made)
	db := writerOf(t, c)
	mustExec(t, db, "PRAGMA query_only = 1")
	for op, do := range map[string]func() error{
		"alter":  func() error { _, err := c.Update(t.Context(), made, "alter table", setting("a", "1")); return err },
		"drop":   func() error { return c.DropTable(t.Context(), made.Ident) },
		"rename": func() error { return c.RenameTable(t.Context(), made.Ident, catalog.Ident{"db", "u"}) },
	} {
		if err := do(); err == nil || errs.KindOf(err) != errs.Invalid {
			t.Errorf("%s in a catalog that is only read: %v", op, err)
		}
	}
	if left := metadataFiles(t, c, made); !slices.Equal(left, before) {
		t.Errorf("left are %v", left)
	}
	mustExec(t, db, "PRAGMA query_only = 0", "PRAGMA max_page_count = 1")
	err := c.store.(*sqlStore).point(t.Context(), db, made.Ident, made.MetadataLocation, strings.Repeat("x", 100_000))
	if errs.KindOf(err) != errs.Resource {
		t.Errorf("a full disk: %v", err)
	}
	if now := load(t, c, made.Ident); now.MetadataLocation != made.MetadataLocation {
		t.Errorf("the table is at %.100s", now.MetadataLocation)
	}
}

// TestInterruptedWhileItWaits: a drop and a rename that wait for another writer's lock go on once it is gone, since nobody could
// tell what an interrupted one did.
func TestInterruptedWhileItWaits(t *testing.T) {
	dir := t.TempDir()
	c, other := newLake(t, "sql", dir), newLake(t, "sql", dir)
	made := newTestTable(t, c)
	renamed := catalog.Ident{"db", "u"}
	for _, do := range []func(context.Context) error{
		func(ctx context.Context) error { return c.RenameTable(ctx, made.Ident, renamed) },
		func(ctx context.Context) error { return c.DropTable(ctx, renamed) },
	} {
		lock := writerOf(t, other)
		mustExec(t, lock, "BEGIN IMMEDIATE")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- do(ctx) }()
		time.Sleep(100 * time.Millisecond)
		cancel()
		time.Sleep(100 * time.Millisecond)
		mustExec(t, lock, "ROLLBACK")
		if err := <-done; err != nil {
			t.Errorf("%v", err)
		}
		if err := do(ctx); errs.KindOf(err) != errs.Canceled {
			t.Errorf("it was called off before: %v", err)
		}
	}
	if _, err := c.LoadTable(t.Context(), renamed, catalog.Version{}); !IsNoTable(err) {
		t.Errorf("%v", err)
	}
}
