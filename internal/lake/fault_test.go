package lake

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/faultfs"
	"github.com/tarndb/tarn/internal/fileio"
)

// faultyCatalog makes the k-th call of a catalog's files fail, from now on.
func faultyCatalog(c *Catalog, k int, after bool) *faultfs.Files {
	faulty := faultfs.New(c.fio)
	faulty.Fail(k, after)
	setFiles(c, faulty)
	return faulty
}

func setFiles(c *Catalog, fio fileio.Files) {
	c.fio = fio
	switch s := c.store.(type) {
	case *sqlStore:
		s.fio = fio
	case *hadoopStore:
		s.fio = fio
	}
}

// lossyStore loses the catalog's answer to publish, and maybe the request.
type lossyStore struct {
	store
	lands bool // the request reaches the catalog
	blind bool // afterwards nothing can be read either
	lost  bool
}

func (s *lossyStore) publish(ctx context.Context, id catalog.Ident, base string, next draft) (string, error) {
	location := ""
	if s.lands {
		var err error
		if location, err = s.store.publish(ctx, id, base, next); err != nil {
			return "", err
		}
	}
	s.lost = true
	return location, &errs.Error{Kind: errs.CommitUnknown, Op: "commit", Object: id.String(), Err: faultfs.ErrInjected}
}

func (s *lossyStore) current(ctx context.Context, id catalog.Ident) (string, error) {
	if s.lost && s.blind {
		return "", errs.New(errs.Transient, "load table", id.String(), "no connection")
	}
	return s.store.current(ctx, id)
}

// TestAppendFailsWhole fails every call of files of an append in turn. Afterwards the table is the old one or the new one.
func TestAppendFailsWhole(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		for _, after := range []bool{false, true} {
			for k := 1; ; k++ {
				if !failedAppend(t, kind, after, k) {
					if k < 8 {
						t.Errorf("%s: an append makes only %d calls", kind, k-1)
					}
					break
				}
			}
		}
	}
}

// failedAppend says whether there was a k-th call.
func failedAppend(t *testing.T, kind string, after bool, k int) bool {
	t.Helper()
	c := newLake(t, kind, t.TempDir())
	table := createTest(t, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema()})
	rng := rand.New(rand.NewPCG(1, 1))
	if _, err := c.Append(t.Context(), table, writeFiles(t, c, table, testRows(rng, 10))); err != nil {
		t.Fatal(err)
	}
	files := writeFiles(t, c, table, testRows(rng, 10))
	before := metadataFiles(t, c, table)
	faulty := faultyCatalog(c, k, after)
	_, err := c.Append(t.Context(), table, files)
	setFiles(c, faulty.Files)
	now, loadErr := c.LoadTable(t.Context(), table.Ident, catalog.Version{})
	if loadErr != nil {
		t.Fatalf("%s %v %d: %v", kind, after, k, loadErr)
	}
	layout, surveyErr := c.Survey(t.Context(), now, catalog.Filter{})
	if surveyErr != nil {
		t.Fatalf("%s %v %d: %v", kind, after, k, surveyErr)
	}
	want := int64(10)
	if err == nil {
		want = 20
	}
	if layout.Counts.Rows != want {
		t.Errorf("%s %v %d: %d rows after %v", kind, after, k, layout.Counts.Rows, err)
	}
	if left := metadataFiles(t, c, table); err != nil && !slices.Equal(left, before) {
		t.Errorf("%s %v %d: a failed append left %v of %v", kind, after, k, left, before)
	}
	return faulty.Fired() != ""
}

