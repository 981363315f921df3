package task

import (
	"context"
	"sort"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/transform"
)

// Options steer Build.
type Options struct {
	PackBytes int64 // aim for packs of this many bytes of data files; 0: one group per pack
	Workers   int   // how many packs run at once; packs are made small enough to keep all busy. At least 1
	// MemoryBytes is the limit of the whole process; 0: none.
	MemoryBytes int64
	Skew        Skew // "" is SkewAuto
}

// Build makes the graph of a plan from the surveys' file cursors.
func Build(ctx context.Context, p *spj.Physical, layouts map[*plan.Scan]*catalog.TableLayout, opts Options) (*Graph, error) {
	g, err := build(ctx, p, layouts, opts)
	if err == nil && Rehearse.Load() {
		return g.travel()
	}
	return g, err
}

func build(ctx context.Context, p *spj.Physical, layouts map[*plan.Scan]*catalog.TableLayout, opts Options) (*Graph, error) {
	g := &Graph{Output: p.Query.Output, Avoid: p.Query.Avoid, FirstRows: p.Query.FirstRows}
	for _, c := range p.Cores {
		core, err := buildCore(ctx, c, layouts, opts, p.Placed)
		if err != nil {
			return nil, err
		}
		g.Cores = append(g.Cores, *core)
	}
	for _, s := range p.Query.Scans {
		if p.IsRead(s) {
			continue
		}
		// The statistics of a file that is there twice would count twice.
		r, _ := newReader(s, layouts[s])
		if err := r.each(ctx, func(catalog.DataFile, File) error { return nil }); err != nil {
			return nil, err
		}
	}
	if p.Final == nil {
		return g, nil
	}
	g.Final = &Final{SQL: p.Final.SQL, Views: views(p.Final.Views)}
	for _, s := range p.Final.Scans {
		w, err := WholeOf(ctx, s, layouts[s])
		if err != nil {
			return nil, err
		}
		g.Final.Tables = append(g.Final.Tables, *w)
	}
	return g, nil
}

// WholeOf returns a scan with all files of its layout.
func WholeOf(ctx context.Context, s *plan.Scan, l *catalog.TableLayout) (*Whole, error) {
	r, in := newReader(s, l)
	w := &Whole{}
	err := r.each(ctx, func(_ catalog.DataFile, f File) error {
		w.Files = append(w.Files, f)
		return nil
	})
	w.Input = *in
	return w, err
}

func views(in []spj.View) []View {
	out := make([]View, len(in))
	for i, v := range in {
		out[i] = View(v)
	}
	return out
}

func fields(s *plan.Scan) []catalog.Field {
	out := make([]catalog.Field, len(s.Columns))
	for i, id := range s.Columns {
		out[i], _ = s.Field(id)
	}
	return out
}

// grouping collects a core's files by group.
type grouping struct {
	core       *Core
	scans      []*spj.ScanKeys
	everywhere []*plan.Scan
	byKey      map[string]int
	groups     []candidate
}

// candidate is a group that some table has files of, which matter.
type candidate struct {
	key    string
	values [][]byte
	files  [][]File // per table
}

func buildCore(ctx context.Context, c *spj.Core, layouts map[*plan.Scan]*catalog.TableLayout, opts Options, placed spj.Placed) (*Core, error) {
	g := &grouping{
		core: &Core{Name: c.Name, SQL: c.SQL, Short: shortSQL(c), Limit: c.Limit, Views: views(c.Views), Grows: c.Kind == spj.Complete || c.Kind == spj.Emitted}, byKey: map[string]int{},
	}
	c.Tree.Scans(func(k *spj.ScanKeys) { g.scans = append(g.scans, k) })
	c.Tree.ScansEverywhere(func(s *plan.Scan) { g.everywhere = append(g.everywhere, s) })
	for i, k := range c.Keys {
		g.core.Keys = append(g.core.Keys, Key{Text: g.scans[0].Conforms.Keys[i].String(), Type: k.Type})
	}
	for i, k := range g.scans {
		if err := g.collect(ctx, c, i, k, layouts[k.Scan]); err != nil {
			return nil, err
		}
	}
	for _, s := range g.everywhere {
		if err := g.spread(ctx, c, s, layouts[s]); err != nil {
			return nil, err
		}
	}
	g.sieves()
	g.core.Tree = g.plainTree(c.Tree)
	g.core.Dropped.Groups, g.core.Dropped.NullGroups = c.Dropped.Groups, c.Dropped.NullGroups
	g.assemble()
	if placed != nil {
		return g.core, g.core.packByTuple(placed, opts)
	}
	g.core.pack(opts)
	return g.core, nil
}

func shortSQL(c *spj.Core) string {
	if c.Short == nil {
		return ""
	}
	return c.Short.Core
}

