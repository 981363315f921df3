package errs

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Kind says what sort of thing went wrong. It decides the exit code and whether trying again can help.
type Kind uint8

// The kinds. The zero value is Internal, so that a forgotten kind is treated as our own bug.
const (
	Internal      Kind = iota // a bug of ours
	Syntax                    // the statement or the command line can't be read
	NotFound                  // a table, column, catalog, snapshot or file isn't there
	Exists                    // what should be made is already there
	Invalid                   // the request makes no sense on this object, or rights are missing
	Unsupported               // meaningful, but not built: never answered by a guess
	Conflict                  // another writer came first
	CommitUnknown             // the commit may or may not have happened
	Corrupt                   // stored bytes contradict themselves or the spec
	Transient                 // may pass when tried again
	Resource                  // out of memory, disk or time
	Canceled                  // the caller stopped it
	CheckFailed               // a check ran to its end and found problems
)

type traits struct {
	name  string
	exit  int
	retry bool
}

// table is the one place that maps a kind to its name, its exit code and whether to try again.
var table = [...]traits{
	Internal:      {"internal", 1, false},
	Syntax:        {"syntax", 2, false},
	NotFound:      {"not-found", 3, false},
	Exists:        {"exists", 1, false},
	Invalid:       {"invalid", 1, false},
	Unsupported:   {"unsupported", 8, false},
	Conflict:      {"conflict", 5, true},
	CommitUnknown: {"commit-unknown", 6, false},
	Corrupt:       {"corrupt", 7, false},
	Transient:     {"transient", 1, true},
	Resource:      {"resource", 9, false},
	Canceled:      {"canceled", 130, false},
	CheckFailed:   {"check-failed", 4, false},
}

// String returns the kind's name as it stands in JSON output.
func (k Kind) String() string { return table[k].name }

// ExitCode returns the process exit code for the kind.
func (k Kind) ExitCode() int { return table[k].exit }

// Retryable says whether the same call may succeed when made again.
func (k Kind) Retryable() bool { return table[k].retry }

// Error is the one error type that crosses package boundaries.
type Error struct {
	Kind   Kind
	Op     string // what was attempted, such as "read manifest"; may be empty
	Object string // on which table, file or column; may be empty
	Msg    string // what was found and what was needed
	Hint   string // the next step for a person; may be empty
	Err    error  // the cause; may be nil
}

// New returns an error of kind about object: what was found and what was needed, in printf form.
func New(kind Kind, op, object, format string, args ...any) *Error {
	return &Error{Kind: kind, Op: op, Object: object, Msg: fmt.Sprintf(format, args...)}
}

// Wrap gives err a kind, an operation and an object. It returns nil for a nil err, and keeps the kind of an err that
// has one already: the place closest to the fault knows best.
func Wrap(kind Kind, op, object string, err error) error {
	if err == nil {
		return nil
	}
	if own := KindOf(err); own != Internal {
		kind = own
	}
	return &Error{Kind: kind, Op: op, Object: object, Err: err}
}

// WithHint returns e with a next step for a person.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// Reword returns err with word applied to the messages and hints of the Errors that its chain, or each of several joined
// ones, begins with. Kinds, objects and causes stay.
func Reword(err error, word func(string) string) error {
	switch e := err.(type) { //nolint:errorlint // each link of the chain is looked at by itself
	case *Error:
		c := *e
		c.Msg, c.Hint, c.Err = word(e.Msg), word(e.Hint), Reword(e.Err, word)
		return &c
	case interface{ Unwrap() []error }:
		var all []error
		for _, one := range e.Unwrap() {
			all = append(all, Reword(one, word))
		}
		return errors.Join(all...)
	}
	return err
}

// Error renders "op object: message: cause", leaving out what is empty.
func (e *Error) Error() string {
	head := strings.TrimSpace(e.Op + " " + e.Object)
	parts := make([]string, 0, 3)
	for _, p := range []string{head, e.Msg} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost Error in err's chain. Context cancellation is Canceled, a passed deadline is
// Resource, anything else is Internal.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return Resource
	}
	return Internal
}

// IsAbout says whether an Error in err's chain has that object.
func IsAbout(err error, object string) bool {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return false
		}
		if e.Object == object {
			return true
		}
		err = e.Err
	}
	return false
}

// HintOf returns the first hint in err's chain, or "".
func HintOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}
