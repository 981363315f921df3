package exec

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// dropCode takes the pages of the program's code out of the process's memory: 60 MiB of them were touched by then, mostly
// to start DuckDB, and the system brings back those that run on. They are never written, so that nothing can be lost.
func dropCode() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line) // from-to, rights, offset, device, inode, path
		if len(fields) < 6 || fields[1] != "r-xp" || fields[5] != program {
			continue
		}
		var from, to uintptr
		if n, _ := fmt.Sscanf(fields[0], "%x-%x", &from, &to); n != 2 {
			continue
		}
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
	}
}
