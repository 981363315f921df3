package blackbox

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarndb/tarn/internal/seed"
)

// soon is when an interrupted process must be gone: the aim is one second, and three allow for a machine that is busy
// with other things. The times are in the log.
const soon = 3 * time.Second

// running is a child that was started and not waited for.
type running struct {
	*exec.Cmd
	temp   string
	stderr *bytes.Buffer
	ended  chan error
}

// start starts the program with a folder for temporary files of its own.
func start(t *testing.T, temp string, prepare func(*exec.Cmd), args ...string) *running {
	t.Helper()
	c := child(t, append(args, "--temp", temp)...)
	r := &running{Cmd: c, temp: temp, stderr: &bytes.Buffer{}, ended: make(chan error, 1)}
	c.Stderr = r.stderr
	if prepare != nil {
		prepare(c)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- c.Wait() }()
	t.Cleanup(func() { _ = c.Process.Kill() })
	return r
}

// awaitFiles waits until the temporary folder holds something that the pattern matches; false when the process ended first.
func (r *running) awaitFiles(t *testing.T, pattern string) bool {
	t.Helper()
	for {
		found, err := filepath.Glob(filepath.Join(r.temp, pattern))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			return true
		}
		select {
		case err := <-r.ended:
			r.ended <- err
			return false
		case <-time.After(time.Millisecond):
		}
	}
}

// signal sends a signal and waits for the end; ended is false when the process had ended before.
func (r *running) signal(t *testing.T, s os.Signal) (code int, took time.Duration, sent bool) {
	t.Helper()
	select {
	case err := <-r.ended:
		return exitCode(t, err), 0, false
	default:
	}
	begin := time.Now()
	sent = r.Process.Signal(s) == nil
	return exitCode(t, <-r.ended), time.Since(begin), sent
}

// interruptible are the moments at which a run is interrupted.
var interruptible = []struct {
	name  string
	args  []string
	files string        // what must be in the temporary folder first
	after time.Duration // the longest random wait from then on
	stuck bool          // nobody reads the output
}{
	{"planning", []string{"--memory", "1GiB", "-c", slowQuestion}, "*", 60 * time.Millisecond, false},
	{"packs", []string{"--memory", "1GiB", "-c", slowQuestion}, "*", 800 * time.Millisecond, false},
	{"whole query", []string{"--memory", "1GiB", "-c", "SET tarn.spj = 'off'", "-c", slowQuestion}, "*", 800 * time.Millisecond, false},
	{"sort that spills", []string{"--memory", "256MiB", "-c", spillingSort}, "*/*/*spill*/*", 800 * time.Millisecond, false},
	{"output that nobody reads", []string{"--memory", "1GiB", "-c", questions[2].sql}, "*", 800 * time.Millisecond, true},
	{"output into a file", []string{"--memory", "1GiB", "-o", "out.csv", "-c", questions[2].sql}, "*", 800 * time.Millisecond, false},
}

const (
	slowQuestion = `SELECT sum(n) FROM (SELECT l.k, sum(length(regexp_replace(l.pad || r.note, '[a-c]', 'xy', 'g'))) AS n FROM ` + joined + ` GROUP BY l.k)`
	spillingSort = `SELECT sum(h) FROM (SELECT hash(i) % 1000 AS h, i::VARCHAR AS t FROM range(40000000) AS r(i) ORDER BY hash(i + 1) LIMIT 30000000)`
)

func TestInterrupt(t *testing.T) {
	lake := wideLake(t, leastLake)
	random := seed.Rand(t)
	for _, m := range interruptible {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(m.name+"/"+sig.String(), func(t *testing.T) {
				wait := time.Duration(random.Int64N(int64(m.after)))
				for !interrupt(t, lake.args("sql", m.args...), m.files, wait, m.stuck, sig) {
					if wait /= 2; wait < time.Millisecond {
						t.Fatal("the run always ends before it can be interrupted")
					}
				}
			})
		}
	}
}

// leastLake is the smallest lake of wide rows, which all tests share.
const leastLake = 10 * 128 * mib

