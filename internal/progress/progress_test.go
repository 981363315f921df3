package progress

import (
	"strings"
	"testing"
	"time"
)

func TestTheLineIsRewrittenAndErased(t *testing.T) {
	var out strings.Builder
	l := &Line{w: &out, what: "running", started: time.Now(), stop: make(chan struct{}), stopped: make(chan struct{})}
	ticks := make(chan time.Time)
	go func() {
		defer close(l.stopped)
		l.run(ticks)
	}()
	ticks <- l.started.Add(quietFor / 2)
	ticks <- l.started.Add(1200 * time.Millisecond)
	ticks <- l.started.Add(1300 * time.Millisecond) // received only after the one before was shown
	l.Set("12 of 64 packs")
	ticks <- l.started.Add(62 * time.Second)
	ticks <- l.started
	l.Stop()
	l.Stop()
	want := eraseLine + "running, 1 s" + eraseLine + "running, 1 s" + eraseLine + "12 of 64 packs, 62 s" + eraseLine
	got := out.String()
	// Set may come before the third tick was shown.
	got = strings.Replace(got, "12 of 64 packs, 1 s", "running, 1 s", 1)
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShortWorkShowsNothing(t *testing.T) {
	var out strings.Builder
	Start(&out, "running").Stop()
	if out.Len() > 0 {
		t.Errorf("got %q", out.String())
	}
	var none *Line
	none.Set("x")
	none.Stop()
}
