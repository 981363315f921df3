package demo

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/meter"
)

// Outcome is one plan's run in a process of its own.
type Outcome struct {
	Answer string // as CSV
	meter.Report
}

// killAfter is how long an interrupted run has to end by itself.
const killAfter = 2 * time.Second

// Measure runs a query by one plan: mode is a value of tarn.spj. The process measures itself.
func Measure(ctx context.Context, o Options, flags []string, mode, query string) (Outcome, error) {
	dir, err := os.MkdirTemp("", "tarn-measure-")
	if err != nil {
		return Outcome{}, errs.Wrap(errs.Invalid, "make temporary folder", "", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "usage.json")
	args := append([]string{"sql", "--quiet", "--format", "csv", "--threads", strconv.Itoa(o.Threads), "--usage", file}, flags...)
	if o.MemoryBytes > 0 {
		args = append(args, "--memory", strconv.FormatInt(o.MemoryBytes, 10)+"B")
	}
	args = append(args, "-c", "SET tarn.spj = '"+mode+"'", "-c", query)
	cmd := exec.CommandContext(ctx, o.Program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it removes its temporary files
	cmd.WaitDelay = killAfter
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return Outcome{}, errs.Wrap(errs.KindOf(ctx.Err()), "run", "the plan", ctx.Err())
		}
		return Outcome{}, errs.New(errs.Internal, "run", o.Program, "%v: %s", err, strings.TrimSpace(failure.String()))
	}
	used, err := meter.Read(file)
	return Outcome{Answer: strings.TrimSpace(out.String()), Report: used}, err
}
