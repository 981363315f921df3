//go:build linux || darwin

package scratch

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockName is the file in each folder that its process holds a lock on for as long as it lives.
const lockName = "lock"

// hold makes a folder's lock. The file gets its name when it is locked already, so that nobody sees it free. On a file
// system without locks there is none, and no file, and the folder is never taken for a dead process's.
func hold(folder string) (*os.File, error) {
	name := filepath.Join(folder, lockName)
	f, err := os.OpenFile(name+".new", os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil, errors.Join(f.Close(), os.Remove(name+".new"))
	}
	if err := os.Rename(name+".new", name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// take takes the lock of a dead process's folder; nil when the process lives, or when it isn't ours to take.
func take(folder string) *os.File {
	f, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = f.Close()
		return nil
	}
	return f
}
