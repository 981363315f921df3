package lake

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/sql"
)

var stagedIdent = catalog.Ident{"db", "t"}

// stagedState is that of a table with the columns of testSchema.
func stagedState(t *testing.T) evolve.State {
	t.Helper()
	s, err := NewTable{Ident: stagedIdent, Schema: testSchema(), FormatVersion: 3, Properties: map[string]string{"commit.retry.num-retries": "2"}}.state()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// withoutRows redefines a table as one of the same columns and another property.
func withoutRows(s evolve.State) (evolve.State, error) {
	var columns []sql.Column
	for _, f := range s.Schema().Fields {
		columns = append(columns, sql.Column{Path: []string{f.Name}, Type: evolve.DefinedType(f.Type)})
	}
	return evolve.Replace(s, sql.CreateTable{Columns: columns, Properties: []sql.Property{{Key: "p", Value: "new"}}})
}

// stage stages a new table, or the replacement of one that has 20 rows, with 10 rows written for it.
func stage(t *testing.T, c *Catalog, replaces bool) (*catalog.Table, []NewDataFile) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	if err := c.CreateNamespace(t.Context(), stagedIdent[:1]); err != nil {
		t.Fatal(err)
	}
	var staged *catalog.Table
	var err error
	if replaces {
		old := createTest(t, c, NewTable{Ident: stagedIdent, Schema: testSchema()})
		if _, err := c.Append(t.Context(), old, writeFiles(t, c, old, testRows(rng, 20))); err != nil {
			t.Fatal(err)
		}
		if old, err = c.LoadTable(t.Context(), stagedIdent, catalog.Version{}); err == nil {
			staged, err = c.StageReplace(old, withoutRows)
		}
	} else {
		staged, err = c.StageCreate(t.Context(), stagedIdent, stagedState(t))
	}
	if err != nil {
		t.Fatal(err)
	}
	return staged, writeFiles(t, c, staged, testRows(rng, 10))
}

// rowsNow returns how many rows the table has; -1 without one.
func rowsNow(t *testing.T, c *Catalog) int64 {
	t.Helper()
	now, err := c.LoadTable(t.Context(), stagedIdent, catalog.Version{})
	if IsNoTable(err) {
		return -1
	}
	if err != nil {
		t.Fatal(err)
	}
	layout, err := c.Survey(t.Context(), now, catalog.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return layout.Counts.Rows
}

// TestStagedTablesAppearWhole fails every call of files in turn while a table is made, or replaced, with its rows.
func TestStagedTablesAppearWhole(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		for _, replaces := range []bool{false, true} {
			for _, after := range []bool{false, true} {
				for k := 1; ; k++ {
					c := newLake(t, kind, t.TempDir())
					staged, files := stage(t, c, replaces)
					before := foldersOf(t, c, staged)
					faulty := faultyCatalog(c, k, after)
					_, err := c.Append(t.Context(), staged, files)
					setFiles(c, faulty.Files)
					want := map[bool]int64{false: -1, true: 20}[replaces]
					if err == nil {
						want = 10
					}
					if got := rowsNow(t, c); got != want {
						t.Errorf("%s %v %v %d: %d rows after %v", kind, replaces, after, k, got, err)
					}
					if left := foldersOf(t, c, staged); err != nil && !slices.Equal(left, before) {
						t.Errorf("%s %v %v %d: a failed commit left %v of %v", kind, replaces, after, k, left, before)
					}
					if faulty.Fired() == "" {
						if k < 4 {
							t.Errorf("%s: it makes only %d calls", kind, k-1)
						}
						break
					}
				}
			}
		}
	}
}

// foldersOf lists the metadata files of a table, if it has any.
func foldersOf(t *testing.T, c *Catalog, table *catalog.Table) []string {
	t.Helper()
	if _, err := c.fio.List(t.Context(), fileio.Under(table.Location, "metadata")); err != nil {
		return nil
	}
	return metadataFiles(t, c, table)
}

// TestDiscardedTables leaves no folder of a table that wasn't made.
func TestDiscardedTables(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		c := newLake(t, kind, t.TempDir())
		staged, files := stage(t, c, false)
		busy := &alwaysBusy{store: c.store}
		c.store = busy
		if _, err := c.Append(t.Context(), staged, files); errs.KindOf(err) != errs.Conflict {
			t.Errorf("%s: %v", kind, err)
		}
		c.store = busy.store
		var paths []string
		for _, f := range files {
			paths = append(paths, f.Ref.Path)
		}
		if err := c.Discard(t.Context(), staged, paths); err != nil {
			t.Error(err)
		}
		above, _ := fileio.Split(staged.Location)
		if entries, err := c.fio.List(t.Context(), above); err == nil && len(entries) > 0 {
			t.Errorf("%s: %v is left", kind, entries)
		}
	}
}

