package task

import (
	"context"
	"slices"
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
	g := &Graph{Output: p.Query.Output, Avoid: p.Query.Avoid}
	for _, c := range p.Cores {
		core, err := buildCore(ctx, c, layouts, opts)
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
		r, in := newReader(s, layouts[s])
		var files []File
		err := r.each(ctx, func(_ catalog.DataFile, f File) error {
			files = append(files, f)
			return nil
		})
		if err != nil {
			return nil, err
		}
		g.Final.Tables = append(g.Final.Tables, Whole{Input: *in, Files: files})
	}
	return g, nil
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
	tree       *spj.Node
	scans      []*spj.ScanKeys
	everywhere []*plan.Scan
	byKey      map[string]int
	groups     []candidate
}

// candidate is a group that some table has files of.
type candidate struct {
	key    string
	values [][]byte
	null   []bool
	files  [][]File // per table
}

func buildCore(ctx context.Context, c *spj.Core, layouts map[*plan.Scan]*catalog.TableLayout, opts Options) (*Core, error) {
	g := &grouping{
		core: &Core{Name: c.Name, SQL: c.SQL, Limit: c.Limit, Views: views(c.Views), Grows: c.Kind == spj.Complete || c.Kind == spj.Emitted}, tree: c.Tree, byKey: map[string]int{},
	}
	c.Tree.Scans(func(k *spj.ScanKeys) { g.scans = append(g.scans, k) })
	c.Tree.ScansEverywhere(func(s *plan.Scan) { g.everywhere = append(g.everywhere, s) })
	for i, k := range c.Keys {
		g.core.Keys = append(g.core.Keys, Key{Text: g.scans[0].Conforms.Keys[i].String(), Type: k.Type})
	}
	for i, k := range g.scans {
		if err := g.collect(ctx, i, k, layouts[k.Scan]); err != nil {
			return nil, err
		}
	}
	for _, s := range g.everywhere {
		if err := g.spread(ctx, s, layouts[s]); err != nil {
			return nil, err
		}
	}
	g.core.Tree = g.plainTree(c.Tree)
	g.choose()
	g.strays()
	g.core.pack(opts)
	return g.core, nil
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
func (g *grouping) collect(ctx context.Context, at int, k *spj.ScanKeys, l *catalog.TableLayout) error {
	r, in := newReader(k.Scan, l)
	t := Table{}
	for _, s := range k.Conforms.Keys {
		t.Sources = append(t.Sources, Source{Field: s.Column.ID, Type: s.Column.Type.Primitive, Transform: s.Transform})
	}
	err := r.each(ctx, func(f catalog.DataFile, file File) error {
		t.Files++
		t.Bytes += f.Ref.Bytes
		if n := len(k.Scan.Table.Specs[f.Spec].Fields); len(f.Partition) != n {
			return errs.New(errs.Corrupt, "group", f.Ref.Path, "the partition tuple has %d values for the %d fields of spec %d", len(f.Partition), n, f.Spec)
		}
		v := k.Conforms.Of(f.Spec, f.Partition, f.Contradicts)
		if !v.Conforms {
			t.Routed = append(t.Routed, file)
			return nil
		}
		i, err := g.group(v.Values)
		if err != nil {
			return errs.Wrap(errs.Corrupt, "group", f.Ref.Path, err)
		}
		g.groups[i].files[at] = append(g.groups[i].files[at], file)
		return nil
	})
	t.Input = *in
	g.core.Tables = append(g.core.Tables, t)
	return err
}

// spread adds a table that each pack reads whole.
func (g *grouping) spread(ctx context.Context, s *plan.Scan, l *catalog.TableLayout) error {
	r, in := newReader(s, l)
	t := Table{}
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

// group returns the place of the group of such values.
func (g *grouping) group(values []transform.Value) (int, error) {
	var key []byte
	c := candidate{files: make([][]File, len(g.scans))}
	for i, value := range values {
		typ := g.core.Keys[i].Type
		if typ.Kind == transform.Long {
			value = widen(value)
		}
		key = transform.AppendKey(key, typ, value)
		c.null = append(c.null, value == nil)
		enc, err := catalog.EncodeValue(typ, value)
		if err != nil {
			return 0, err
		}
		c.values = append(c.values, enc)
	}
	if i, ok := g.byKey[string(key)]; ok {
		return i, nil
	}
	c.key = string(key)
	g.byKey[c.key] = len(g.groups)
	g.groups = append(g.groups, c)
	return len(g.groups) - 1, nil
}

// choose keeps the groups that can give rows, and in them the tables whose rows can matter. A table with routed files may
// have rows of any group.
func (g *grouping) choose() {
	sort.Slice(g.groups, func(i, j int) bool { return g.groups[i].key < g.groups[j].key })
	for _, c := range g.groups {
		needed := g.needed(c.null, func(t int) bool { return len(c.files[t]) > 0 || len(g.core.Tables[t].Routed) > 0 })
		pack, any := Pack{Groups: []int{len(g.core.Groups)}, Inputs: make([][]File, len(g.core.Tables))}, false
		for i, files := range c.files {
			any = any || needed[i]
			if !needed[i] {
				g.core.Tables[i].Dropped += len(files)
				g.core.Dropped.Files += len(files)
				g.core.Dropped.Bytes += bytesOf(files)
				continue
			}
			for at := range files {
				files[at].Group = len(g.core.Groups)
			}
			pack.Inputs[i] = files
			pack.Bytes += bytesOf(files)
		}
		if !any {
			g.core.Dropped.Groups++
			if slices.Contains(c.null, true) {
				g.core.Dropped.NullGroups++
			}
			continue
		}
		g.core.Groups = append(g.core.Groups, Group{Values: c.values})
		g.core.Packs = append(g.core.Packs, pack)
	}
}

// needed returns which tables' rows matter in a group, when present tells which may have some.
func (g *grouping) needed(null []bool, present func(table int) bool) []bool {
	index := map[*plan.Scan]int{}
	for i, k := range g.scans {
		index[k.Scan] = i
	}
	out := make([]bool, len(g.scans))
	g.tree.Needed(func(s *plan.Scan) bool { return present(index[s]) }, null, func(s *plan.Scan) { out[index[s]] = true })
	return out
}

// strays finds out which routed rows of no group of the core can matter. Only tables with routed files have rows there.
func (g *grouping) strays() {
	isRouted := func(t int) bool { return len(g.core.Tables[t].Routed) > 0 }
	for mask := range 1 << len(g.core.Keys) {
		null := make([]bool, len(g.core.Keys))
		for k := range null {
			null[k] = mask&(1<<k) != 0
		}
		for t, needed := range g.needed(null, isRouted) {
			if isRouted(t) {
				g.core.Tables[t].Strays = append(g.core.Tables[t].Strays, needed)
			}
		}
	}
}

func bytesOf(files []File) int64 {
	var n int64
	for _, f := range files {
		n += f.Ref.Bytes
	}
	return n
}
