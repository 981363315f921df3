package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tarndb/tarn/internal/errs"
)

// File is an output file that appears whole or not at all: it is written beside its place and moved there by Commit.
type File struct {
	*os.File
	path string // where Commit moves it, or "" for a device or a pipe, which is written in place
}

// Create starts a file. One of Commit and Abort must follow.
func Create(path string) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, errs.New(errs.Invalid, "create", path, "it is a folder")
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, "create", path, err)
		}
		return &File{File: f}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		kind := errs.Invalid
		if errors.Is(err, fs.ErrNotExist) {
			kind = errs.NotFound
		}
		return nil, errs.Wrap(kind, "create", path, err)
	}
	return &File{File: f, path: path}, nil
}

// Commit puts the file into its place.
func (f *File) Commit() error {
	if f.path == "" {
		return errs.Wrap(errs.Resource, "write", f.Name(), f.Close())
	}
	err := f.Chmod(0o644) // CreateTemp's 0600 would keep others from reading what is no secret
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		f.Abort()
		return errs.Wrap(errs.Resource, "write", f.path, err)
	}
	return nil
}

// Abort removes what was written. After Commit it does nothing.
func (f *File) Abort() {
	_ = f.Close() // it may be closed already, and its content is thrown away
	if f.path != "" {
		_ = os.Remove(f.Name())
	}
}
