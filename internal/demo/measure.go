package demo

import (
	"bytes"
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/tarndb/tarn/internal/errs"
)

// Outcome is one plan's run in a process of its own.
type Outcome struct {
	Answer    string  // as CSV
	Wall, CPU float64 // seconds
	PeakBytes int64   // the process's peak memory; 0 where the system doesn't tell
}

// Measure runs a query by one plan: mode is a value of tarn.spj.
func Measure(ctx context.Context, o Options, flags []string, mode, query string) (Outcome, error) {
	args := append([]string{"sql", "--quiet", "--format", "csv", "--threads", strconv.Itoa(o.Threads)}, flags...)
	if o.MemoryBytes > 0 {
		args = append(args, "--memory", strconv.FormatInt(o.MemoryBytes, 10)+"B")
	}
	args = append(args, "-c", "SET tarn.spj = '"+mode+"'", "-c", query)
	cmd := exec.CommandContext(ctx, o.Program, args...)
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return Outcome{}, errs.Wrap(errs.KindOf(ctx.Err()), "run", "the plan", ctx.Err())
		}
		return Outcome{}, errs.New(errs.Internal, "run", o.Program, "%v: %s", err, strings.TrimSpace(failure.String()))
	}
	p := cmd.ProcessState
	return Outcome{
		Answer: strings.TrimSpace(out.String()), Wall: time.Since(begin).Seconds(),
		CPU: (p.UserTime() + p.SystemTime()).Seconds(), PeakBytes: peakBytes(p),
	}, nil
}
