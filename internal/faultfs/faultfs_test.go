package faultfs

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

func TestEveryCallFailsOnce(t *testing.T) {
	f := New(fileio.Disk{})
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	calls := map[string]func() error{
		"make folder": func() error { return f.MakeFolder(t.Context(), dir+"/b") },
		"create":      func() error { return f.Create(t.Context(), path, []byte("x")) },
		"replace":     func() error { return f.Replace(t.Context(), path, []byte("y")) },
		"list":        func() error { _, err := f.List(t.Context(), dir); return err },
		"read":        func() error { _, err := fileio.Read(t.Context(), f, path); return err },
		"remove":      func() error { return f.Remove(t.Context(), path) },
		"stream": func() error {
			_, err := f.Stream(t.Context(), path+"s", func(w io.Writer) error {
				_, err := io.WriteString(w, "a")
				if err == nil {
					_, err = io.WriteString(w, "b")
				}
				return err
			})
			return err
		},
	}
	order := []string{"make folder", "create", "replace", "list", "read", "remove", "stream"}
	for k := 1; ; k++ {
		f.Fail(k, false)
		failed := 0
		for _, name := range order {
			if err := calls[name](); errors.Is(err, ErrInjected) {
				if failed++; errs.KindOf(err) != errs.Transient {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		f.Fail(0, false)
		_ = f.Remove(t.Context(), path)
		if left := f.Remove(t.Context(), path+"s"); (left == nil) != (k < 8 || failed == 0) {
			t.Errorf("after call %d of a stream: %v", k, left)
		}
		if failed == 0 {
			if k != 11 { // reading is opening and one read, and streaming is a call with two writes
				t.Errorf("%d calls failed", k-1)
			}
			break
		}
		if failed != 1 {
			t.Errorf("the fault of call %d came %d times", k, failed)
		}
	}
}

func TestFaultsAfterTheCall(t *testing.T) {
	f := New(fileio.Disk{})
	path := filepath.Join(t.TempDir(), "a")
	f.Fail(1, true)
	if err := f.Create(t.Context(), path, []byte("x")); !errors.Is(err, ErrInjected) || f.Fired() != "create "+path {
		t.Errorf("%v, %q", err, f.Fired())
	}
	if data, err := fileio.Read(t.Context(), f, path); err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
	f.Fail(1, true)
	if _, err := f.Open(t.Context(), path); !errors.Is(err, ErrInjected) {
		t.Errorf("%v", err)
	}
}
