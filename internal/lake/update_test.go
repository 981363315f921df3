package lake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/faultfs"
)

// MetadataChange changes a table's metadata.
type MetadataChange func(newest table.Metadata) ([]table.Update, error)

// Update makes a change without a statement.
func (c *Catalog) Update(ctx context.Context, t *catalog.Table, op string, change MetadataChange) (*catalog.Table, error) {
	return c.update(ctx, t, op, func(newest *handle) ([]table.Update, error) { return change(newest.meta) })
}

// setting is a change that sets a property.
func setting(name, value string) MetadataChange {
	return func(table.Metadata) ([]table.Update, error) {
		return []table.Update{table.NewSetPropertiesUpdate(iceberg.Properties{name: value})}, nil
	}
}

func newTestTable(t *testing.T, c *Catalog) *catalog.Table {
	t.Helper()
	return createTest(t, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema()})
}

func load(t testing.TB, c *Catalog, id catalog.Ident) *catalog.Table {
	t.Helper()
	now, err := c.LoadTable(t.Context(), id, catalog.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return now
}

func TestUpdate(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		c := newLake(t, kind, t.TempDir())
		made := newTestTable(t, c)
		first, err := c.Update(t.Context(), made, "alter table", setting("a", "1"))
		if err != nil || first.Properties["a"] != "1" || first.MetadataLocation == made.MetadataLocation {
			t.Fatalf("%s: %v, %+v", kind, err, first)
		}
		// A handle that is behind changes the newest version.
		second, err := c.Update(t.Context(), made, "alter table", setting("b", "2"))
		if err != nil || second.Properties["a"] != "1" || second.Properties["b"] != "2" {
			t.Errorf("%s: %v, %+v", kind, err, second)
		}
		before := metadataFiles(t, c, made)
		none, err := c.Update(t.Context(), made, "alter table", func(table.Metadata) ([]table.Update, error) { return nil, nil })
		if err != nil || none.MetadataLocation != second.MetadataLocation {
			t.Errorf("%s: no change made a version: %v, %+v", kind, err, none)
		}
		refused := errs.New(errs.Conflict, "alter table", "db.t", "the schema has changed")
		tries := 0
		_, err = c.Update(t.Context(), made, "alter table", func(table.Metadata) ([]table.Update, error) { tries++; return nil, refused })
		if !errors.Is(err, refused) || tries != 1 {
			t.Errorf("%s: %v after %d tries", kind, err, tries)
		}
		_, err = c.Update(t.Context(), made, "alter table", func(table.Metadata) ([]table.Update, error) {
			return []table.Update{table.NewSetCurrentSchemaUpdate(77)}, nil
		})
		if errs.KindOf(err) != errs.Invalid {
			t.Errorf("%s: a schema that isn't there: %v", kind, err)
		}
		if left := metadataFiles(t, c, made); !slices.Equal(left, before) {
			t.Errorf("%s: changes that failed left %v of %v", kind, left, before)
		}
	}
}

