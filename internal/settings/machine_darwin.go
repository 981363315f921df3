package settings

import "golang.org/x/sys/unix"

// systemMemory is the machine's memory in bytes, or 0 when unknown.
func systemMemory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}
