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
	made []string // the folders above it that weren't there, the innermost first
	lock *os.File // nil where the system gives none
	once sync.Once
	err  error
}

// Make makes a folder below parent, which is made when it is missing, or below the system's place for temporary files
// when parent is "". First it removes what dead processes left there.
func Make(parent string) (*Folder, error) {
	f, err := makeBelow(parent)
	for range vanished {
		if !errors.Is(err, os.ErrNotExist) {
			break
		}
		f, err = makeBelow(parent)
	}
	if err != nil {
		return nil, fault(parent, err)
	}
	return f, nil
}

// vanished is how often parent is made again, when another process that made it has removed it meanwhile.
const vanished = 10

func makeBelow(parent string) (f *Folder, err error) {
	f = &Folder{}
	if parent == "" {
		parent = os.TempDir()
	} else if f.made, err = makeParents(filepath.Clean(parent)); err != nil {
		f.removeParents()
		return nil, err
	}
	sweep(parent)
	if f.path, err = os.MkdirTemp(parent, prefix); err == nil {
		if f.lock, err = hold(f.path); err == nil {
			return f, nil
		}
		err = errors.Join(err, os.RemoveAll(f.path))
	}
	f.removeParents()
	return nil, err
}

// makeParents makes a folder and those above it where they are missing, and returns those that it made, the innermost first.
func makeParents(path string) (made []string, err error) {
	err = os.Mkdir(path, 0o700)
	if above := filepath.Dir(path); errors.Is(err, os.ErrNotExist) && above != path {
		if made, err = makeParents(above); err == nil {
			err = os.Mkdir(path, 0o700)
		}
	}
	if err == nil {
		return append([]string{path}, made...), nil
	}
	if info, failed := os.Stat(path); failed == nil && info.IsDir() {
		return made, nil
	}
	return made, err
}

// removeParents removes the folders that were made for this one, as far as nobody else has put anything there: another process may
// have its own in them. It then stays, for good, since that process found it there.
func (f *Folder) removeParents() {
	for _, path := range f.made {
		if err := syscall.Rmdir(path); err != nil && !errors.Is(err, os.ErrNotExist) { // os.Remove would take what is no folder, too
			return
		}
	}
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

// Remove removes the folder and all in it, and those above it that Make made and that are empty. It may be called more than once.
func (f *Folder) Remove() error {
	f.once.Do(func() {
		f.err = os.RemoveAll(f.path)
		if f.lock != nil {
			f.err = errors.Join(f.err, f.lock.Close()) // after the folder, so that nobody takes it for a dead process's
		}
		f.removeParents()
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
