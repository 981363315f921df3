package blackbox

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestReaderThatHasSeenEnough(t *testing.T) {
	lake := wideLake(t, leastLake)
	for _, args := range [][]string{
		{"-c", questions[2].sql},
		{"-c", questions[2].sql, "--format", "json"},
		{"-c", "SELECT range FROM range(100000000)", "-c", "SELECT 2"},
	} {
		temp := t.TempDir()
		c := child(t, lake.args("sql", append(args, "--memory", "1GiB", "--temp", temp)...)...)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		code := exitCode(t, c.Wait())
		t.Logf("exit %d within %v", code, time.Since(begin))
		if code != 0 || stderr.Len() > 0 || time.Since(begin) > soon {
			t.Errorf("%v: exit %d after %v, stderr %q", args, code, time.Since(begin), clip(stderr.String()))
		}
		wantEmpty(t, temp)
	}
}

func TestClosedStandardStreams(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it needs a shell that closes streams")
	}
	for _, redirect := range []string{">&-", "2>&-", "<&-", "<&- >&- 2>&-"} {
		c := child(t)
		c.Path, c.Args = "/bin/sh", []string{"sh", "-c", program + ` sql -c "SELECT 1 AS a" ` + redirect}
		o := finish(t, c)
		if o.code != 0 || o.stderr != "" {
			t.Errorf("%s: exit %d, stderr %q", redirect, o.code, o.stderr)
		}
		if want := "a\n1\n"; !strings.Contains(redirect, " >") && redirect != ">&-" && o.stdout != want {
			t.Errorf("%s: stdout %q", redirect, o.stdout)
		}
	}
}

func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no full device")
	}
	defer full.Close()
	for _, args := range [][]string{
		{"sql", "-c", "SELECT 1"},
		{"sql", "-c", "SELECT range FROM range(10000000)"},
		{"sql", "-c", "SELECT 1", "--format", "table"},
		{"sql", "-c", "SELECT 1", "--format", "json"},
		{"sql", "-c", "SELECT 1", "-o", "/dev/full"},
		{"explain", "SELECT 1"},
		{"hash", "int", "3"},
		{"version"},
	} {
		c := child(t, args...)
		c.Stdout = full
		o := finish(t, c)
		// Exit code 9 is out of memory, disk or time.
		if o.code != 9 || !strings.Contains(o.stderr, "no space left on device") {
			t.Errorf("%v: exit %d, stderr %q", args, o.code, clip(o.stderr))
		}
		if !strings.Contains(strings.Join(args, " "), "json") {
			wantOneError(t, o.stderr)
		}
	}
}

// onTerminal runs the program on a terminal so wide.
func onTerminal(t *testing.T, columns int, args ...string) outcome {
	t.Helper()
	script, err := exec.LookPath("script")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("there is no script command to make a terminal")
	}
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	c := child(t)
	c.Path = script
	c.Args = []string{"script", "-qec", fmt.Sprintf("stty cols %d; %s %s", columns, program, strings.Join(quoted, " ")), "/dev/null"}
	c.Env = append(c.Env, "NO_COLOR=1", "TERM=xterm", "SHELL=/bin/sh")
	return finish(t, c)
}

func TestNarrowTerminal(t *testing.T) {
	for _, columns := range []int{40, 20, 1} {
		o := onTerminal(t, columns, "sql", "--quiet", "-c",
			"SELECT repeat('wide', 50) AS first, 'änderung über alles' AS second, 3 AS third, NULL AS fourth FROM range(3)")
		if o.code != 0 {
			t.Fatalf("exit %d: %s %s", o.code, o.stdout, o.stderr)
		}
		lines := strings.Split(strings.TrimRight(o.stdout, "\r\n"), "\n")
		if len(lines) < 4 || !strings.Contains(o.stdout, "3 rows") {
			t.Errorf("%d columns: %q", columns, o.stdout)
		}
		if columns < 40 {
			continue // four columns don't become narrower than can be read
		}
		for _, line := range lines {
			if n := len([]rune(strings.TrimRight(line, "\r"))); n > columns {
				t.Errorf("%d columns: the line %q has %d", columns, line, n)
			}
		}
	}
}
