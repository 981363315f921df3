package datafile

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/catalog"
)

// deletes finds out how the delete files are read. Deletion vectors have no columns: who reads them checks them.
func (p *preparation) deletes(ctx context.Context, equality map[catalog.FieldID]catalog.EqualityColumn) ([]catalog.DeleteFile, error) {
	out := slices.Clone(p.layout.Deletes)
	judges := map[string]*judge{}
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(prepareWorkers())
	for i := range out {
		d := &out[i]
		if d.Kind == catalog.DeletionVector {
			continue
		}
		key := fmt.Sprint(d.Kind, d.Equality)
		j, ok := judges[key]
		if !ok {
			j = newJudge(p.plain.table, catalog.PositionDeleteColumns())
			if d.Kind == catalog.EqualityDeletes {
				j.wants = comparedFields(d.Equality, equality)
			}
			j.strict = true
			judges[key] = j
		}
		workers.Go(func() error { return p.deleteFile(ctx, j, d) })
	}
	return out, workers.Wait()
}

func (p *preparation) deleteFile(ctx context.Context, j *judge, d *catalog.DeleteFile) error {
	r, err := p.readingOf(ctx, j, "read delete file", source{d.Ref, d.Format, d.Rows})
	if err != nil {
		return err
	}
	d.Shape = r.shape
	if r.copied {
		d.Ref.Local, d.Format = p.copies.path(j, d.Ref.Path), catalog.Parquet
	}
	return nil
}

// comparedFields returns what a file of equality deletes has to have: the columns of its fields, and of a struct only the
// fields that are compared.
func comparedFields(ids []catalog.FieldID, equality map[catalog.FieldID]catalog.EqualityColumn) []catalog.Field {
	var out []catalog.Field
	for _, id := range ids {
		if root := equality[id].Root; !isWanted(out, root.ID) {
			out = append(out, prunedTo(root, ids))
		}
	}
	return out
}

// prunedTo leaves of structs only the fields with the IDs, and what they lie in.
func prunedTo(f catalog.Field, ids []catalog.FieldID) catalog.Field {
	if f.Type.Nested != catalog.Struct {
		return f
	}
	var kept []catalog.Field
	for _, inner := range f.Type.Fields {
		if slices.ContainsFunc(ids, func(id catalog.FieldID) bool { _, ok := pathTo(inner, id); return ok }) {
			kept = append(kept, prunedTo(inner, ids))
		}
	}
	f.Type.Fields = kept
	return f
}
