package write

import (
	"errors"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/transform"
)

// misplaced tells what to do about a row that isn't where its file is filed.
func misplaced(err error) error {
	var e *errs.Error
	if errors.As(err, &e) && e.Kind == errs.Corrupt {
		return e.WithHint("rewrite the file with a writer that follows the table's spec, or change rows by merge on read; SET tarn.verify_layout = off copies it as it is")
	}
	return err
}

// checks registers that each row of kept files is in the partition that it is filed under. Rows that aren't would be hidden from
// readers once more, in a file of ours.
func (w *worker) checks(open *exec.OpenFiles, s span, tuple []value) (checks []duck.ScanCheck, release func(), err error) {
	t := w.job.target
	var releases []func()
	release = func() {
		for _, r := range releases {
			r()
		}
	}
	if w.job.opts.Unverified || tuple == nil {
		return nil, release, nil
	}
	var files []string
	for file := s.first; file <= s.last; file++ {
		files = append(files, open.Path(file))
	}
	for i, f := range t.table.Spec().Fields {
		if len(f.Sources) != 1 || f.Transform.Op == transform.Void {
			continue
		}
		column, ok := t.table.Schema.Field(f.Sources[0])
		if kind := column.Type.Primitive.Kind; !ok || kind == transform.Float || kind == transform.Double || !f.Transform.CanApply(column.Type.Primitive) {
			continue
		}
		expected := make([]value, len(files))
		for at := range expected {
			expected[at] = tuple[i]
		}
		id, done, err := w.db.RegisterKeyCheck(duck.KeyCheck{
			Column: column.Name, Type: column.Type.Primitive, Transform: f.Transform, Files: files, Expected: expected,
		})
		if err != nil {
			release()
			return nil, nil, err
		}
		releases = append(releases, done)
		checks = append(checks, duck.ScanCheck{Field: column.ID, Check: id})
	}
	return checks, release, nil
}
