package commit_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/seed"
)

// statement is what a writer does as its n-th job: an append, an overwrite of a partition of its own, or of one that all
// writers overwrite.
type statement struct {
	writer, n int
}

func (s statement) job() string { return named(s.writer, s.n) }

func (s statement) isAppend() bool { return s.n%3 == 0 }

func (s statement) partition() int64 {
	if s.n%3 == 2 {
		return 999
	}
	return int64(s.writer)
}

// run commits the statement, from the start again where another one was in its way. It returns how often that was.
func (s statement) run(t testing.TB, c *lake.Catalog) (conflicts int, err error) {
	for ; ; conflicts++ {
		table := loaded(t, c)
		f := written(t, table, s.job(), s.partition())
		if s.isAppend() {
			_, err = c.Commit(t.Context(), table, commit.Change{Kind: commit.Append, Add: []manifest.File{f}, Job: s.job()})
		} else {
			err = replaced(t.Context(), c, table, commit.Serializable, s.job(), f)
		}
		if errs.KindOf(err) != errs.Conflict || conflicts > 500 {
			return conflicts, err
		}
	}
}

// parseStatement reads a job's identity.
func parseStatement(t testing.TB, job string) statement {
	t.Helper()
	var s statement
	if _, err := fmt.Sscanf(job, "w%d-%d", &s.writer, &s.n); err != nil {
		t.Fatalf("job %q: %v", job, err)
	}
	return s
}

// checkHistory makes the statements again, in the order in which the table has them, and compares what it holds then. It returns
// the statements' jobs.
func checkHistory(t testing.TB, c *lake.Catalog) map[string]bool {
	t.Helper()
	table := loaded(t, c)
	checkWhole(t, table)
	raw, err := os.ReadFile(table.MetadataLocation)
	if err != nil {
		t.Fatal(err)
	}
	type snapshot struct {
		Sequence int64             `json:"sequence-number"`
		Summary  map[string]string `json:"summary"`
	}
	var meta struct {
		Snapshots []snapshot `json:"snapshots"`
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(meta.Snapshots, func(a, b snapshot) int { return cmp.Compare(a.Sequence, b.Sequence) })
	jobs, model := map[string]bool{}, map[string]int64{}
	for i, s := range meta.Snapshots {
		job := s.Summary[commit.JobProperty]
		if jobs[job] {
			t.Errorf("the job %s was committed twice", job)
		}
		if s.Sequence != int64(i+1) {
			t.Errorf("the sequence number %d comes after %d snapshots", s.Sequence, i)
		}
		jobs[job] = true
		done := parseStatement(t, job)
		if !done.isAppend() {
			for name, p := range model {
				if p == done.partition() {
					delete(model, name)
				}
			}
		}
		model[job] = done.partition()
		if want := strconv.Itoa(10 * len(model)); s.Summary["total-records"] != want {
			t.Errorf("after %s there are %s rows, want %s", job, s.Summary["total-records"], want)
		}
	}
	var want []string
	for name := range model {
		want = append(want, name)
	}
	slices.Sort(want)
	if got := paths(live(t, c, table)); !slices.Equal(got, want) {
		t.Errorf("the table has %v, want %v", got, want)
	}
	return jobs
}

// TestWritersMeet has writers commit beside each other, through catalogs of their own.
func TestWritersMeet(t *testing.T) {
	const writers, commits = 6, 20
	for _, kind := range stores() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := opened(t, kind, dir, nil)
			created(t, first, 2, map[string]string{"commit.retry.num-retries": "100", "commit.retry.max-wait-ms": "50"})
			var conflicts atomic.Int64
			var all sync.WaitGroup
			for w := range writers {
				c := opened(t, kind, dir, nil)
				all.Go(func() {
					for n := range commits {
						again, err := statement{w, n}.run(t, c)
						if conflicts.Add(int64(again)); err != nil {
							t.Errorf("writer %d, commit %d: %v", w, n, err)
						}
					}
				})
			}
			all.Wait()
			if jobs := checkHistory(t, first); len(jobs) != writers*commits {
				t.Errorf("%d commits of %d", len(jobs), writers*commits)
			}
			if conflicts.Load() == 0 {
				t.Error("overwrites of one partition never met")
			}
		})
	}
}

