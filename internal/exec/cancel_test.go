package exec

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/task"
)

// endless is SQL that runs for hours over one row.
const endless = "(SELECT sum(x.i * y.i) AS n FROM range(10000000) x(i), range(10000000) y(i))"

// soon is how long it may take until a run that should end has ended.
const soon = 5 * time.Second

// shapes are graphs with and without a final step, and where to put SQL that takes hours.
func shapes(l *lab) map[string]*task.Graph {
	out := map[string]*task.Graph{
		"streaming": l.graph(queries[0].sql, spj.Require, task.Options{}),
		"collected": l.graph("SELECT region, median(o.id) FROM s.orders o JOIN s.customers c ON o.customer = c.id GROUP BY 1", spj.Require, task.Options{}),
		"final":     l.graph("SELECT region, count(*) FROM s.orders o JOIN s.customers c ON o.customer = c.id GROUP BY 1", spj.Require, task.Options{}),
	}
	for _, name := range []string{"streaming", "collected"} {
		c := &out[name].Cores[0]
		c.SQL = "SELECT q.* FROM (" + c.SQL + ") q WHERE " + endless + " > 0"
	}
	f := out["final"].Final
	f.SQL = "SELECT q.* FROM (" + f.SQL + ") q WHERE " + endless + " > 0"
	return out
}

func TestCancel(t *testing.T) {
	l := shop(t)
	for name, g := range shapes(l) {
		for _, memory := range []int64{0, 1 << 30} {
			ctx, cancel := context.WithCancel(t.Context())
			dir := t.TempDir()
			s, err := Run(ctx, g, Options{Workers: 2, TempDir: dir, MemoryBytes: memory})
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(300*time.Millisecond, cancel)
			begin := time.Now()
			_, err = s.Next(ctx)
			wantError(t, err, errs.Canceled, "")
			s.Close()
			if d := time.Since(begin); d > soon {
				t.Errorf("%s: it took %v to end", name, d)
			}
			wantEmpty(t, dir)
		}
	}
}

// TestDeadline ends a run by its context's deadline.
func TestDeadline(t *testing.T) {
	l := shop(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	dir := t.TempDir()
	_, _, err := run1(ctx, shapes(l)["final"], Options{Workers: 2, TempDir: dir}, false)
	wantError(t, err, errs.Resource, "")
	wantEmpty(t, dir)
}

// TestClose ends runs before, during and after their rows, twice.
func TestClose(t *testing.T) {
	l := shop(t)
	many := l.graph("SELECT o.id FROM s.orders o JOIN s.orders p USING (customer)", spj.Require, task.Options{})
	before := runtime.NumGoroutine()
	for name, use := range map[string]func(*Stream){
		"at once": func(*Stream) {},
		"after one batch": func(s *Stream) {
			b, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
		},
		"after some time": func(*Stream) { time.Sleep(50 * time.Millisecond) },
		"at the end": func(s *Stream) {
			if _, err := drain(t.Context(), s); err != nil {
				t.Error(err)
			}
			for range 2 {
				if _, err := s.Next(t.Context()); !errors.Is(err, io.EOF) {
					t.Errorf("after the end: %v", err)
				}
			}
		},
	} {
		dir := t.TempDir()
		s, err := Run(t.Context(), many, Options{Workers: 2, TempDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		use(s)
		begin := time.Now()
		s.Close()
		s.Close()
		if d := time.Since(begin); d > soon {
			t.Errorf("%s: it took %v to close", name, d)
		}
		wantEmpty(t, dir)
	}
	for begin := time.Now(); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Since(begin) > soon {
			t.Fatalf("%d goroutines run, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// TestErrorInOnePack spoils one file: its error comes out, not that of the packs which it stops, and they stop soon.
func TestErrorInOnePack(t *testing.T) {
	l := shop(t)
	for name, g := range shapes(l) {
		c := &g.Cores[0]
		last := &c.Packs[len(c.Packs)-1]
		bad := l.dir + "/bad.parquet"
		if err := os.WriteFile(bad, []byte("PAR1 this is none PAR1"), 0o600); err != nil {
			t.Fatal(err)
		}
		for i := range last.Inputs {
			for k := range last.Inputs[i] {
				last.Inputs[i][k].Ref.Local = bad
			}
		}
		if name != "final" { // the pack with the bad file is the first, the other one runs for hours
			c.Packs[0], *last = *last, c.Packs[0]
		}
		begin := time.Now()
		dir := t.TempDir()
		_, _, err := run1(t.Context(), g, Options{Workers: 2, TempDir: dir}, false)
		wantError(t, err, errs.Corrupt, "bad.parquet")
		if d := time.Since(begin); d > soon {
			t.Errorf("%s: the other packs ran on for %v", name, d)
		}
		wantEmpty(t, dir)
	}
}

// TestFinalStepFails reports an error of the final step as itself.
func TestFinalStepFails(t *testing.T) {
	l := shop(t)
	g := l.graph("SELECT region, count(*) FROM s.orders o JOIN s.customers c ON o.customer = c.id GROUP BY 1", spj.Require, task.Options{})
	g.Final.SQL = "SELECT CAST('x' AS INTEGER) FROM (" + g.Final.SQL + ")"
	dir := t.TempDir()
	_, _, err := run1(t.Context(), g, Options{Workers: 2, TempDir: dir}, false)
	wantError(t, err, errs.Invalid, "'x'")
	wantEmpty(t, dir)
}
