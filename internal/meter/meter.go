package meter

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"
)

// Report is what a process has used.
type Report struct {
	WallSeconds float64 `json:"wall_seconds"` // since the process started, as far as Go knows
	CPUSeconds  float64 `json:"cpu_seconds"`  // user and system
	PeakBytes   int64   `json:"peak_memory_bytes"`
}

var started = time.Now()

// Now returns what the process has used so far.
func Now() Report {
	return Report{WallSeconds: time.Since(started).Seconds(), CPUSeconds: cpuSeconds(), PeakBytes: PeakMemory()}
}

// Write writes Now as JSON to a file.
func Write(path string) error {
	b, err := json.Marshal(Now())
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}

// Read reads what another process wrote.
func Read(path string) (Report, error) {
	var r Report
	b, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// PeakMemory returns the most memory that the process has held so far, in bytes; 0 where the system doesn't tell.
func PeakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err == nil {
				return kib << 10
			}
		}
	}
	return 0
}

// pageBytes is the size of a page of memory.
var pageBytes = int64(os.Getpagesize())

// Memory returns what the process holds now, in bytes (resident set); 0 where the system doesn't tell.
func Memory() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * pageBytes
}
