package blackbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarndb/tarn/internal/meter"
)

// program is the binary under test, built once.
var program string

// long says whether the variants that take gigabytes and minutes run.
var long = os.Getenv("TARN_LONG") != ""

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tarn-blackbox-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	defer removeShared()
	program = filepath.Join(dir, "tarn")
	build := exec.Command("go", "build", "-o", program, "github.com/tarndb/tarn/cmd/tarn")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// outcome is how a child process ended.
type outcome struct {
	command        string // its arguments
	code           int    // of its exit
	stdout, stderr string
	took           time.Duration
}

// patience is how long a child may take before the test ends it: far beyond what any needs.
const patience = 2 * time.Minute

// child prepares a run of the program with a home of its own, so that no file of the machine's user is read.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	noteSources()
	wait := patience
	if long {
		wait *= 10
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = t.TempDir()
	c.Env = environment(c.Dir)
	return c
}

// noteSources looks at all Go files of the module: go test takes an earlier result for this one unless a file that the
// tests looked at has changed, and that they build the program it can't see.
var noteSources = sync.OnceFunc(func() {
	root := filepath.Join("..", "..")
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil, e.IsDir() && path != root && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			_, _ = os.Stat(path)
		}
		return nil
	})
})

func environment(home string) []string {
	var env []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "HOME" && name != "TARN_CONFIG" && !strings.HasPrefix(name, "PYICEBERG_") {
			env = append(env, v)
		}
	}
	return append(env, "HOME="+home)
}

// tarn runs the program to its end.
func tarn(t *testing.T, args ...string) outcome {
	t.Helper()
	return finish(t, child(t, args...))
}

// finish runs a prepared child to its end.
func finish(t *testing.T, c *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &stdout
	}
	if c.Stderr == nil {
		c.Stderr = &stderr
	}
	begin := time.Now()
	code := exitCode(t, c.Run())
	return outcome{command: clip(strings.Join(c.Args[1:], " ")), code: code, stdout: stdout.String(), stderr: stderr.String(), took: time.Since(begin)}
}

// exitCode returns the code that a process ended with, -1 when a signal ended it.
func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return 0
}

// countsNote is what statements without rows counted, of which formats of rows alone say nothing.
var countsNote = regexp.MustCompile(`(?m)^note: rows-[a-z]+: \d+(, [a-z-]+: \d+)*\n`)

// ok fails the test unless the run succeeded with nothing on stderr but such notes, and returns what it printed.
func (o outcome) ok(t *testing.T) string {
	t.Helper()
	if o.code != 0 || countsNote.ReplaceAllString(o.stderr, "") != "" {
		t.Fatalf("%s\nexit %d, stdout %q, stderr %q", o.command, o.code, clip(o.stdout), clip(o.stderr))
	}
	return o.stdout
}

// clip keeps texts in failure messages readable.
func clip(text string) string {
	const most = 2000
	if len(text) > most {
		return text[:most] + fmt.Sprintf("... (%d bytes)", len(text))
	}
	return text
}

// usageFlags makes the child measure itself; the report is read after its end.
func usageFlags(t *testing.T) (flags []string, read func() meter.Report) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "usage.json")
	return []string{"--usage", file}, func() meter.Report {
		t.Helper()
		r, err := meter.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// wantEmpty fails the test unless a folder is empty.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	var left []string
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			left = append(left, path)
		}
		return err
	})
	if len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, " "))
	}
}

// wantOneError fails the test unless stderr holds one error: its line, more lines of the same set in by two spaces, and
// perhaps a hint.
func wantOneError(t *testing.T, stderr string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	good := strings.HasPrefix(lines[0], "tarn: ")
	hints := 0
	for _, line := range lines[1:] {
		if strings.HasPrefix(line, "hint: ") {
			hints++
		} else if !strings.HasPrefix(line, "  ") {
			good = false
		}
	}
	if !good || hints > 1 {
		t.Errorf("want one error, not %q", clip(stderr))
	}
	for _, word := range []string{"panic", "goroutine", "runtime error", "exception_type"} {
		if strings.Contains(stderr, word) {
			t.Errorf("stderr has %q: %s", word, clip(stderr))
		}
	}
}
