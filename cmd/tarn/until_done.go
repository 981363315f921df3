package main

import (
	"context"
	"io"
	"slices"
)

// untilDone is a writer whose calls end with a context, though a pipe that nobody reads holds them up. What was held up
// may still be written later.
type untilDone struct {
	ctx context.Context
	w   io.Writer
}

func (u untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	own := slices.Clone(p) // the caller's again when we return, and perhaps still being written
	go func() {
		n, err := u.w.Write(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-u.ctx.Done():
		return 0, u.ctx.Err()
	}
}
