package commit

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tarndb/tarn/internal/errs"
)

func TestRetryOf(t *testing.T) {
	got, err := RetryOf(map[string]string{
		"commit.retry.num-retries": "3", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "70", "commit.retry.total-timeout-ms": "9",
	})
	if want := (Retry{3, 5 * time.Millisecond, 70 * time.Millisecond, 9 * time.Millisecond}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err = RetryOf(nil); err != nil || got.Retries != 20 || got.Total != 30*time.Minute {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{"-1", "many", "1.5", "", "99999999999"} {
		if _, err := RetryOf(map[string]string{"commit.retry.num-retries": text}); errs.KindOf(err) != errs.Invalid || err == nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRetryDo(t *testing.T) {
	beaten := errors.New("beaten")
	r := Retry{Retries: 4, MinWait: time.Microsecond, MaxWait: time.Millisecond, Total: time.Minute}
	for _, c := range []struct {
		name  string
		retry Retry
		until int // the try that ends it
		tries int
		err   error
	}{
		{"the third works", r, 2, 3, nil},
		{"none works", r, 99, 5, beaten},
		{"no retries", Retry{Total: time.Minute}, 99, 1, beaten},
		{"no time", Retry{Retries: 4, MinWait: time.Hour, MaxWait: time.Hour}, 99, 1, beaten},
	} {
		tries := 0
		err := c.retry.Do(t.Context(), func(n int) (bool, error) {
			if tries++; n != tries-1 {
				t.Errorf("%s: try %d is given as %d", c.name, tries, n)
			}
			if n == c.until {
				return false, nil
			}
			return true, beaten
		})
		if !errors.Is(err, c.err) || tries != c.tries {
			t.Errorf("%s: %v after %d tries", c.name, err, tries)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	slow := Retry{Retries: 1, MinWait: time.Hour, MaxWait: time.Hour, Total: 9 * time.Hour}
	if err := slow.Do(ctx, func(int) (bool, error) { cancel(); return true, beaten }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSharedTries: whoever begins anew and those within have the tries together, also the time for them.
func TestSharedTries(t *testing.T) {
	beaten := errors.New("beaten")
	for _, c := range []struct {
		retry        Retry
		outer, inner int
	}{
		{Retry{Retries: 4, MaxWait: time.Millisecond, Total: time.Minute}, 1, 5},
		{Retry{Retries: 4, MaxWait: time.Millisecond, Total: time.Minute}, 3, 1}, // the second has used up two
		{Retry{Retries: 4, MinWait: time.Hour, MaxWait: time.Hour}, 1, 1},
	} {
		tries, outer, inner := c.retry.Begin(), 0, 0
		err := tries.Do(t.Context(), func(n int) (bool, error) {
			outer++
			inner = 0
			return true, tries.Do(t.Context(), func(k int) (bool, error) {
				inner++
				return c.outer == 1 || outer == 2 && k < 2, beaten
			})
		})
		if !errors.Is(err, beaten) || outer != c.outer || inner != c.inner {
			t.Errorf("%+v: %d times, the last with %d tries, %v", c.retry, outer, inner, err)
		}
	}
	slow := Retry{Retries: 1, Total: time.Millisecond, MaxWait: time.Nanosecond}.Begin()
	calls := 0
	err := slow.Do(t.Context(), func(int) (bool, error) {
		calls++
		time.Sleep(5 * time.Millisecond)
		return true, beaten
	})
	if !errors.Is(err, beaten) || calls != 2 {
		t.Errorf("a try that takes longer than all of them may: %d calls, %v", calls, err)
	}
}
