package commit

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/survey"
	"github.com/tarndb/tarn/transform"
)

// removeData returns the data manifests without the files that the change removes, all of which must be there.
func (a *applier) removeData(ctx context.Context, v *Version, list []manifest.Info, out *contents) ([]manifest.Info, error) {
	c := &a.change
	if len(c.Remove) == 0 && c.Replace == nil {
		return list, nil
	}
	wanted := map[string]bool{}
	where := newPartitions(v)
	for _, f := range c.Remove {
		wanted[f.Ref.Path] = true
		where.add(f.Spec, f.Partition)
	}
	where.addRegion(c.Replace)
	matches := survey.NewCondition(catalog.Filter{}, v.Specs)
	if c.Replace != nil {
		matches = survey.NewCondition(c.Replace.filter, v.Specs)
	}
	drop := func(e *manifest.Entry) (bool, error) {
		if c.Replace == nil || wanted[e.Path] {
			return wanted[e.Path], nil
		}
		extent := c.Replace.extent(v.Specs[e.Spec], e.Partition)
		if extent == Part && matches.MayHold(e) {
			return false, a.fail(errs.Unsupported, "the data file %s of partition spec %d may hold rows to be replaced and others", e.Path, e.Spec).
				WithHint("rewrite the files of older partition specs first, or delete the rows by a condition")
		}
		return extent == All, nil
	}
	kept, removed, err := a.removeFrom(ctx, v, list, where, matches.Wants(), drop)
	if err != nil {
		return nil, err
	}
	for _, f := range removed {
		delete(wanted, f.Path)
	}
	for path := range wanted {
		return nil, a.gone("data file", path)
	}
	out.removed = removed
	return kept, nil
}

// requireReferenced fails with Conflict where a data file of which the change deletes rows by position is no part of the head. A
// writer that leaves out a file without a trace in its manifests passes validateDelta; its deleted rows would live on wherever it
// has put them, beside the new ones. What was decided on the head itself has seen the file there, and of rows that are only deleted
// the whole file may be.
func (a *applier) requireReferenced(ctx context.Context, v *Version, head *OldSnapshot, data []manifest.Info) error {
	if head == nil || len(a.change.Add) == 0 || a.change.Base != nil && int64(*a.change.Base) == head.ID {
		return nil
	}
	wanted, where := map[string]bool{}, newPartitions(v)
	for _, path := range a.change.Referenced {
		wanted[path] = true
		where.all = func(catalog.SpecID) bool { return true } // whose partitions nobody says
	}
	for _, d := range a.change.AddDeletes {
		if d.Referenced != "" {
			wanted[d.Referenced] = true
			where.add(d.Spec, d.Partition)
		}
	}
	found, err := a.sequences(ctx, data, wanted, where)
	for path := range wanted {
		if _, ok := found[path]; err == nil && !ok {
			err = a.conflict("the data file %s, of which the change deletes rows, is no longer part of the table", path)
		}
	}
	return err
}

