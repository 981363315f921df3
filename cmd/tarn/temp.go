package main

import (
	"sync"

	"github.com/tarndb/tarn/internal/scratch"
)

// tempFolder is the process's own folder for what doesn't fit into memory. It is made when first asked for.
type tempFolder struct {
	mu  sync.Mutex
	own *scratch.Folder
}

// tempDir makes the folder below --temp, or the system's own place.
func (a *app) tempDir() (string, error) {
	a.temp.mu.Lock()
	defer a.temp.mu.Unlock()
	if a.temp.own == nil {
		own, err := scratch.Make(a.flags.temp)
		if err != nil {
			return "", err
		}
		a.temp.own = own
	}
	return a.temp.own.Path(), nil
}

// removeTemp removes the folder. It may be called at any time and more than once.
func (a *app) removeTemp() {
	a.temp.mu.Lock()
	defer a.temp.mu.Unlock()
	if a.temp.own != nil {
		_ = a.temp.own.Remove() // nothing is lost by what can't be removed, and nobody is left to be told
	}
}
