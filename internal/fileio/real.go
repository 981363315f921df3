package fileio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tarndb/tarn/internal/errs"
)

// Real returns where a path leads on this machine: absolute and without symbolic links, as far as it is there.
func Real(files Files, path string) (string, error) {
	local, err := files.Local(path)
	if err != nil {
		return "", err
	}
	if local, err = filepath.Abs(local); err != nil {
		return "", errs.Wrap(errs.Invalid, "resolve path", path, err)
	}
	missing := ""
	for {
		real, err := filepath.EvalSymlinks(local)
		if err == nil {
			return filepath.Join(real, missing), nil
		}
		above := filepath.Dir(local)
		if !errors.Is(err, fs.ErrNotExist) || above == local {
			return "", errs.OfFile("resolve path", path, err)
		}
		local, missing = above, filepath.Join(filepath.Base(local), missing)
	}
}

// LeadsInto says whether a path is a folder or leads into it, by whatever names both are known: through symbolic links, a second mount, or other
// letter case where the file system doesn't tell it apart. Neither need be there.
func LeadsInto(files Files, path, folder string) (bool, error) {
	real, err := Real(files, path)
	if err != nil {
		return false, err
	}
	into, err := Real(files, folder)
	if err != nil || IsWithin(real, into) {
		return err == nil, err
	}
	there, err := os.Stat(into)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, errs.OfFile("resolve path", folder, err)
	}
	for ; ; real = filepath.Dir(real) {
		if info, err := os.Stat(real); err == nil && os.SameFile(info, there) {
			return true, nil
		}
		if filepath.Dir(real) == real {
			return false, nil
		}
	}
}