// TestLostRepliesOfStagedTables loses the catalog's answer when a table is made or replaced.
func TestLostRepliesOfStagedTables(t *testing.T) {
	for _, kind := range []string{"sql", "hadoop"} {
		for _, replaces := range []bool{false, true} {
			for _, c := range []struct{ lands, blind, unknown bool }{{true, false, false}, {true, true, true}, {false, false, true}, {false, true, true}} {
				l := newLake(t, kind, t.TempDir())
				staged, files := stage(t, l, replaces)
				own := l.store
				l.store = &lossyStore{store: own, lands: c.lands, blind: c.blind}
				_, err := l.Append(t.Context(), staged, files)
				l.store = own
				if (errs.KindOf(err) == errs.CommitUnknown) != c.unknown || (err == nil) == c.unknown {
					t.Errorf("%s %v %+v: %v", kind, replaces, c, err)
				}
				want := map[bool]int64{false: -1, true: 20}[replaces]
				if c.lands {
					want = 10
				}
				if got := rowsNow(t, l); got != want {
					t.Errorf("%s %v %+v: %d rows", kind, replaces, c, got)
				}
			}
			l := newLake(t, kind, t.TempDir())
			staged, files := stage(t, l, replaces)
			own := l.store
			l.store = &falseConflict{store: own}
			_, err := l.Append(t.Context(), staged, files)
			l.store = own
			if got := rowsNow(t, l); err != nil || got != 10 {
				t.Errorf("%s %v: %d rows, %v", kind, replaces, got, err)
			}
		}
	}
}

// TestStagedTablesMeetOthers has other writers come first.
func TestStagedTablesMeetOthers(t *testing.T) {
	alter := func(change sql.Change) func(*testing.T, *Catalog, *catalog.Table) {
		return func(t *testing.T, c *Catalog, table *catalog.Table) {
			t.Helper()
			_, err := c.Evolve(t.Context(), table, "alter table", func(s evolve.State) (evolve.State, error) {
				return evolve.Apply(s, []sql.Change{change})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	add := sql.AddColumns{Columns: []sql.Column{{Path: []string{"more"}, Type: sql.DataType{Name: "int"}}}}
	for _, c := range []struct {
		name  string
		other func(*testing.T, *Catalog, *catalog.Table)
		kind  errs.Kind // Internal: it succeeds
	}{
		{"a property", alter(sql.SetProperties{Properties: []sql.Property{{Key: "q", Value: "kept"}}}), errs.Internal},
		{"a branch", alter(sql.CreateRef{Name: "b", Create: true}), errs.Internal},
		{"a column", alter(add), errs.Conflict}, // the new schema's number is taken
		{"a partition field", alter(sql.AddPartitionField{Term: sql.Term{Transform: "bucket[4]", Column: []string{"id"}}}), errs.Internal},
		{"a version", alter(sql.SetProperties{Properties: []sql.Property{{Key: "format-version", Value: "3"}}}), errs.Conflict},
		{"rows", func(t *testing.T, c *Catalog, table *catalog.Table) {
			if _, err := c.Append(t.Context(), table, writeFiles(t, c, table, testRows(rand.New(rand.NewPCG(2, 2)), 5))); err != nil {
				t.Fatal(err)
			}
		}, errs.Conflict},
		{"a drop", func(t *testing.T, c *Catalog, table *catalog.Table) {
			plan, err := c.PlanPurge(t.Context(), table)
			if err == nil {
				_, err = plan.Execute(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}, errs.NotFound},
	} {
		for _, kind := range []string{"sql", "hadoop"} {
			for _, empty := range []bool{false, true} {
				l := newLake(t, kind, t.TempDir())
				staged, files := stage(t, l, true)
				now, err := l.LoadTable(t.Context(), stagedIdent, catalog.Version{})
				if err != nil {
					t.Fatal(err)
				}
				c.other(t, l, now)
				want := int64(10)
				if empty {
					want = 0
					err = l.PublishStaged(t.Context(), staged)
				} else {
					_, err = l.Append(t.Context(), staged, files)
				}
				if c.kind != errs.Internal {
					if errs.KindOf(err) != c.kind {
						t.Errorf("%s, %s, %v: %v", c.name, kind, empty, err)
					}
					continue
				}
				if err != nil || rowsNow(t, l) != want {
					t.Errorf("%s, %s, %v: %d rows, %v", c.name, kind, empty, rowsNow(t, l), err)
				}
				after, err := l.LoadTable(t.Context(), stagedIdent, catalog.Version{})
				if err != nil || after.Properties["p"] != "new" || c.name == "a property" && after.Properties["q"] != "kept" || len(after.Schema.Fields) != 6 {
					t.Errorf("%s, %s: %v, %v", c.name, kind, after, err)
				}
			}
		}
	}
	l := newLake(t, "sql", t.TempDir())
	staged, files := stage(t, l, false)
	createTest(t, l, NewTable{Ident: stagedIdent, Schema: testSchema()})
	if _, err := l.Append(t.Context(), staged, files); !IsTaken(err) {
		t.Error(err)
	}
	if err := l.PublishStaged(t.Context(), staged); !IsTaken(err) {
		t.Error(err)
	}
	if got := rowsNow(t, l); got != 0 {
		t.Errorf("the other's table has %d rows", got)
	}
}
