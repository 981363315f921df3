package survey

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// Rest parts a layout into the data files that are Whole and of which take is true, and a layout of the others.
func Rest(ctx context.Context, l *catalog.TableLayout, take func(*catalog.DataFile) bool) (rest *catalog.TableLayout, whole []catalog.DataFile, err error) {
	taken := map[string]bool{}
	err = l.Files(ctx, func(f catalog.DataFile) error {
		if f.Whole && take(&f) {
			taken[f.Ref.Path], whole = true, append(whole, f)
		}
		return nil
	})
	if err != nil || len(whole) == 0 {
		return l, nil, err
	}
	out := *l
	out.Groups = slices.Clone(l.Groups)
	groups := map[string]*catalog.GroupSum{}
	for i := range out.Groups {
		g := &out.Groups[i]
		groups[groupKey(g.Spec, g.Partition, g.Contradicts)] = g
	}
	for i := range whole {
		f := &whole[i]
		g := groups[groupKey(f.Spec, f.Partition, f.Contradicts)]
		g.Files, g.Rows, g.Bytes = g.Files-1, g.Rows-f.Rows, g.Bytes-f.Ref.Bytes
		out.Counts.Files-- // it isn't ruled out
		out.Counts.Rows, out.Counts.Bytes = out.Counts.Rows-f.Rows, out.Counts.Bytes-f.Ref.Bytes
	}
	out.Groups = slices.DeleteFunc(out.Groups, func(g catalog.GroupSum) bool { return g.Files == 0 })
	out.Files = func(ctx context.Context, yield func(catalog.DataFile) error) error {
		return l.Files(ctx, func(f catalog.DataFile) error {
			if taken[f.Ref.Path] {
				return nil
			}
			return yield(f)
		})
	}
	return &out, whole, nil
}

func groupKey(spec catalog.SpecID, tuple []transform.Value, contradicts uint64) string {
	return string(binary.BigEndian.AppendUint64(catalog.AppendTupleKey(nil, spec, tuple), contradicts))
}