// TestProcessesMeet is TestWritersMeet with a process for each writer.
func TestProcessesMeet(t *testing.T) {
	const writers, commits = 6, 20
	for _, kind := range stores() {
		dir := t.TempDir()
		first := opened(t, kind, dir, nil)
		created(t, first, 2, map[string]string{"commit.retry.num-retries": "100", "commit.retry.max-wait-ms": "50"})
		var conflicts atomic.Int64
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				p := startWriter(t, kind, dir, w, 0, commits)
				done := 0
				for p.Scan() {
					var job string
					var again int64
					if n, err := fmt.Sscanf(p.Text(), "done %s %d", &job, &again); n != 2 || err != nil {
						t.Errorf("writer %d says %s", w, p.Text())
						continue
					}
					done++
					conflicts.Add(again)
				}
				if err := p.cmd.Wait(); err != nil || done != commits {
					t.Errorf("writer %d made %d commits: %v", w, done, err)
				}
			})
		}
		all.Wait()
		if jobs := checkHistory(t, first); len(jobs) != writers*commits {
			t.Errorf("%s: %d commits of %d", kind, len(jobs), writers*commits)
		}
		if conflicts.Load() == 0 {
			t.Errorf("%s: overwrites of one partition never met", kind)
		}
	}
}

// childEnv makes this test binary a writer: a kind of catalog, its folder, the writer's number, and the numbers of its first job and of the one
// that it doesn't do any more.
const childEnv = "TARN_TEST_WRITER"

// killsEnv has how many writers are killed. 20 take some seconds.
const killsEnv = "TARN_TEST_KILLS"

// TestKilledWriters kills processes that write, at any moment, and looks at the table that they leave. Each begins with jobs
// that the one before it may have committed.
func TestKilledWriters(t *testing.T) {
	if text := os.Getenv(childEnv); text != "" {
		writeJobs(t, text)
		return
	}
	rng := seed.Rand(t)
	kills := 20
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	kinds := stores()
	dirs := map[string]string{}
	next := map[string]int{}
	for _, kind := range kinds {
		dirs[kind] = t.TempDir()
		created(t, opened(t, kind, dirs[kind], nil), 2, nil)
	}
	for run := range kills {
		kind := kinds[run%len(kinds)]
		acknowledged := killWriter(t, kind, dirs[kind], next[kind], time.Duration(rng.IntN(400))*time.Millisecond)
		jobs := checkHistory(t, opened(t, kind, dirs[kind], nil))
		for _, job := range acknowledged {
			if !jobs[job] {
				t.Errorf("run %d: %s was committed and isn't there", run, job)
			}
		}
		next[kind] = max(0, len(jobs)-2)
	}
	for _, kind := range kinds {
		if next[kind] < kills/len(kinds)/4 {
			t.Errorf("writers of %s did nearly nothing before they were killed: %d jobs", kind, next[kind])
		}
	}
}

// writerProcess is a process that writes, and what it says line by line.
type writerProcess struct {
	cmd *exec.Cmd
	*bufio.Scanner
}

func startWriter(t *testing.T, kind, dir string, writer, first, end int) writerProcess {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWriters$")
	cmd.Env = append(os.Environ(), childEnv+"="+fmt.Sprint(kind, " ", dir, " ", writer, " ", first, " ", end))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return writerProcess{cmd, bufio.NewScanner(out)}
}

// killWriter starts a writer and kills it some time after its first commit. It returns the jobs that it said were done.
func killWriter(t *testing.T, kind, dir string, first int, after time.Duration) []string {
	t.Helper()
	const forever = 1 << 30
	p := startWriter(t, kind, dir, 0, first, forever)
	var done []string
	for p.Scan() {
		words := strings.Fields(p.Text())
		if len(words) != 3 || words[0] != "done" {
			t.Errorf("a writer says %s", p.Text())
			continue
		}
		if len(done) == 0 {
			time.AfterFunc(after, func() { p.cmd.Process.Kill() })
		}
		done = append(done, words[1])
	}
	p.cmd.Wait()
	return done
}

// writeJobs is what a process that writes does.
func writeJobs(t *testing.T, text string) {
	var kind, dir string
	var writer, first, end int
	if _, err := fmt.Sscan(text, &kind, &dir, &writer, &first, &end); err != nil {
		t.Fatal(err)
	}
	c := opened(t, kind, dir, nil)
	for n := first; n < end; n++ {
		s := statement{writer, n}
		again, err := s.run(t, c)
		if err != nil {
			fmt.Println("failed", s.job(), err)
			return
		}
		fmt.Println("done", s.job(), again)
	}
	os.Exit(0) // without what a test says at its end
}

// TestARepeatedJobCommitsOnce does one job three times.
func TestARepeatedJobCommitsOnce(t *testing.T) {
	for _, kind := range stores() {
		c := opened(t, kind, t.TempDir(), nil)
		created(t, c, 2, nil)
		for range 3 {
			if _, err := (statement{1, 0}).run(t, c); err != nil {
				t.Fatal(err)
			}
		}
		if jobs := checkHistory(t, c); len(jobs) != 1 {
			t.Errorf("%s: %v", kind, jobs)
		}
	}
}
