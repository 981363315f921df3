package errs

import (
	"errors"
	"io/fs"
	"testing"
)

func TestFileErrorsHaveKinds(t *testing.T) {
	for cause, kind := range map[error]Kind{
		fs.ErrNotExist: NotFound, fs.ErrPermission: Invalid, fs.ErrExist: Exists, errors.New("injected fault"): Transient,
	} {
		if err := OfFile("open", "/x", cause); KindOf(err) != kind {
			t.Errorf("%v becomes %v", cause, err)
		}
	}
}
