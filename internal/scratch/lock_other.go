//go:build !linux && !darwin

package scratch

import "os"

// Without locks that end with their process nothing is ever taken for a dead one's.

func hold(string) (*os.File, error) { return nil, nil }

func take(string) *os.File { return nil }
