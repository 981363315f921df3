package survey

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// liveDelete is a live entry of a delete manifest.
type liveDelete struct {
	catalog.DeleteFile
	encrypted bool
	guessed   bool // Target is what both bounds of the path are, and may be only the beginning of it
	global    bool // its spec has no partitions, so that equality deletes apply to files of every spec
}

// readDeletes reads the delete manifests and indexes what may apply to a data file that the filter leaves. Manifests
// aren't pruned by their partition summaries: a file-scoped delete applies by its path alone, whatever its partition.
func (s *scan) readDeletes(ctx context.Context, list []manifest.Info) (*deleteIndex, error) {
	var manifests []*manifest.Info
	for i := range list {
		m := &list[i]
		if live, known := m.Live(); m.Content == manifest.Data || known && live == 0 {
			continue
		}
		if s.specs[m.Spec] == nil {
			return nil, manifest.UnknownSpec(m)
		}
		manifests = append(manifests, m)
	}
	found := make([][]liveDelete, len(manifests))
	counts := make([]int, len(manifests))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(surveyWorkers)
	for i, m := range manifests {
		workers.Go(func() (err error) {
			found[i], counts[i], err = s.deletesIn(ctx, m)
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	index, err := newDeleteIndex(slices.Concat(found...))
	for _, n := range counts {
		index.live += n
	}
	return index, err
}

// deletesIn returns a manifest's delete files but those of partitions that the filter rules out, and how many are live.
func (s *scan) deletesIn(ctx context.Context, m *manifest.Info) (found []liveDelete, live int, err error) {
	ss := s.specs[m.Spec]
	err = s.entries.Visit(ctx, m, manifest.StatColumns{IDs: []int{int(catalog.DeletePathID)}}, func(e *manifest.Entry) error {
		if !e.IsLive() {
			return nil
		}
		live++
		d, err := deleteOf(e)
		if err != nil {
			return err
		}
		d.global = isUnpartitioned(ss.spec)
		if d.Target != "" || ss.cond.mayInPartition(e.Partition) {
			found = append(found, d)
		}
		return nil
	})
	return found, live, err
}

// isUnpartitioned says whether files of the spec are of no partition: it has no fields, or void ones alone.
func isUnpartitioned(spec catalog.PartitionSpec) bool {
	return !slices.ContainsFunc(spec.Fields, func(f catalog.PartitionField) bool { return f.Transform.Op != transform.Void })
}

// DeleteOf makes a delete file of an entry, whose Ref.Local isn't known yet. One that doesn't say what it deletes is Corrupt.
func DeleteOf(e *manifest.Entry) (catalog.DeleteFile, error) {
	d, err := deleteOf(e)
	return d.DeleteFile, err
}

// deleteOf makes a delete file of an entry, and refuses one that doesn't say what it deletes.
func deleteOf(e *manifest.Entry) (liveDelete, error) {
	d := liveDelete{encrypted: len(e.KeyMetadata) > 0, DeleteFile: catalog.DeleteFile{
		Ref:       catalog.FileRef{Path: e.Path, Bytes: e.Bytes},
		Format:    e.Format,
		Kind:      catalog.PositionDeletes,
		Spec:      e.Spec,
		Partition: e.Partition,
		Sequence:  e.Sequence,
		Rows:      e.Rows,
	}}
	var fault string
	switch {
	case e.Content == manifest.EqualityDeletes:
		d.Kind = catalog.EqualityDeletes
		fault = d.compares(e)
	case e.Format == catalog.Puffin:
		d.Kind = catalog.DeletionVector
		fault = d.points(e)
	default:
		d.Target, d.guessed = targetOf(e)
	}
	if fault != "" {
		return d, errs.New(errs.Corrupt, "read delete file", e.Path, "%s", fault)
	}
	return d, nil
}

// compares fills in the columns of equality deletes, or returns what is wrong.
func (d *liveDelete) compares(e *manifest.Entry) string {
	for _, id := range e.EqualityIDs {
		d.Equality = append(d.Equality, catalog.FieldID(id))
	}
	slices.Sort(d.Equality)
	d.Equality = slices.Compact(d.Equality)
	switch {
	case e.Format == catalog.Puffin:
		return "it is of format puffin, which holds no equality deletes"
	case len(d.Equality) == 0:
		return "its entry has no equality_ids, so that it isn't known which columns its rows compare"
	}
	return ""
}

// points fills in where a deletion vector lies and which file it is of, or returns what is wrong.
func (d *liveDelete) points(e *manifest.Entry) string {
	switch {
	case e.Referenced == "":
		return "the entry of the deletion vector has no referenced_data_file"
	case e.Offset == nil || e.Length == nil:
		return fmt.Sprintf("the entry of the deletion vector of %s has no content_offset or content_size_in_bytes", e.Referenced)
	case *e.Offset < 0 || *e.Length < 0 || *e.Offset > e.Bytes || *e.Length > e.Bytes-*e.Offset:
		return fmt.Sprintf("the deletion vector of %s lies at byte %d for %d bytes, in a file of %d", e.Referenced, *e.Offset, *e.Length, e.Bytes)
	}
	d.Target, d.Offset, d.Length = e.Referenced, *e.Offset, *e.Length
	return ""
}

// targetOf returns the only data file that position deletes are of, or "": what the entry names, or what both bounds of
// the path are. Those are a guess: bounds that were cut aren't equal where the upper one is raised, but some writers don't.
func targetOf(e *manifest.Entry) (path string, guessed bool) {
	if e.Referenced != "" {
		return e.Referenced, false
	}
	lower, ok := e.Lower[int(catalog.DeletePathID)]
	if upper, both := e.Upper[int(catalog.DeletePathID)]; ok && both && string(lower) == string(upper) && len(lower) > 0 {
		return string(lower), true
	}
	return "", false
}