// interrupt interrupts one run; false when that came too late.
func interrupt(t *testing.T, args []string, files string, wait time.Duration, stuck bool, sig syscall.Signal) bool {
	t.Helper()
	r := start(t, t.TempDir(), func(c *exec.Cmd) {
		if stuck {
			if _, err := c.StdoutPipe(); err != nil {
				t.Fatal(err)
			}
		}
	}, args...)
	if !r.awaitFiles(t, files) {
		return false
	}
	time.Sleep(wait)
	code, took, sent := r.signal(t, sig)
	if !sent || code == 0 {
		return false
	}
	t.Logf("%v after %v: exit %d within %v", sig, wait.Round(time.Millisecond), code, took.Round(time.Millisecond))
	if code != 130 || took > soon {
		t.Errorf("exit %d after %v, want 130 within a second", code, took)
	}
	if got := r.stderr.String(); got != "tarn: interrupted\n" {
		t.Errorf("stderr %q", clip(got))
	}
	wantEmpty(t, r.temp)
	wantEmpty(t, r.Dir)
	return true
}

func TestInterruptWhileStandardInputIsIdle(t *testing.T) {
	r := start(t, t.TempDir(), func(c *exec.Cmd) {
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, "SELECT "); err != nil {
			t.Fatal(err)
		}
	}, "sql", "--memory", "256MiB")
	r.awaitFiles(t, "*")
	code, took, _ := r.signal(t, os.Interrupt)
	t.Logf("exit %d within %v", code, took)
	if code != 130 || took > soon || r.stderr.String() != "tarn: interrupted\n" {
		t.Errorf("exit %d after %v, stderr %q", code, took, r.stderr)
	}
	wantEmpty(t, r.temp)
}

func TestSecondInterruptEndsAtOnce(t *testing.T) {
	r := start(t, t.TempDir(), nil, "sql", "--memory", "256MiB", "-c", spillingSort)
	r.awaitFiles(t, "*/*/*spill*/*")
	begin := time.Now()
	for range 2 {
		if err := r.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	code := exitCode(t, <-r.ended)
	took := time.Since(begin)
	t.Logf("exit %d within %v", code, took)
	if code != 130 || took > soon {
		t.Errorf("exit %d after %v", code, took)
	}
	wantEmpty(t, r.temp)
}

// TestNextStartRemovesWhatAKilledProcessLeft also checks that what a living process uses is left alone.
func TestNextStartRemovesWhatAKilledProcessLeft(t *testing.T) {
	temp := t.TempDir()
	killed := start(t, temp, nil, "sql", "--memory", "256MiB", "-c", spillingSort)
	killed.awaitFiles(t, "*/*/*spill*/*")
	if code, _, _ := killed.signal(t, os.Kill); code != -1 {
		t.Fatalf("exit %d of a killed process", code)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) == 0 {
		t.Fatalf("nothing was left to remove: %v", err)
	}
	shorter := strings.NewReplacer("40000000", "10000000", "30000000", "8000000").Replace(spillingSort)
	alive := start(t, temp, func(c *exec.Cmd) { c.Stdout = &bytes.Buffer{} }, "sql", "--memory", "160MiB", "-c", shorter)
	alive.awaitFiles(t, "*/*/*spill*/*")
	if entries, err := os.ReadDir(temp); err != nil || len(entries) != 1 {
		t.Errorf("%d folders while one process lives, %v", len(entries), err)
	}
	tarn(t, "sql", "--temp", temp, "-c", "SELECT 1").ok(t)
	if code := exitCode(t, <-alive.ended); code != 0 {
		t.Errorf("the living process ended with %d: %s", code, alive.stderr)
	}
	if out := alive.Stdout.(*bytes.Buffer).String(); !strings.HasPrefix(out, "sum(h)\n") {
		t.Errorf("the living process gave %q", out)
	}
	wantEmpty(t, temp)
}

// TestMissingTemporaryFolder: --temp makes its folder and those above it where they are missing, and removes what it made, however
// the run ends.
func TestMissingTemporaryFolder(t *testing.T) {
	t.Parallel()
	there := t.TempDir()
	temp := filepath.Join(there, "a", "b")
	tarn(t, "sql", "--temp", temp, "-c", "SELECT 1").ok(t)
	wantEmpty(t, there)
	wantFailed(t, tarn(t, "sql", "--temp", temp, "-c", "SELECT error('not that')"), 1, "not that")
	wantEmpty(t, there)
	r := start(t, temp, nil, "sql", "-c", "SELECT count(*) FROM range(1000000000000) AS r(i) WHERE hash(i) = 1")
	if !r.awaitFiles(t, "*") {
		t.Fatal("the run ended by itself")
	}
	if code, _, _ := r.signal(t, os.Interrupt); code != 130 {
		t.Errorf("exit %d, want 130: %s", code, r.stderr)
	}
	wantEmpty(t, there)
}
