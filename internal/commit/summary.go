package commit

import (
	"maps"
	"strconv"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
)

// operation returns what the snapshot did, as the spec and Iceberg's own engines call it.
func (a *applier) operation() string {
	c := &a.change
	adds, removes := len(c.Add) > 0, len(c.Remove) > 0 || c.Replace != nil
	switch {
	case c.Kind == Append:
		return opAppend
	case c.Kind == Rewrite:
		return opReplace
	case c.Replace != nil && c.Replace.listed != nil:
		return opOverwrite
	case adds && !removes && len(c.AddDeletes) == 0:
		return opAppend
	case !adds:
		return opDelete
	}
	return opOverwrite
}

// totals are what a summary counts over the whole table, with what is added to and taken from each.
var totals = []struct{ total, added, removed string }{
	{"total-data-files", "added-data-files", "deleted-data-files"},
	{"total-records", "added-records", "deleted-records"},
	{"total-files-size", "added-files-size", "removed-files-size"},
	{"total-delete-files", "added-delete-files", "removed-delete-files"},
	{"total-position-deletes", "added-position-deletes", "removed-position-deletes"},
	{"total-equality-deletes", "added-equality-deletes", "removed-equality-deletes"},
}

// summary counts what the snapshot adds and removes and, where the head says its own totals, what there is then.
func (a *applier) summary(v *Version, head *OldSnapshot, made *contents) map[string]string {
	counts := map[string]int64{}
	changed := map[string]bool{}
	for _, part := range []struct {
		files []manifest.File
		count func(*manifest.File, map[string]int64)
	}{{a.change.Add, countAdded}, {a.change.AddDeletes, countAdded}, {made.removed, countRemoved}, {made.removedDeletes, countRemoved}} {
		for i := range part.files {
			f := &part.files[i]
			part.count(f, counts)
			changed[catalog.TupleKey(f.Spec, f.Partition)] = true
		}
	}
	out := a.properties(v)
	maps.DeleteFunc(counts, func(_ string, n int64) bool { return n == 0 })
	for what, n := range counts {
		out[what] = strconv.FormatInt(n, 10)
	}
	for what, n := range map[string]int{
		"changed-partition-count": len(changed), "manifests-created": made.created, "manifests-kept": made.kept, "manifests-replaced": made.replaced,
	} {
		out[what] = strconv.Itoa(n)
	}
	for _, t := range totals {
		if before, known := totalBefore(head, t.total); known && before+counts[t.added] >= counts[t.removed] {
			out[t.total] = strconv.FormatInt(before+counts[t.added]-counts[t.removed], 10)
		}
	}
	return out
}

func countAdded(f *manifest.File, counts map[string]int64) { count(f, counts, "added", "added") }

// countRemoved says deleted of data files and removed of all else, as Iceberg's own engines do.
func countRemoved(f *manifest.File, counts map[string]int64) { count(f, counts, "deleted", "removed") }

func count(f *manifest.File, counts map[string]int64, data, other string) {
	size := f.Bytes
	if f.Content == manifest.Data {
		counts[data+"-data-files"]++
		counts[data+"-records"] += f.Rows
		counts[other+"-files-size"] += size
		return
	}
	counts[other+"-delete-files"]++
	switch {
	case f.Content == manifest.EqualityDeletes:
		counts[other+"-equality-delete-files"]++
		counts[other+"-equality-deletes"] += f.Rows
	case isVector(f):
		counts[other+"-dvs"]++
		counts[other+"-position-deletes"] += f.Rows
		size = *f.Length
	default:
		counts[other+"-position-delete-files"]++
		counts[other+"-position-deletes"] += f.Rows
	}
	counts[other+"-files-size"] += size
}

func totalBefore(head *OldSnapshot, total string) (int64, bool) {
	if head == nil {
		return 0, true
	}
	n, err := strconv.ParseInt(head.Summary[total], 10, 64)
	return n, err == nil
}
