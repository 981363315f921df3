package faultfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// ErrInjected is the cause of every fault.
var ErrInjected = errors.New("injected fault")

// Files are files whose k-th call fails. They are safe for concurrent use.
type Files struct {
	fileio.Files

	mu    sync.Mutex
	left  int // calls until the fault; 0 for none
	after bool
	fired string // the call that failed
}

var _ fileio.Files = (*Files)(nil)

// New returns files that don't fail yet.
func New(files fileio.Files) *Files { return &Files{Files: files} }

// Fail makes the k-th call from now on fail, the first for k = 1: before it does anything, or after it has done all. A read
// fails before. A k of 0 makes none fail.
func (f *Files) Fail(k int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.after, f.fired = k, after, ""
}

// Fired returns the call that failed, such as "create /t/metadata/v2.metadata.json"; "" when none has.
func (f *Files) Fired() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// do makes a call, or fails.
func (f *Files) do(op, path string, call func() error) error {
	f.mu.Lock()
	hit := f.left == 1
	if f.left > 0 {
		f.left--
	}
	if hit {
		f.fired = op + " " + path
	}
	after := f.after
	f.mu.Unlock()
	switch {
	case !hit:
		return call()
	case after:
		return errors.Join(f.fault(op, path), call())
	}
	return f.fault(op, path)
}

func (f *Files) fault(op, path string) error {
	return errs.Wrap(errs.Transient, op, path, fmt.Errorf("%w", ErrInjected))
}

// Open implements fileio.Files.
func (f *Files) Open(ctx context.Context, path string) (opened fileio.File, err error) {
	err = f.do("open", path, func() error {
		opened, err = f.Files.Open(ctx, path)
		return err
	})
	if err != nil {
		if opened != nil {
			err = errors.Join(err, opened.Close())
		}
		return nil, err
	}
	return &file{File: opened, files: f, path: path}, nil
}

// Create implements fileio.Files.
func (f *Files) Create(ctx context.Context, path string, data []byte) error {
	return f.do("create", path, func() error { return f.Files.Create(ctx, path, data) })
}

// Replace implements fileio.Files.
func (f *Files) Replace(ctx context.Context, path string, data []byte) error {
	return f.do("replace", path, func() error { return f.Files.Replace(ctx, path, data) })
}

// Stream implements fileio.Files. Each piece that is written is a call of its own.
func (f *Files) Stream(ctx context.Context, path string, write func(io.Writer) error) (bytes int64, err error) {
	err = f.do("stream", path, func() (err error) {
		bytes, err = f.Files.Stream(ctx, path, func(to io.Writer) error { return write(&writer{to, f, path}) })
		return err
	})
	return bytes, err
}

// List implements fileio.Files.
func (f *Files) List(ctx context.Context, folder string) (entries []fs.DirEntry, err error) {
	err = f.do("list", folder, func() (err error) {
		entries, err = f.Files.List(ctx, folder)
		return err
	})
	return entries, err
}

// MakeFolder implements fileio.Files.
func (f *Files) MakeFolder(ctx context.Context, folder string) error {
	return f.do("make folder", folder, func() error { return f.Files.MakeFolder(ctx, folder) })
}

// Remove implements fileio.Files.
func (f *Files) Remove(ctx context.Context, path string) error {
	return f.do("remove", path, func() error { return f.Files.Remove(ctx, path) })
}

type writer struct {
	to    io.Writer
	files *Files
	path  string
}

func (w *writer) Write(p []byte) (n int, err error) {
	err = w.files.do("write", w.path, func() (err error) {
		n, err = w.to.Write(p)
		return err
	})
	return n, err
}

type file struct {
	fileio.File
	files *Files
	path  string
}

func (f *file) ReadAt(p []byte, at int64) (n int, err error) {
	err = f.files.do("read", f.path, func() (err error) {
		n, err = f.File.ReadAt(p, at)
		return err
	})
	return n, err
}
