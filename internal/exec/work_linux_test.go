package exec

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// TestWork compares the threads that a worker's long calls are made by, while others keep Go's scheduler busy.
func TestWork(t *testing.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	for range 4 * runtime.GOMAXPROCS(0) {
		go func() {
			for !stop.Load() {
				runtime.Gosched()
			}
		}()
	}
	group := new(errgroup.Group)
	for range 4 {
		Work(group, func() error {
			first := unix.Gettid()
			for range 50 {
				_ = unix.Nanosleep(&unix.Timespec{Nsec: int64(100 * time.Microsecond)}, nil) // a call that Go gives the processor away in
				if now := unix.Gettid(); now != first {
					t.Errorf("a worker's calls are made by threads %d and %d", first, now)
					break
				}
			}
			return nil
		})
	}
	Work(group, func() error { panic("oops") })
	if err := group.Wait(); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("a panic gave the error %v", err)
	}
}
