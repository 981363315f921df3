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
	core   *Core
	tree   *spj.Node
	scans  []*spj.ScanKeys
	byKey  map[string]int
	groups []candidate
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
	for _, s := range c.Slots {
		g.core.Keys = append(g.core.Keys, Key{Text: s.String(), Type: valueType(g.scans[0], len(g.core.Keys))})
	}
	for i, k := range g.scans {
		if err := g.collect(ctx, i, k, layouts[k.Scan]); err != nil {
			return nil, err
		}
	}
	g.choose()
	g.core.pack(opts)
	return g.core, nil
}

// valueType is the type in which a core's group values are written. Slots match by class, whose types write integers in
// 4 or 8 bytes: long holds both.
func valueType(k *spj.ScanKeys, slot int) transform.Type {
	s := k.Slots[slot]
	t := s.Transform.ResultType(s.Column.Type.Primitive)
	switch t.Kind {
	case transform.Int:
		return transform.Type{Kind: transform.Long}
	case transform.Fixed:
		return transform.Type{Kind: transform.Binary}
	case transform.Decimal:
		t.Precision = 38
	}
	return t
}

// widen converts a partition value to the core's type of it.
func widen(v transform.Value) transform.Value {
	if n, ok := v.(int32); ok {
		return int64(n)
	}
	return v
}

// collect assigns one table's files to groups by their tuples, each read through its file's own spec.
func (g *grouping) collect(ctx context.Context, at int, k *spj.ScanKeys, l *catalog.TableLayout) error {
	r, in := newReader(k.Scan, l)
	t := Table{}
	for _, s := range k.Slots {
		t.Sources = append(t.Sources, Source{Field: s.Column.ID, Type: s.Column.Type.Primitive, Transform: s.Transform})
	}
	err := r.each(ctx, func(f catalog.DataFile, file File) error {
		i, err := g.group(k, f)
		if err != nil {
			return err
		}
		t.Files++
		t.Bytes += f.Ref.Bytes
		g.groups[i].files[at] = append(g.groups[i].files[at], file)
		return nil
	})
	t.Input = *in
	g.core.Tables = append(g.core.Tables, t)
	return err
}

func (g *grouping) group(k *spj.ScanKeys, f catalog.DataFile) (int, error) {
	var key []byte
	c := candidate{files: make([][]File, len(g.scans))}
	for i, s := range k.Slots {
		at, ok := s.Fields[f.Spec]
		if !ok || at >= len(f.Partition) {
			return 0, errs.New(errs.Corrupt, "group", f.Ref.Path, "the tuple has no %s", s)
		}
		typ := g.core.Keys[i].Type
		value := f.Partition[at]
		if typ.Kind == transform.Long {
			value = widen(value)
		}
		key = transform.AppendKey(key, typ, value)
		c.null = append(c.null, value == nil)
		enc, err := catalog.EncodeValue(typ, value)
		if err != nil {
			return 0, errs.Wrap(errs.Corrupt, "group", f.Ref.Path, err)
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

// choose keeps the groups that can give rows, and in them the tables whose rows can matter.
func (g *grouping) choose() {
	sort.Slice(g.groups, func(i, j int) bool { return g.groups[i].key < g.groups[j].key })
	index := map[*plan.Scan]int{}
	for i, k := range g.scans {
		index[k.Scan] = i
	}
	for _, c := range g.groups {
		present := func(s *plan.Scan) bool { return len(c.files[index[s]]) > 0 }
		needed := make([]bool, len(g.scans))
		g.tree.Needed(present, c.null, func(s *plan.Scan) { needed[index[s]] = true })
		pack, any := Pack{Groups: []int{len(g.core.Groups)}, Inputs: make([][]File, len(g.scans))}, false
		for i, files := range c.files {
			if !needed[i] {
				g.core.Tables[i].Dropped += len(files)
				g.core.Dropped.Files += len(files)
				g.core.Dropped.Bytes += bytesOf(files)
				continue
			}
			for at := range files {
				files[at].Group = len(g.core.Groups)
			}
			pack.Inputs[i], any = files, any || len(files) > 0
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

func bytesOf(files []File) int64 {
	var n int64
	for _, f := range files {
		n += f.Ref.Bytes
	}
	return n
}