func metadataFiles(t *testing.T, c *Catalog, table *catalog.Table) []string {
	t.Helper()
	entries, err := c.fio.List(t.Context(), fileio.Under(table.Location, "metadata"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestLostReplies(t *testing.T) {
	for _, c := range []struct {
		name         string
		lands, blind bool
		kind         errs.Kind
		fails        bool
		rows         int64
	}{
		{"landed and seen", true, false, 0, false, 10},
		{"landed and not seen", true, true, errs.CommitUnknown, true, 10},
		{"not landed", false, false, errs.CommitUnknown, true, 0},
	} {
		for _, kind := range []string{"sql", "hadoop"} {
			lake := newLake(t, kind, t.TempDir())
			table := createTest(t, lake, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema()})
			files := writeFiles(t, lake, table, testRows(rand.New(rand.NewPCG(1, 1)), 10))
			own := lake.store
			lake.store = &lossyStore{store: own, lands: c.lands, blind: c.blind}
			_, err := lake.Append(t.Context(), table, files)
			lake.store = own
			if (err != nil) != c.fails || c.fails && (errs.KindOf(err) != c.kind || errs.HintOf(err) == "") {
				t.Errorf("%s %s: %v", kind, c.name, err)
			}
			now, err := lake.LoadTable(t.Context(), table.Ident, catalog.Version{})
			if err != nil {
				t.Fatal(err)
			}
			layout, err := lake.Survey(t.Context(), now, catalog.Filter{})
			if err != nil || layout.Counts.Rows != c.rows {
				t.Errorf("%s %s: %+v, %v", kind, c.name, layout, err)
			}
			// The manifest and the list must be there still: the commit may land later.
			local, _ := lake.fio.Local(table.Location)
			if left, _ := filepath.Glob(local + "/metadata/*.avro"); len(left) != 2 {
				t.Errorf("%s %s: an unknown outcome left %v", kind, c.name, left)
			}
		}
	}
}

// TestLostConflict is a retry that meets its own first try: it must not append twice.
func TestLostConflict(t *testing.T) {
	lake := newLake(t, "sql", t.TempDir())
	table := createTest(t, lake, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema()})
	files := writeFiles(t, lake, table, testRows(rand.New(rand.NewPCG(1, 1)), 10))
	own := lake.store
	lake.store = &falseConflict{store: own}
	if _, err := lake.Append(t.Context(), table, files); err != nil {
		t.Error(err)
	}
	lake.store = own
	now, err := lake.LoadTable(t.Context(), table.Ident, catalog.Version{})
	if err != nil {
		t.Fatal(err)
	}
	if layout, err := lake.Survey(t.Context(), now, catalog.Filter{}); err != nil || layout.Counts.Rows != 10 {
		t.Errorf("%+v, %v", layout, err)
	}
}

// falseConflict takes the commit and then says that another one came first.
type falseConflict struct{ store }

func (s *falseConflict) publish(ctx context.Context, id catalog.Ident, base string, next draft) (string, error) {
	location, err := s.store.publish(ctx, id, base, next)
	if err != nil {
		return "", err
	}
	return location, errs.New(errs.Conflict, "commit", id.String(), "a lie")
}

func TestRetriesAreBounded(t *testing.T) {
	lake := newLake(t, "sql", t.TempDir())
	table := createTest(t, lake, NewTable{
		Ident: catalog.Ident{"db", "t"}, Schema: testSchema(), Properties: map[string]string{"commit.retry.num-retries": "2"},
	})
	files := writeFiles(t, lake, table, testRows(rand.New(rand.NewPCG(1, 1)), 10))
	before := metadataFiles(t, lake, table)
	busy := &alwaysBusy{store: lake.store}
	lake.store = busy
	if _, err := lake.Append(t.Context(), table, files); errs.KindOf(err) != errs.Conflict || busy.tries != 3 {
		t.Errorf("%v after %d tries", err, busy.tries)
	}
	if left := metadataFiles(t, lake, table); !slices.Equal(left, before) {
		t.Errorf("it left %v of %v", left, before)
	}
}

type alwaysBusy struct {
	store
	tries int
}

func (s *alwaysBusy) publish(context.Context, catalog.Ident, string, draft) (string, error) {
	s.tries++
	return "", errs.New(errs.Conflict, "commit", "", "busy")
}
