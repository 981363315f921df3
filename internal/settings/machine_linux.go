package settings

import "golang.org/x/sys/unix"

// systemMemory is the machine's memory in bytes, or 0 when unknown.
func systemMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit)) //nolint:unconvert // it is narrower on 32-bit machines
}
