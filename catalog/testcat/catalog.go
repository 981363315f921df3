package testcat

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Catalog holds the tables of a text. It is safe for concurrent use as long as nobody calls Add.
type Catalog struct{ tables map[string]*table }

var (
	_ catalog.Catalog  = (*Catalog)(nil)
	_ catalog.Surveyor = (*Catalog)(nil)
)

// table is a table in the making.
type table struct {
	catalog.Table
	lastID catalog.FieldID
	files  []catalog.DataFile
	stats  map[string]map[catalog.FieldID]stats // by the files' paths
}

// New returns a catalog with the tables of text.
func New(text string) (*Catalog, error) {
	c := &Catalog{tables: map[string]*table{}}
	return c, c.Add(text)
}

// Name returns "test".
func (c *Catalog) Name() string { return "test" }

// ListNamespaces returns the namespaces of all tables, sorted.
func (c *Catalog) ListNamespaces(context.Context) ([]catalog.Ident, error) {
	var out []catalog.Ident
	for _, t := range c.sorted() {
		ns := t.Ident[:len(t.Ident)-1]
		if len(out) == 0 || !slices.Equal(out[len(out)-1], ns) {
			out = append(out, ns)
		}
	}
	return out, nil
}

// ListTables returns the tables of a namespace, sorted.
func (c *Catalog) ListTables(_ context.Context, namespace catalog.Ident) ([]catalog.Ident, error) {
	var out []catalog.Ident
	for _, t := range c.sorted() {
		if slices.Equal(t.Ident[:len(t.Ident)-1], namespace) {
			out = append(out, t.Ident)
		}
	}
	return out, nil
}

func (c *Catalog) sorted() []*table {
	var out []*table
	for _, t := range c.tables {
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool { return slices.Compare(out[i].Ident, out[j].Ident) < 0 })
	return out
}

// LoadTable returns the table as it is now: what Add changes later doesn't reach it. There are no other versions.
func (c *Catalog) LoadTable(_ context.Context, id catalog.Ident, v catalog.Version) (*catalog.Table, error) {
	t, ok := c.tables[id.String()]
	switch {
	case !ok:
		return nil, errs.New(errs.NotFound, "find table", id.String(), "there is no such table")
	case v != catalog.Version{}:
		return nil, errs.New(errs.NotFound, "find table", id.String(), "test tables have no version but the current one")
	}
	pinned := t.Table
	pinned.Schema = &catalog.Schema{Fields: slices.Clone(t.Schema.Fields)}
	pinned.Specs = map[catalog.SpecID]catalog.PartitionSpec{}
	for id, s := range t.Specs {
		pinned.Specs[id] = catalog.PartitionSpec{ID: id, Fields: slices.Clone(s.Fields)}
	}
	pinned.Handle = slices.Clone(t.files)
	return &pinned, nil
}

// Survey returns what filter leaves of the files, by their tuples.
func (c *Catalog) Survey(_ context.Context, t *catalog.Table, filter catalog.Filter) (*catalog.TableLayout, error) {
	all, ok := t.Handle.([]catalog.DataFile)
	if !ok {
		return nil, errs.New(errs.Internal, "survey", t.Ident.String(), "the table comes from another catalog")
	}
	l := &catalog.TableLayout{Table: t}
	manifests := map[catalog.SpecID]bool{}
	var files []catalog.DataFile
	for _, f := range all {
		manifests[f.Spec] = true
		l.Counts.Files++
		if !mayHold(filter, t.Specs[f.Spec], f.Partition) {
			l.Counts.FilesPruned++
			l.Counts.PrunedByPartition++
			continue
		}
		l.Counts.Rows += f.Rows
		l.Counts.Bytes += f.Ref.Bytes
		if len(f.Deletes) > 0 {
			f.Deletes = []int{len(l.Deletes)}
			l.Deletes = append(l.Deletes, catalog.DeleteFile{
				Ref: catalog.FileRef{Path: f.Ref.Path + ".deletes"}, Format: catalog.Parquet, Target: f.Ref.Path, Sequence: 1,
			})
		}
		files = append(files, f)
	}
	l.Counts.Manifests = len(manifests)
	l.Groups = groups(t, files)
	l.Files = func(ctx context.Context, yield func(catalog.DataFile) error) error {
		for _, f := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := yield(f); err != nil {
				return err
			}
		}
		return nil
	}
	return l, nil
}

// mayHold says whether files of the tuple may hold rows that satisfy the filter.
func mayHold(f catalog.Filter, spec catalog.PartitionSpec, tuple []transform.Value) bool {
	holds := func(t catalog.Filter) bool { return mayHold(t, spec, tuple) }
	switch f.Op {
	case catalog.AlwaysFalse:
		return false
	case catalog.And:
		return !slices.ContainsFunc(f.Terms, func(t catalog.Filter) bool { return !holds(t) })
	case catalog.Or:
		return slices.ContainsFunc(f.Terms, holds)
	case catalog.AlwaysTrue:
		return true
	}
	for i, p := range spec.Fields {
		if len(p.Sources) != 1 || p.Sources[0] != f.Field || p.SourceType != f.Type {
			continue
		}
		if pred, ok := p.Transform.Project(f.Type, f.Pred); ok && !pred.Eval(p.Transform.ResultType(f.Type), tuple[i]) {
			return false
		}
	}
	return true
}

// groups sums the files up, sorted by spec and then by the tuple's canonical bytes.
func groups(t *catalog.Table, files []catalog.DataFile) []catalog.GroupSum {
	byKey := map[string]*catalog.GroupSum{}
	var keys []string
	for _, f := range files {
		key := fmt.Appendf(nil, "%06d", f.Spec)
		for i, p := range t.Specs[f.Spec].Fields {
			key = transform.AppendKey(key, p.Transform.ResultType(p.SourceType), f.Partition[i])
		}
		key = fmt.Appendf(key, "%016x", f.Contradicts)
		g, ok := byKey[string(key)]
		if !ok {
			g = &catalog.GroupSum{Spec: f.Spec, Partition: f.Partition, Contradicts: f.Contradicts}
			byKey[string(key)] = g
			keys = append(keys, string(key))
		}
		g.Files++
		g.Rows += f.Rows
		g.Bytes += f.Ref.Bytes
		for at := range f.Partition {
			if f.Contradicts&(1<<uint(at)) != 0 {
				if g.Liars == nil {
					g.Liars = map[int]string{}
				}
				g.Liars[at] = f.Ref.Path
			}
		}
	}
	slices.Sort(keys)
	out := make([]catalog.GroupSum, len(keys))
	for i, k := range keys {
		out[i] = *byKey[k]
	}
	return out
}
