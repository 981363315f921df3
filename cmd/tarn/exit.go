package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/tarndb/tarn/internal/errs"
)

const exitCodesHelp = `Exit codes:
  0 done   1 failed   2 usage or syntax   3 not found   4 a check found problems   5 conflict   6 commit outcome unknown
  7 corrupt data   8 not supported   9 out of memory, disk or time   130 interrupted
`

// report tells an error to whoever called, and returns the exit code: the only place that does either.
func (a *app) report(ctx context.Context, err error, args []string) int {
	err = interruption(ctx, err)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EPIPE):
		return 0 // the reader has seen enough, as head does
	case errors.Is(err, syscall.ENOSPC):
		err = errs.Wrap(errs.Resource, "", "", err) // which a command that prints without a format didn't say
	}
	kind, message, hint := errs.KindOf(err), err.Error(), errs.HintOf(err)
	if wantsJSON(args) {
		a.reportJSON(kind, message, hint)
	} else {
		// When stderr is gone there is nobody left to tell.
		_, _ = fmt.Fprintln(a.stderr, "tarn:", oneLine(message))
		if hint != "" {
			_, _ = fmt.Fprintln(a.stderr, "hint:", oneLine(hint))
		}
	}
	return kind.ExitCode()
}

// interruption returns the error of a statement that ended with its ctx: whatever it is that the interruption broke, it is told
// as one. That nobody knows whether a commit happened must still be told.
func interruption(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, syscall.EPIPE) || errs.KindOf(err) == errs.CommitUnknown {
		return err
	}
	return errs.New(errs.Canceled, "", "", "interrupted")
}

func (a *app) reportJSON(kind errs.Kind, message, hint string) {
	type body struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	}
	encoder := json.NewEncoder(a.stderr)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(map[string]body{"error": {kind.String(), message, hint}})
}

// wantsJSON looks at the arguments themselves, for an error in them may have come before the flag was read.
func wantsJSON(args []string) bool {
	for i, arg := range args {
		value, inline := strings.CutPrefix(arg, "--format=")
		if arg == "--format" && i+1 < len(args) {
			value, inline = args[i+1], true
		}
		if inline && strings.HasPrefix(value, "json") {
			return true
		}
	}
	return false
}

func oneLine(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") }
