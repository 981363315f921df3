//go:build !linux && !darwin

package settings

// systemMemory is unknown on this system.
func systemMemory() int64 { return 0 }
