package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/tarndb/tarn/internal/errs"
)

// prefix begins the names of our folders.
const prefix = "tarn-scratch-"

// Folder is a folder of this process's own. It is safe for concurrent use.
type Folder struct {
	path string
	lock *os.File // nil where the system gives none
	once sync.Once
	err  error
}

// Make makes a folder below parent, which is made when it is missing, or below the system's place for temporary files
// when parent is "". First it removes what dead processes left there.
func Make(parent string) (*Folder, error) {
	if parent == "" {
		parent = os.TempDir()
	} else if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fault(parent, err)
	}
	sweep(parent)
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, fault(parent, err)
	}
	lock, err := hold(path)
	if err != nil {
		return nil, errors.Join(fault(parent, err), os.RemoveAll(path))
	}
	return &Folder{path: path, lock: lock}, nil
}

// fault is the error of a folder that can't be made: a full disk is one of resources, anything else the caller's.
func fault(parent string, err error) error {
	kind := errs.Invalid
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EMFILE) {
		kind = errs.Resource
	}
	return errs.Wrap(kind, "make temporary folder in", parent, err)
}

// Path returns where the folder is.
func (f *Folder) Path() string { return f.path }

// Remove removes the folder and all in it. It may be called more than once.
func (f *Folder) Remove() error {
	f.once.Do(func() {
		f.err = os.RemoveAll(f.path)
		if f.lock != nil {
			f.err = errors.Join(f.err, f.lock.Close()) // after the folder, so that nobody takes it for a dead process's
		}
	})
	return f.err
}

// sweep removes the folders below parent whose processes are dead: the system let go of their locks. What can't be
// removed stays for the next one to try; it is in nobody's way.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // making a folder there will say why
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		if lock := take(path); lock != nil {
			_ = os.RemoveAll(path)
			_ = lock.Close()
		}
	}
}
