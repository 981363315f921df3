package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// TestInterrupted: an interruption is told as one, but a commit that may have happened is told as that.
func TestInterrupted(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	unknown := &errs.Error{Kind: errs.CommitUnknown, Op: "commit to", Object: "db.t", Hint: "look for the snapshot", Err: context.Canceled}
	for _, c := range []struct {
		ctx  context.Context
		err  error
		code int
		says string
	}{
		{ended, nil, 0, ""},
		{ended, errors.New("a query was called off"), 130, "tarn: interrupted\n"},
		{ended, errs.Wrap(errs.Internal, "run", "ALTER TABLE", unknown), 6, "hint: look for the snapshot\n"},
		{t.Context(), unknown, 6, "hint: look for the snapshot\n"},
	} {
		var out bytes.Buffer
		a := &app{stderr: &out}
		if code := a.report(c.ctx, c.err, nil); code != c.code || !strings.HasSuffix(out.String(), c.says) {
			t.Errorf("%v: code %d, %s", c.err, code, out.String())
		}
	}
}
