package settings

import (
	"os"
	"path"
	"strconv"
	"strings"
)

const (
	// memoryShare is the part of the machine's memory that is ours unless told otherwise, in percent: the rest is left to
	// the page cache, which scans live on, and to what DuckDB doesn't count.
	memoryShare = 80
	// unknownMachine is taken where the system doesn't tell its memory.
	unknownMachine = 4 << 30
)

// DefaultMemory is the memory to use when nobody said how much: 80 % of the machine's, or of the container's if its
// limit is lower.
func DefaultMemory() int64 {
	total := systemMemory()
	if total <= 0 {
		total = unknownMachine
	}
	if limit := cgroupLimit("/"); limit > 0 && limit < total {
		total = limit
	}
	return total / 100 * memoryShare
}

// cgroupLimit returns the lowest memory limit of this process's control groups under root, or 0 for none. The limits of
// the parents hold too.
func cgroupLimit(root string) int64 {
	text, err := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	lowest := int64(0)
	for line := range strings.Lines(string(text)) {
		// Each line is "hierarchy:controllers:path"; version 2 has hierarchy 0 and no controllers.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		if parts[0] != "0" {
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
			if !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if limit := readNumber(path.Join(root, mount, group, file)); limit > 0 && (lowest == 0 || limit < lowest) {
				lowest = limit
			}
			if group == "/" {
				break
			}
		}
	}
	return lowest
}

// readNumber returns the number that a file holds, or 0 when it holds none ("max") or isn't there.
func readNumber(name string) int64 {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