// TestUpdatesMeet has writers change a counter, which adds up only if each sees the version that it replaces.
func TestUpdatesMeet(t *testing.T) {
	const writers, changes = 4, 6
	for _, kind := range []string{"sql", "hadoop"} {
		dir := t.TempDir()
		c := newLake(t, kind, dir)
		made := newTestTable(t, c)
		var all sync.WaitGroup
		for range writers {
			own := newLake(t, kind, dir)
			mine := load(t, own, made.Ident)
			all.Go(func() {
				for range changes {
					_, err := own.Update(t.Context(), mine, "count", func(m table.Metadata) ([]table.Update, error) {
						return setting("n", fmt.Sprint(m.Properties().GetInt("n", 0)+1))(m)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if n := load(t, c, made.Ident).Properties["n"]; n != fmt.Sprint(writers*changes) {
			t.Errorf("%s: %s changes of %d", kind, n, writers*changes)
		}
	}
}

// TestOldMetadataFiles: those that the log lists no more are removed where the table asks for it.
func TestOldMetadataFiles(t *testing.T) {
	for _, remove := range []string{"true", "false"} {
		c := newLake(t, "sql", t.TempDir())
		made := createTest(t, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema(), Properties: map[string]string{
			"write.metadata.delete-after-commit.enabled": remove, "write.metadata.previous-versions-max": "2",
		}})
		for i := range 5 {
			if _, err := c.Update(t.Context(), made, "alter table", setting("n", fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		want := map[string]int{"true": 3, "false": 6}[remove]
		if left := metadataFiles(t, c, made); len(left) != want {
			t.Errorf("%s: %v are left, want %d", remove, left, want)
		}
	}
}

func TestUpdateOfReplacedTable(t *testing.T) {
	c := newLake(t, "sql", t.TempDir())
	made := newTestTable(t, c)
	if err := c.DropTable(t.Context(), made.Ident); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Update(t.Context(), made, "alter table", setting("a", "1")); errs.KindOf(err) != errs.NotFound {
		t.Errorf("dropped: %v", err)
	}
	newTestTable(t, c)
	if _, err := c.Update(t.Context(), made, "alter table", setting("a", "1")); errs.KindOf(err) != errs.NotFound {
		t.Errorf("replaced: %v", err)
	}
}

// TestUpdateFailsWhole fails every call of files of an update in turn.
func TestUpdateFailsWhole(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		for _, after := range []bool{false, true} {
			k, fired := 1, true
			for ; fired; k++ {
				c := newLake(t, kind, t.TempDir())
				made := newTestTable(t, c)
				before := metadataFiles(t, c, made)
				faulty := faultyCatalog(c, k, after)
				_, err := c.Update(t.Context(), made, "alter table", setting("a", "1"))
				fired = faulty.Fired() != ""
				setFiles(c, faulty.Files)
				now := load(t, c, made.Ident)
				if (now.Properties["a"] == "1") != (err == nil) {
					t.Errorf("%s %v %d: %v, and then %v", kind, after, k, err, now.Properties)
				}
				if left := metadataFiles(t, c, made); err != nil && !slices.Equal(left, before) {
					t.Errorf("%s %v %d: a failed change left %v of %v", kind, after, k, left, before)
				}
			}
			if k < 5 {
				t.Errorf("%s: a change makes only %d calls", kind, k-2)
			}
		}
	}
}

func TestUpdatesWithLostReplies(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		for _, c := range []struct {
			name  string
			store func(store) store
			kind  errs.Kind // 0: no error
			done  bool
		}{
			{"landed and seen", func(s store) store { return &lossyStore{store: s, lands: true} }, 0, true},
			{"landed and not seen", func(s store) store { return &lossyStore{store: s, lands: true, blind: true} }, errs.CommitUnknown, true},
			{"not landed", func(s store) store { return &lossyStore{store: s} }, errs.CommitUnknown, false},
			{"landed, then another's", func(s store) store { return &overtakenStore{store: s} }, 0, true},
		} {
			lake := newLake(t, kind, t.TempDir())
			made := newTestTable(t, lake)
			own := lake.store
			lake.store = c.store(own)
			_, err := lake.Update(t.Context(), made, "alter table", setting("a", "1"))
			lake.store = own
			if errs.KindOf(err) != c.kind || (err != nil) != (c.kind != 0) || err != nil && errs.HintOf(err) == "" {
				t.Errorf("%s %s: %v", kind, c.name, err)
			}
			now := load(t, lake, made.Ident)
			if (now.Properties["a"] == "1") != c.done {
				t.Errorf("%s %s: %v", kind, c.name, now.Properties)
			}
			if versions := len(metadataFiles(t, lake, made)); c.done && versions < 2 {
				t.Errorf("%s %s: %d files are left", kind, c.name, versions)
			}
		}
	}
}

// TestARepeatedSwitch: the driver sends a statement again that was done, and another writer was quicker than that.
func TestARepeatedSwitch(t *testing.T) {
	c := newLake(t, "sql", t.TempDir())
	made := newTestTable(t, c)
	first, err := c.Update(t.Context(), made, "alter table", setting("a", "1"))
	if err == nil {
		_, err = c.Update(t.Context(), made, "alter table", setting("b", "2"))
	}
	if err != nil {
		t.Fatal(err)
	}
	s := c.store.(*sqlStore)
	db, err := s.write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]errs.Kind{first.MetadataLocation: 0, made.Location + "/metadata/mine.metadata.json": errs.Conflict} {
		err := s.point(t.Context(), db, made.Ident, made.MetadataLocation, location)
		if errs.KindOf(err) != want || (err != nil) != (want != 0) {
			t.Errorf("%s again: %v", location, err)
		}
	}
	if err := s.point(t.Context(), db, made.Ident, "", made.MetadataLocation); err != nil {
		t.Errorf("a table that was made: %v", err)
	}
}

// overtakenStore loses its answer, and another writer commits before anyone looks.
type overtakenStore struct{ store }

func (s *overtakenStore) publish(ctx context.Context, id catalog.Ident, base string, next draft) (string, error) {
	location, err := s.store.publish(ctx, id, base, next)
	if err != nil {
		return location, err
	}
	meta, err := table.ParseMetadataBytes(next.body)
	if err == nil {
		meta, err = changed(&handle{meta: meta, location: location}, func(h *handle) ([]table.Update, error) { return setting("other", "1")(h.meta) })
	}
	var d draft
	if err == nil {
		d, err = draftOf(meta)
	}
	if err == nil {
		_, err = s.store.publish(ctx, id, location, d)
	}
	return location, &errs.Error{Kind: errs.CommitUnknown, Op: "commit", Object: id.String(), Err: errors.Join(faultfs.ErrInjected, err)}
}
