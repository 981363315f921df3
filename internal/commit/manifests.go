package commit

import (
	"context"
	"fmt"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// contents are the manifests of a snapshot, and what its summary says of them.
type contents struct {
	list           []manifest.Info
	created, kept  int
	replaced       int
	removed        []manifest.File // data files
	removedDeletes []manifest.File
}

// made are the manifests that stand for others, and the files that they no longer have.
type made struct {
	list    []manifest.Info
	removed []manifest.File
}

// manifests makes the manifests of the snapshot: new ones first, then those of the head, as they are where nothing of them
// is removed and no merge is due. What a try writes serves the next one, too.
func (a *applier) manifests(ctx context.Context, v *Version, head *OldSnapshot) (*contents, error) {
	carried, err := a.carried(ctx, v, head)
	if err != nil {
		return nil, err
	}
	out := &contents{}
	var added []manifest.Info
	for _, data := range []bool{true, false} {
		list, err := a.newManifests(ctx, v, data)
		if err != nil {
			return nil, err
		}
		added = append(added, list...)
	}
	data, deletes := split(carried)
	if data, err = a.removeData(ctx, v, data, out); err != nil {
		return nil, err
	}
	if err := a.requireReferenced(ctx, v, head, data); err != nil {
		return nil, err
	}
	if deletes, err = a.removeDeletes(ctx, v, deletes, data, out); err != nil {
		return nil, err
	}
	rest := append(data, deletes...)
	if rest, err = a.merge(ctx, v, rest); err != nil {
		return nil, err
	}
	out.list = append(added, rest...)
	known := map[string]bool{}
	for _, m := range carried {
		known[m.Path] = true
	}
	for _, m := range out.list {
		if known[m.Path] {
			out.kept++
		} else {
			out.created++
		}
	}
	out.replaced = len(carried) - out.kept
	return out, nil
}

// carried returns the head's manifests that say something of the files that the table has. A manifest of deleted entries
// alone tells what the snapshot did that made it, and that snapshot has it still.
func (a *applier) carried(ctx context.Context, v *Version, head *OldSnapshot) ([]manifest.Info, error) {
	if head == nil {
		return nil, nil
	}
	list, err := head.Manifests(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		m := &list[i]
		if len(m.KeyMetadata) > 0 {
			return nil, fileio.Encrypted(m.Path)
		}
		if _, ok := v.Specs[m.Spec]; !ok {
			return nil, manifest.UnknownSpec(m)
		}
		if err := a.complete(ctx, v, m); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(list, func(m manifest.Info) bool {
		live, known := m.Live()
		return known && live == 0
	}), nil
}

// complete counts what is in a manifest whose list, of format version 1, doesn't say it. Later versions require it.
func (a *applier) complete(ctx context.Context, v *Version, m *manifest.Info) error {
	counts := []*int64{&m.AddedFiles, &m.ExistingFiles, &m.DeletedFiles, &m.AddedRows, &m.ExistingRows, &m.DeletedRows}
	if v.Format < 2 || !slices.ContainsFunc(counts, func(n *int64) bool { return *n < 0 }) {
		return nil
	}
	found := make([]int64, len(counts))
	err := a.reader.Visit(ctx, m, manifest.StatColumns{}, func(e *manifest.Entry) error {
		at := map[manifest.Status]int{manifest.Added: 0, manifest.Existing: 1, manifest.Deleted: 2}[e.Status]
		found[at]++
		found[at+3] += e.Rows
		return nil
	})
	for i, n := range counts {
		*n = found[i]
	}
	return err
}

func split(list []manifest.Info) (data, deletes []manifest.Info) {
	for _, m := range list {
		if m.Content == manifest.Data {
			data = append(data, m)
		} else {
			deletes = append(deletes, m)
		}
	}
	return data, deletes
}

// newManifests writes the manifests of the new data or delete files, spec by spec.
func (a *applier) newManifests(ctx context.Context, v *Version, data bool) ([]manifest.Info, error) {
	files, content, key := a.change.Add, manifest.Data, "new data files"
	if !data {
		files, content, key = a.change.AddDeletes, manifest.PositionDeletes, "new delete files"
	}
	bySpec := map[catalog.SpecID][]*manifest.Entry{}
	for _, f := range files {
		f.Partition = fitted(v.Specs[f.Spec], f.Partition)
		e := &manifest.Entry{Status: manifest.Added, SnapshotID: &a.id, Sequence: manifest.NoSequence, FileSequence: manifest.NoSequence, File: f}
		if data && a.change.DataSequence != nil {
			e.Sequence = *a.change.DataSequence
		}
		bySpec[f.Spec] = append(bySpec[f.Spec], e)
	}
	return a.once(key, func() (made, error) {
		list, err := a.bundle(ctx, v, content, bySpec)
		return made{list: list}, err
	})
}

// fitted returns a tuple with its values in their fields' own types, which checkPartition found to fit.
func fitted(spec catalog.PartitionSpec, tuple []transform.Value) []transform.Value {
	out := make([]transform.Value, len(tuple))
	types, err := manifest.WrittenTypes(spec)
	if err != nil {
		return tuple // which checkPartition has refused
	}
	for i, t := range types {
		if v, ok := manifest.FitValue(t, tuple[i]); ok {
			out[i] = v
		}
	}
	return out
}

// once returns what an earlier try made of the same, or makes it.
func (a *applier) once(key string, make func() (made, error)) ([]manifest.Info, error) {
	known, ok := a.made[key]
	if !ok {
		var err error
		if known, err = make(); err != nil {
			return nil, err
		}
		a.made[key] = known
	}
	return known.list, nil
}

// fullEntries is about how many entries a manifest of a partitioned table gets. A reader who wants one partition of many reads
// few such manifests; with fewer entries each, the list of manifests would be what is long.
const fullEntries = 1000

// bundle writes entries as manifests, sorted by partition. A manifest ends where a partition does, once it is half full, so
// that few manifests have files of one partition.
func (a *applier) bundle(ctx context.Context, v *Version, content manifest.Content, bySpec map[catalog.SpecID][]*manifest.Entry) ([]manifest.Info, error) {
	target, err := longProperty(v.Properties, manifestBytesProperty, defaultManifestBytes)
	if err != nil {
		return nil, err
	}
	var out []manifest.Info
	for _, id := range sortedKeys(bySpec) {
		entries := bySpec[id]
		sortByPartition(entries, v.Specs[id])
		for len(entries) > 0 {
			m, n, err := a.writeManifest(ctx, v, content, id, entries, target)
			if err != nil {
				return nil, err
			}
			out, entries = append(out, m), entries[n:]
		}
	}
	return out, nil
}

// writeManifest writes a manifest of the first entries, at least one, and returns how many it took.
func (a *applier) writeManifest(ctx context.Context, v *Version, content manifest.Content, spec catalog.SpecID, entries []*manifest.Entry, target int64,
) (manifest.Info, int, error) {
	w, err := manifest.NewWriter(manifest.Header{
		Version: v.Format, Content: content, Spec: v.Specs[spec], SpecJSON: v.SpecJSON[spec], SchemaJSON: v.SchemaJSON,
	}, a.id)
	if err != nil {
		return manifest.Info{}, 0, err
	}
	taken := 0
	for taken < len(entries) && (taken == 0 || int64(w.Len()) < target && !isFull(entries, taken)) {
		if err := w.Add(entries[taken]); err != nil {
			return manifest.Info{}, 0, err
		}
		taken++
	}
	path := fileio.Under(v.Folder, fmt.Sprintf("%s-m%d.avro", a.commitID, len(a.written)))
	data, m, err := w.Finish(path)
	if err != nil {
		return manifest.Info{}, 0, err
	}
	return m, taken, a.write(ctx, path, data)
}

// isFull says whether a manifest with the first entries, so many of them, shouldn't get the next one.
func isFull(entries []*manifest.Entry, taken int) bool {
	if taken < fullEntries/2 || samePartition(entries[taken-1], entries[taken]) {
		return false
	}
	end := taken
	for end < len(entries) && end <= fullEntries && samePartition(entries[taken], entries[end]) {
		end++
	}
	return end > fullEntries
}

func samePartition(a, b *manifest.Entry) bool {
	return catalog.TupleKey(a.Spec, a.Partition) == catalog.TupleKey(b.Spec, b.Partition)
}

// gone is the Conflict of files that should be removed and aren't there.
func (a *applier) gone(what, path string) error {
	return a.conflict("the %s %s, which the change removes, is no longer part of the table", what, path)
}

// rewrite returns manifests that stand for m without the entries that drop says, which become deleted ones of the snapshot.
// Where there are none m stands for itself.
func (a *applier) rewrite(ctx context.Context, v *Version, m *manifest.Info, wants manifest.StatColumns, drop func(*manifest.Entry) (bool, error),
) (made, error) {
	if known, ok := a.made[m.Path]; ok {
		return known, nil
	}
	hits := false
	err := a.reader.Visit(ctx, m, wants, func(e *manifest.Entry) error {
		if !e.IsLive() {
			return nil
		}
		yes, err := drop(e)
		hits = hits || yes
		return err
	})
	if err != nil {
		return made{}, err
	}
	out := made{list: []manifest.Info{*m}}
	if hits {
		if out, err = a.without(ctx, v, m, drop); err != nil {
			return made{}, err
		}
	}
	a.made[m.Path] = out
	return out, nil
}

// without writes m again.
func (a *applier) without(ctx context.Context, v *Version, m *manifest.Info, drop func(*manifest.Entry) (bool, error)) (made, error) {
	var out made
	entries := map[catalog.SpecID][]*manifest.Entry{}
	err := a.reader.Visit(ctx, m, manifest.StatColumns{All: true}, func(e *manifest.Entry) error {
		if !e.IsLive() {
			return nil
		}
		dropped, err := drop(e)
		if err != nil {
			return err
		}
		c := e.Clone()
		if c.Status = manifest.Existing; dropped {
			c.Status, c.SnapshotID = manifest.Deleted, &a.id
			out.removed = append(out.removed, c.File)
		}
		entries[m.Spec] = append(entries[m.Spec], c)
		return nil
	})
	if err == nil {
		out.list, err = a.bundle(ctx, v, m.Content, entries)
	}
	return out, err
}
