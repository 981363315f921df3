package errs

import (
	"errors"
	"io/fs"
	"syscall"
)

// Lost returns the error of reading files that a table's metadata names: that one isn't there is damage to the table, Corrupt. Nobody
// asked for the file by its name.
func Lost(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Kind != NotFound {
		return err
	}
	lost := *e
	lost.Kind = Corrupt
	return &lost
}

// OfFile gives an operating system's error of a file a kind, and names the path as metadata spells it. It returns nil for a
// nil err.
func OfFile(op, path string, err error) error {
	if err == nil {
		return nil
	}
	kind, msg := Transient, ""
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		kind, msg = NotFound, "no such file"
	case errors.Is(err, fs.ErrExist):
		kind, msg = Exists, "it exists already"
	case errors.Is(err, fs.ErrPermission):
		kind, msg = Invalid, "permission denied"
	case errors.Is(err, syscall.EROFS):
		kind, msg = Invalid, "the file system is read-only"
	case errors.Is(err, syscall.EISDIR):
		kind, msg = Invalid, "it is a folder, not a file"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		kind = Resource
	}
	if msg == "" {
		return Wrap(kind, op, path, err)
	}
	return New(kind, op, path, "%s", msg)
}
