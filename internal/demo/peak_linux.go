package demo

import (
	"os"
	"syscall"
)

// peakBytes returns an ended process's largest resident set.
func peakBytes(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10 // in KiB on Linux
	}
	return 0
}
