package main

import (
	"os"
	"sync"

	"github.com/tarndb/tarn/internal/errs"
)

// tempFolder is the process's own folder for what doesn't fit into memory. It is made when first asked for.
type tempFolder struct {
	mu   sync.Mutex
	path string
}

// tempDir makes the folder below --temp, or the system's own place.
func (a *app) tempDir() (string, error) {
	a.temp.mu.Lock()
	defer a.temp.mu.Unlock()
	if a.temp.path != "" {
		return a.temp.path, nil
	}
	if a.flags.temp != "" {
		if err := os.MkdirAll(a.flags.temp, 0o700); err != nil {
			return "", errs.Wrap(errs.Invalid, "make temporary folder", a.flags.temp, err)
		}
	}
	path, err := os.MkdirTemp(a.flags.temp, "tarn-*")
	if err != nil {
		return "", errs.Wrap(errs.Resource, "make temporary folder", a.flags.temp, err)
	}
	a.temp.path = path
	return path, nil
}

// removeTemp removes the folder. It may be called at any time and more than once.
func (a *app) removeTemp() {
	a.temp.mu.Lock()
	defer a.temp.mu.Unlock()
	if a.temp.path != "" {
		_ = os.RemoveAll(a.temp.path) // nothing is lost by what can't be removed, and nobody is left to be told
		a.temp.path = ""
	}
}
