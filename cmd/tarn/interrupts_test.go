package main

import (
	"context"
	"os"
	"syscall"
	"testing"
)

func TestInterruptsEndTheRightThing(t *testing.T) {
	var in interrupts
	ctx, stop := in.watch(context.Background(), func() { t.Error("nothing has to end at once") })
	defer stop()
	statement, cancel := context.WithCancel(ctx)
	defer cancel()

	restore := in.direct(cancel)
	if !in.handle(os.Interrupt) || statement.Err() == nil || ctx.Err() != nil {
		t.Error("the first interrupt must end the statement alone")
	}
	if in.handle(os.Interrupt) {
		t.Error("the second interrupt of one statement must end the process")
	}
	restore()

	statement, cancel = context.WithCancel(ctx)
	defer cancel()
	restore = in.direct(cancel)
	if !in.handle(syscall.SIGTERM) || ctx.Err() == nil {
		t.Error("a request to terminate must end everything, whatever is running")
	}
	restore()
	if statement.Err() == nil {
		t.Error("the end of everything must end the statement too")
	}
}

func TestArgumentsThatLookLikeFlags(t *testing.T) {
	args := []string{"hash", "long", "-34", "-n", "-4", "-.5", "-", "--", "", "-x"}
	marked := markNumbers(args)
	for i, want := range []bool{false, false, true, false, false, false, false, false, false, false} {
		if (marked[i] != args[i]) != want || unmark(marked[i]) != args[i] {
			t.Errorf("argument %d, %q, becomes %q", i, args[i], marked[i])
		}
	}
}
