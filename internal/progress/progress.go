package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// quietFor is how long work may take before a line appears: a person starts to wonder after about a second.
	quietFor = time.Second
	// interval is the time between two versions of the line.
	interval = 200 * time.Millisecond
	// eraseLine moves to the start of the line and clears it.
	eraseLine = "\r\x1b[K"
)

// Line is a line of progress. Its methods may be called from any goroutine. A nil Line shows nothing.
type Line struct {
	w       io.Writer
	started time.Time

	mu    sync.Mutex
	what  string
	shown bool
	done  bool

	stop    chan struct{}
	stopped chan struct{}
}

// Start begins to show what is going on, on w, which must be a terminal. Stop must be called.
func Start(w io.Writer, what string) *Line {
	l := &Line{w: w, started: time.Now(), what: what, stop: make(chan struct{}), stopped: make(chan struct{})}
	ticks := time.NewTicker(interval)
	go func() {
		defer close(l.stopped)
		defer ticks.Stop()
		l.run(ticks.C)
	}()
	return l
}

func (l *Line) run(ticks <-chan time.Time) {
	for {
		select {
		case <-l.stop:
			return
		case now := <-ticks:
			if now.Sub(l.started) >= quietFor {
				l.show(now)
			}
		}
	}
}

func (l *Line) show(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shown = true
	// A line that can't be shown is no reason to fail the work that it is about.
	_, _ = fmt.Fprintf(l.w, "%s%s, %d s", eraseLine, l.what, int(now.Sub(l.started).Seconds()))
}

// Set replaces the text, such as "12 of 64 packs". The time is added to it.
func (l *Line) Set(what string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.what = what
}

// Stop erases the line. When it returns nothing more is written. A second call does nothing.
func (l *Line) Stop() {
	if l == nil {
		return
	}
	l.mu.Lock()
	first := !l.done
	l.done = true
	l.mu.Unlock()
	if !first {
		return
	}
	close(l.stop)
	<-l.stopped
	if l.shown {
		_, _ = io.WriteString(l.w, eraseLine)
	}
}
