package commit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// The defaults of the table properties, which are Iceberg's own.
const (
	defaultManifestBytes = 8 << 20
	defaultMinToMerge    = 100
)

// merge writes small manifests of earlier snapshots as fewer ones, sorted by partition, once there are so many of one spec and
// content as the table's properties say. Manifests that are large enough stay as they are, so that an entry is written again
// but once or twice in its life. The snapshot's own manifests are left for a later one to merge. So are those that can't be merged:
// one of them is damaged, or has a partition whose type nobody can tell any more.
func (a *applier) merge(ctx context.Context, v *Version, list []manifest.Info) ([]manifest.Info, error) {
	if !catalog.IsSet(v.Properties, "commit.manifest-merge.enabled", true) {
		return list, nil
	}
	least, err := numberProperty(v.Properties, minToMergeProperty, defaultMinToMerge)
	if err != nil {
		return nil, err
	}
	target, err := longProperty(v.Properties, manifestBytesProperty, defaultManifestBytes)
	if err != nil {
		return nil, err
	}
	type group struct {
		spec    catalog.SpecID
		content manifest.Content
	}
	small := map[group][]manifest.Info{}
	var out []manifest.Info
	for _, m := range list {
		if a.isSmall(&m, target) {
			g := group{m.Spec, m.Content}
			small[g] = append(small[g], m)
		}
	}
	merged := map[group]bool{}
	for _, m := range list {
		g := group{m.Spec, m.Content}
		switch {
		case !a.isSmall(&m, target) || len(small[g]) < max(2, int(least)):
			out = append(out, m)
		case !merged[g]:
			merged[g] = true
			now, err := a.mergeAll(ctx, v, small[g])
			switch errs.KindOf(err) {
			case errs.Unsupported, errs.Corrupt, errs.NotFound:
				now, err = small[g], nil // the change itself doesn't need them
			}
			if err != nil {
				return nil, err
			}
			out = append(out, now...)
		}
	}
	return out, nil
}

// isSmall says whether a manifest is an earlier snapshot's, and less than half of what a new one gets.
func (a *applier) isSmall(m *manifest.Info, target int64) bool {
	live, known := m.Live()
	return m.SnapshotID != nil && *m.SnapshotID != a.id && m.Length < target/2 && (!known || live < fullEntries/2)
}

// mergeAll writes the live entries of manifests of one spec and content, which the manifests before had.
func (a *applier) mergeAll(ctx context.Context, v *Version, list []manifest.Info) ([]manifest.Info, error) {
	var paths []string
	for _, m := range list {
		paths = append(paths, m.Path)
	}
	return a.once(strings.Join(paths, "\n"), func() (made, error) {
		entries := map[catalog.SpecID][]*manifest.Entry{}
		for i := range list {
			err := a.reader.Visit(ctx, &list[i], manifest.StatColumns{All: true}, func(e *manifest.Entry) error {
				if e.IsLive() {
					c := e.Clone()
					c.Status = manifest.Existing
					entries[list[i].Spec] = append(entries[list[i].Spec], c)
				}
				return nil
			})
			if err != nil {
				return made{}, err
			}
		}
		out, err := a.bundle(ctx, v, list[0].Content, entries)
		return made{list: out}, err
	})
}

func sortedKeys(m map[catalog.SpecID][]*manifest.Entry) []catalog.SpecID {
	return slices.Sorted(maps.Keys(m))
}

// sortByPartition puts files of one partition beside each other, and partitions in the order of their values, NULL first.
func sortByPartition(entries []*manifest.Entry, spec catalog.PartitionSpec) {
	types := manifest.TupleTypes(spec)
	slices.SortStableFunc(entries, func(x, y *manifest.Entry) int {
		for i, t := range types {
			if c := compareValues(t, x.Partition[i], y.Partition[i]); c != 0 {
				return c
			}
		}
		return 0
	})
}

func compareValues(t transform.Type, x, y transform.Value) int {
	switch {
	case x == nil || y == nil:
		return cmp.Compare(rank(x), rank(y))
	case t.Kind == transform.None:
		return strings.Compare(catalog.TupleKey(0, []transform.Value{x}), catalog.TupleKey(0, []transform.Value{y}))
	}
	return transform.Compare(t, x, y)
}

func rank(v transform.Value) int {
	if v == nil {
		return 0
	}
	return 1
}
