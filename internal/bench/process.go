package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarndb/tarn/internal/meter"
)

// Outcome is one run of a program in a process of its own.
type Outcome struct {
	Output string
	// CPUSeconds and WallSeconds are of the whole process, from its start to its end.
	CPUSeconds, WallSeconds float64
	PeakBytes               int64 // of resident memory, by the process itself: what a parent is told includes its own
}

// MiB returns the peak in MiB.
func (o Outcome) MiB() float64 { return float64(o.PeakBytes) / (1 << 20) }

// Run runs a program of ours, which takes --usage FILE, on an input.
func Run(ctx context.Context, input, program string, args ...string) (Outcome, error) {
	dir, err := os.MkdirTemp("", "tarn-bench-run-")
	if err != nil {
		return Outcome{}, err
	}
	defer os.RemoveAll(dir)
	usage := filepath.Join(dir, "usage.json")
	cmd := exec.CommandContext(ctx, program, append([]string{"--usage", usage}, args...)...)
	var out, failure bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &failure
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return Outcome{}, fmt.Errorf("run %s: %w: %s", filepath.Base(program), err, strings.TrimSpace(failure.String()))
	}
	wall := time.Since(start)
	used, err := meter.Read(usage)
	return Outcome{
		Output:      strings.TrimSpace(out.String()),
		CPUSeconds:  (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		WallSeconds: wall.Seconds(),
		PeakBytes:   used.PeakBytes,
	}, err
}
