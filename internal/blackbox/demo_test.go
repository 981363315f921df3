package blackbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	run := func(args ...string) outcome {
		c := child(t, args...)
		c.Dir = home
		return finish(t, c)
	}
	first := run("demo", "--rows", "2000", "--dir", "my lake").ok(t)
	for _, part := range []string{
		"Making sales.orders (2000 rows) and sales.customers (285 rows), both bucket(64, customer_id), in my lake",
		"strategy=storage-partitioned", "bytes not shuffled", "The answer, the same by both plans", "281,customer 281,15,8469.64", "peak memory", "try next",
	} {
		if !strings.Contains(first, part) {
			t.Errorf("it doesn't say %q: %s", part, first)
		}
	}
	second := run("demo", "--rows", "2000", "--dir", "my lake").ok(t)
	if !strings.HasPrefix(second, "Using the tables that are in my lake already.") || !strings.Contains(second, "281,customer 281,15,8469.64") {
		t.Errorf("the second time it says %s", second)
	}
	// What it proposes to try next works as written.
	tries := regexp.MustCompile(`(?m)^  (?:tarn|go run \./cmd/tarn) (.*)$`).FindAllStringSubmatch(second, -1)
	if len(tries) != 3 {
		t.Errorf("%d commands to try: %s", len(tries), second)
	}
	for _, try := range tries {
		c := child(t)
		c.Dir = home
		c.Path, c.Args = "/bin/sh", []string{"sh", "-c", program + " " + try[1]}
		if out := finish(t, c).ok(t); out == "" {
			t.Errorf("%s prints nothing", try[1])
		}
	}
	// Without --dir it makes the embedded lake, which every command finds.
	run("demo", "--rows", "200").ok(t)
	if out := run("sql", "-c", "SELECT count(*) AS n FROM sales.orders").ok(t); out != "n\n200\n" {
		t.Errorf("the embedded lake gives %q", out)
	}
}

func TestDemoThatCannotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	for _, c := range []struct {
		code int
		word string
		args []string
	}{
		{2, "--rows", []string{"--rows", "-1"}},
		{2, "--rows", []string{"--rows", "many"}},
		{2, "--rows", []string{"--rows", "99999999999999999999"}},
		{2, "--rows", []string{"--rows", "0"}},
		{2, "--rows", []string{"--rows", "1.5"}},
		{2, "--rows", []string{"--rows", ""}},
		{1, "too few", []string{"--rows", "1"}},
		{2, "nope", []string{"nope"}},
		{2, "--threads", []string{"--threads", "100000"}},
		{1, file, []string{"--dir", file}},
		{1, file, []string{"--dir", filepath.Join(file, "below")}},
	} {
		wantFailure(t, c.code, c.word, append([]string{"demo"}, c.args...)...)
	}
}

func TestDemoInAFolderWithoutRights(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	openToAll(t, dir)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, filepath.Join(dir, "below")} {
		c := child(t, "demo", "--rows", "2000", "--dir", at)
		unprivileged(t, c)
		wantFailed(t, finish(t, c), 1, "permission denied")
	}
	wantEmpty(t, dir)
}

// TestInterruptedDemo interrupts the demo while a process of its own measures a plan.
func TestInterruptedDemo(t *testing.T) {
	temp, home := t.TempDir(), t.TempDir()
	prepare := func(c *exec.Cmd) {
		c.Dir = home
		c.Env = append(c.Env, "TMPDIR="+temp)
	}
	c := child(t, "demo", "--rows", "1000000")
	prepare(c)
	finish(t, c).ok(t)
	for _, wait := range []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 300 * time.Millisecond} {
		r := start(t, temp, prepare, "demo", "--rows", "1000000")
		r.awaitFiles(t, "tarn-measure-*")
		time.Sleep(wait)
		code, took, sent := r.signal(t, os.Interrupt)
		t.Logf("exit %d within %v", code, took)
		if sent && code != 0 && (code != 130 || took > soon || r.stderr.String() != "tarn: interrupted\n") {
			t.Errorf("exit %d after %v: %s", code, took, r.stderr)
		}
		wantEmpty(t, temp)
	}
}