// sequences returns the data sequence numbers of those data files, of some partitions, that are live.
func (a *applier) sequences(ctx context.Context, data []manifest.Info, wanted map[string]bool, where *partitions) (map[string]int64, error) {
	found := map[string]int64{}
	for i := range data {
		if len(found) == len(wanted) || !where.mayBeIn(&data[i]) {
			continue
		}
		err := a.reader.Visit(ctx, &data[i], manifest.StatColumns{}, func(e *manifest.Entry) error {
			if e.IsLive() && wanted[e.Path] {
				found[strings.Clone(e.Path)] = e.Sequence
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// isStale says whether a deletion vector is of a data file that came after it, of the same path. It deletes nothing (spec, "Scan
// Planning"), and makes room for one that does.
func (a *applier) isStale(ctx context.Context, v *Version, e *manifest.Entry, data []manifest.Info) (bool, error) {
	where := newPartitions(v)
	for _, f := range a.change.AddDeletes {
		if f.Referenced == e.Referenced {
			where.add(f.Spec, f.Partition)
		}
	}
	path, sequence := strings.Clone(e.Referenced), e.Sequence
	found, err := a.sequences(ctx, data, map[string]bool{path: true}, where)
	newer, ok := found[path]
	return ok && sequence < newer, err
}

// removeDeletes returns the delete manifests without the delete files that the change removes, and without those that have
// nothing to delete any more: what is of removed data files alone, or of replaced partitions. data are the data manifests.
func (a *applier) removeDeletes(ctx context.Context, v *Version, list, data []manifest.Info, out *contents) ([]manifest.Info, error) {
	c := &a.change
	wanted, targets, vectors := map[deleteKey]bool{}, map[string]bool{}, map[string]bool{}
	where := newPartitions(v)
	where.addRegion(c.Replace)
	for _, d := range c.RemoveDeletes {
		wanted[keyOf(&d)] = true
		where.add(d.Spec, d.Partition)
	}
	for _, f := range out.removed {
		targets[f.Path] = true
		where.add(f.Spec, f.Partition)
	}
	for _, f := range c.AddDeletes {
		if isVector(&f) {
			vectors[f.Referenced] = true
			where.add(f.Spec, f.Partition)
		}
	}
	drop := func(e *manifest.Entry) (bool, error) {
		d, err := survey.DeleteOf(e)
		if err != nil {
			return false, err
		}
		switch {
		case wanted[keyOf(&d)], d.Target != "" && targets[d.Target]:
			return true, nil
		case d.Kind == catalog.DeletionVector && vectors[d.Target]:
			if stale, err := a.isStale(ctx, v, e, data); stale || err != nil {
				return stale, err
			}
			return false, a.conflict("the data file %s has a deletion vector by now, in %s", d.Target, e.Path)
		}
		return c.Replace != nil && c.Replace.extent(v.Specs[e.Spec], e.Partition) == All, nil
	}
	paths := manifest.StatColumns{IDs: []int{int(catalog.DeletePathID)}}
	kept, removed, err := a.removeFrom(ctx, v, list, where, paths, drop)
	if err != nil {
		return nil, err
	}
	for i := range removed {
		e := manifest.Entry{File: removed[i]}
		d, err := survey.DeleteOf(&e)
		if err != nil {
			return nil, err
		}
		delete(wanted, keyOf(&d))
	}
	for key := range wanted {
		return nil, a.gone("delete file", key.path)
	}
	out.removedDeletes = removed
	return kept, nil
}

// deleteKey tells delete files apart: deletion vectors of one Puffin file have one path.
type deleteKey struct{ path, target string }

func keyOf(d *catalog.DeleteFile) deleteKey {
	if d.Kind == catalog.DeletionVector {
		return deleteKey{d.Ref.Path, d.Target}
	}
	return deleteKey{path: d.Ref.Path}
}

// removeFrom drops entries from those manifests that may have files of some partitions.
func (a *applier) removeFrom(ctx context.Context, v *Version, list []manifest.Info, where *partitions, wants manifest.StatColumns,
	drop func(*manifest.Entry) (bool, error),
) (kept []manifest.Info, removed []manifest.File, err error) {
	for i := range list {
		m := &list[i]
		if !where.mayBeIn(m) {
			kept = append(kept, *m)
			continue
		}
		now, err := a.rewrite(ctx, v, m, wants, drop)
		if err != nil {
			return nil, nil, err
		}
		kept, removed = append(kept, now.list...), append(removed, now.removed...)
	}
	return kept, removed, nil
}

// partitions are the partitions of the files that are looked for.
type partitions struct {
	specs  map[catalog.SpecID]catalog.PartitionSpec
	tuples map[catalog.SpecID]map[string][]transform.Value
	all    func(catalog.SpecID) bool // whether files of any partition of the spec are looked for; nil: of none
}

func newPartitions(v *Version) *partitions {
	return &partitions{specs: v.Specs, tuples: map[catalog.SpecID]map[string][]transform.Value{}}
}

func (p *partitions) add(spec catalog.SpecID, tuple []transform.Value) {
	if p.tuples[spec] == nil {
		p.tuples[spec] = map[string][]transform.Value{}
	}
	p.tuples[spec][catalog.TupleKey(spec, tuple)] = tuple
}

// addRegion adds the partitions of a region, if there is one: those that it lists, and any of the specs that it doesn't know
// beforehand.
func (p *partitions) addRegion(r *Region) {
	if r == nil {
		return
	}
	p.all = func(spec catalog.SpecID) bool { return r.listed == nil || spec != r.listed.spec }
	if r.listed != nil {
		for _, tuple := range r.listed.tuples {
			p.add(r.listed.spec, tuple)
		}
	}
}

// mayBeIn says whether a manifest's partition summaries leave room for files of one of the partitions.
func (p *partitions) mayBeIn(m *manifest.Info) bool {
	if p.all != nil && p.all(m.Spec) {
		return true
	}
	types := manifest.TupleTypes(p.specs[m.Spec])
	for _, tuple := range p.tuples[m.Spec] {
		if len(m.Partitions) != len(types) || len(tuple) != len(types) {
			return true
		}
		may := true
		for i, t := range types {
			may = may && (t.Kind == transform.None || survey.SummaryFacts(m.Partitions[i], t).MayHold(t, isValue(t, tuple[i])))
		}
		if may {
			return true
		}
	}
	return false
}

// isValue is the test that a partition value is v.
func isValue(t transform.Type, v transform.Value) transform.Predicate {
	switch {
	case v == nil:
		return transform.Predicate{Op: transform.IsNull}
	case transform.Predicate{Op: transform.IsNaN}.Eval(t, v):
		return transform.Predicate{Op: transform.IsNaN}
	}
	return transform.Predicate{Op: transform.EQ, Values: []transform.Value{v}}
}
