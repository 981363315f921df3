package task

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
	"github.com/tarndb/tarn/transform"
)

// LookOf returns a scan with all files of its layout, for a look at its rows before the statement that it is of is planned. What
// their partition tuples say of the columns that the statement reads is to be checked: the plan may leave such a file out by
// what another table has, and by the look's own values the other table leaves out what matches the rows that lie in a wrong one.
func LookOf(ctx context.Context, s *plan.Scan, l *catalog.TableLayout) (*Whole, error) {
	r, in := newReader(s, l)
	w := &Whole{Look: true}
	var keys []*layout.Conformity
	for _, f := range in.Fields {
		for _, t := range layout.Natives(l, f) {
			keys = append(keys, layout.NewConformity(s.Table, []layout.ScanKey{{Column: f, Transform: t}}))
			w.Claims = append(w.Claims, Claim{Source{f.ID, f.Type.Primitive, t}, map[int][]byte{}})
		}
	}
	err := r.each(ctx, func(f catalog.DataFile, file File) error {
		w.Files = append(w.Files, file)
		for i, k := range keys {
			v := k.Of(f.Spec, f.Partition, f.Contradicts)
			if !v.Conforms {
				continue
			}
			var err error
			if w.Claims[i].Values[len(w.Files)-1], err = catalog.EncodeValue(w.Claims[i].resultType(), v.Values[0]); err != nil {
				return err
			}
		}
		return nil
	})
	w.Input = *in
	return w, err
}

// resultType is the type of the source's transform's values.
func (s Source) resultType() transform.Type { return s.Transform.ResultType(s.Type) }

// Value returns what the claim says of the rows of the file at a place; false: nothing.
func (c Claim) Value(file int) (transform.Value, bool, error) {
	b, ok := c.Values[file]
	if !ok {
		return nil, false, nil
	}
	v, err := catalog.DecodeValue(c.resultType(), b)
	return v, true, err
}
