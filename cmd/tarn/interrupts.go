package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/tarndb/tarn/internal/errs"
)

// interrupts turns SIGINT, SIGTERM and SIGHUP into the end of what is running. The first one asks it to stop; a second one, before
// anything new has begun, ends the process at once.
type interrupts struct {
	mu   sync.Mutex
	stop func() // what the next SIGINT calls; nil after it was called
	all  func() // what SIGTERM calls
}

// watch returns a context that ends with an interrupt. last is called before the process is ended at once.
func (in *interrupts) watch(parent context.Context, last func()) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	in.stop, in.all = cancel, cancel
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				if !in.handle(s) {
					last()
					os.Exit(errs.Canceled.ExitCode())
				}
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

// handle reports false for the second interrupt.
func (in *interrupts) handle(s os.Signal) bool {
	in.mu.Lock()
	stop := in.stop
	in.stop = nil
	if stop != nil && s != os.Interrupt {
		stop = in.all
	}
	in.mu.Unlock()
	if stop == nil {
		return false
	}
	stop()
	return true
}

// direct makes the next SIGINT call stop instead of ending everything, until the returned function is called. The shell
// uses it to end a statement and go on.
func (in *interrupts) direct(stop func()) (restore func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.stop = stop
	return func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.stop = in.all
	}
}