// shortColumns returns the columns of a scan whose texts a core reads in short form.
func shortColumns(c *spj.Core, s *plan.Scan) (out []ShortColumn) {
	if c.Short == nil {
		return nil
	}
	for _, col := range c.Short.Columns {
		if col.Source == s.Source {
			out = append(out, ShortColumn{Field: catalog.FieldID(col.Index), As: col.ShortName()})
		}
	}
	return out
}

// widen converts a partition value to the core's type of it.
func widen(v transform.Value) transform.Value {
	if n, ok := v.(int32); ok {
		return int64(n)
	}
	return v
}

// collect assigns one table's files to groups by their tuples, each read through its file's own spec; those that lie in no
// one group are to be routed.
func (g *grouping) collect(ctx context.Context, c *spj.Core, at int, k *spj.ScanKeys, l *catalog.TableLayout) error {
	r, in := newReader(k.Scan, l)
	dropped := c.Dropped.Tables[at]
	t := Table{Files: k.Total.Files, Bytes: k.Total.Bytes, Dropped: dropped.Files, Short: shortColumns(c, k.Scan)}
	g.core.Dropped.Files += dropped.Files
	g.core.Dropped.Bytes += dropped.Bytes
	for _, s := range k.Conforms.Keys {
		t.Sources = append(t.Sources, Source{Field: s.Column.ID, Type: s.Column.Type.Primitive, Transform: s.Transform})
	}
	for _, f := range k.Also {
		t.Also = append(t.Also, f.ID)
	}
	err := r.each(ctx, func(f catalog.DataFile, file File) error {
		if n := len(k.Scan.Table.Specs[f.Spec].Fields); len(f.Partition) != n {
			return errs.New(errs.Corrupt, "group", f.Ref.Path, "the partition tuple has %d values for the %d fields of spec %d", len(f.Partition), n, f.Spec)
		}
		v := k.Conforms.Of(f.Spec, f.Partition, f.Contradicts)
		if !v.Conforms {
			t.Routed = append(t.Routed, file)
			return nil
		}
		if !c.Needs(at, v) {
			return nil
		}
		i, err := g.group(c.GroupKey(v.Values), v.Values)
		if err != nil {
			return errs.Wrap(errs.Corrupt, "group", f.Ref.Path, err)
		}
		g.groups[i].files[at] = append(g.groups[i].files[at], file)
		return nil
	})
	t.Input = *in
	if len(t.Routed) > 0 {
		for _, needed := range c.Strays {
			t.Strays = append(t.Strays, needed[at])
		}
	}
	g.core.Tables = append(g.core.Tables, t)
	return err
}

// spread adds a table that each pack reads whole.
func (g *grouping) spread(ctx context.Context, c *spj.Core, s *plan.Scan, l *catalog.TableLayout) error {
	r, in := newReader(s, l)
	t := Table{Short: shortColumns(c, s)}
	err := r.each(ctx, func(f catalog.DataFile, file File) error {
		t.Files++
		t.Bytes += f.Ref.Bytes
		t.Everywhere = append(t.Everywhere, file)
		return nil
	})
	t.Input = *in
	g.core.Tables = append(g.core.Tables, t)
	return err
}

// group returns the place of the group of such values, whose key is given.
func (g *grouping) group(key string, values []transform.Value) (int, error) {
	if i, ok := g.byKey[key]; ok {
		return i, nil
	}
	c := candidate{key: key, files: make([][]File, len(g.scans))}
	for i, value := range values {
		typ := g.core.Keys[i].Type
		if typ.Kind == transform.Long {
			value = widen(value)
		}
		enc, err := catalog.EncodeValue(typ, value)
		if err != nil {
			return 0, err
		}
		c.values = append(c.values, enc)
	}
	g.byKey[key] = len(g.groups)
	g.groups = append(g.groups, c)
	return len(g.groups) - 1, nil
}

// assemble makes a pack of each group, in the order of their keys.
func (g *grouping) assemble() {
	sort.Slice(g.groups, func(i, j int) bool { return g.groups[i].key < g.groups[j].key })
	for at, c := range g.groups {
		pack := Pack{Groups: []int{at}, Inputs: make([][]File, len(g.core.Tables))}
		for t, files := range c.files {
			for i := range files {
				files[i].Group = at
			}
			pack.Inputs[t] = files
			pack.Bytes += BytesOf(files)
		}
		g.core.Groups = append(g.core.Groups, Group{Values: c.values})
		g.core.Packs = append(g.core.Packs, pack)
	}
}

// BytesOf sums up the sizes of files.
func BytesOf(files []File) int64 {
	var n int64
	for _, f := range files {
		n += f.Ref.Bytes
	}
	return n
}
