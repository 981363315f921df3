package commit

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Retry says how often and after which waits a commit that met another writer's is tried again.
type Retry struct {
	Retries          int           // beyond the first try
	MinWait, MaxWait time.Duration // the longest first wait and the longest of all
	Total            time.Duration // no try begins later than that after the first has failed
}

// The defaults of the table properties. A local catalog commits within milliseconds, so waits begin much shorter than
// Iceberg's own default of 100 ms, and more tries than its 4 take no longer.
const (
	defaultRetries = 20
	defaultMinWait = 20 * time.Millisecond
	defaultMaxWait = 2 * time.Second
	defaultTotal   = 30 * time.Minute
)

// RetryOf reads a table's properties commit.retry.*, by the names and units of Iceberg's. A value that is no whole number
// is Invalid.
func RetryOf(properties map[string]string) (Retry, error) {
	r := Retry{Retries: defaultRetries, MinWait: defaultMinWait, MaxWait: defaultMaxWait, Total: defaultTotal}
	retries, err := numberProperty(properties, "commit.retry.num-retries", defaultRetries)
	r.Retries = int(retries)
	for name, d := range map[string]*time.Duration{
		"commit.retry.min-wait-ms": &r.MinWait, "commit.retry.max-wait-ms": &r.MaxWait, "commit.retry.total-timeout-ms": &r.Total,
	} {
		ms, wrong := numberProperty(properties, name, d.Milliseconds())
		*d = time.Duration(ms) * time.Millisecond
		err = errors.Join(err, wrong)
	}
	return r, err
}

// Begin returns the tries of one change.
func (r Retry) Begin() *Tries { return &Tries{retry: r} }

// Do calls try, with the number of the try from 0, until it returns again as false or the tries are used up, and returns
// the last error.
func (r Retry) Do(ctx context.Context, try func(n int) (again bool, err error)) error {
	return r.Begin().Do(ctx, try)
}

// Tries are how often a change may yet be tried. Those who try it in turn, such as a statement that runs again and each of its
// commits, share them. One goroutine uses them at a time.
type Tries struct {
	retry Retry
	used  int       // beyond the first
	end   time.Time // zero until there is a second try
}

// Do is as Retry's Do, with the tries that are left. It waits between tries: the waits grow, and are jittered so that many writers
// don't meet again and again. The time for them begins to run after the first, which may be a long statement.
func (t *Tries) Do(ctx context.Context, try func(n int) (again bool, err error)) error {
	for n := 0; ; n++ {
		again, err := try(n)
		if !again || t.used >= t.retry.Retries {
			return err
		}
		if t.end.IsZero() {
			t.end = time.Now().Add(t.retry.Total)
		}
		wait := rand.N(max(t.retry.longest(t.used), 1))
		if time.Now().Add(wait).After(t.end) {
			return err
		}
		t.used++
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// longest returns the longest wait before the retry after used ones: each is twice the one before.
func (r Retry) longest(used int) time.Duration {
	wait := r.MinWait
	for ; used > 0 && wait < r.MaxWait; used-- {
		wait *= 2 // below seven weeks, which is twice what a property can say
	}
	return min(wait, r.MaxWait)
}
