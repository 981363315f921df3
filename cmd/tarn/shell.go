package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/tarndb/tarn"
)

const (
	promptFirst = "tarn> "
	promptMore  = " ...> "
)

// shell asks for statements on a terminal and runs each one as soon as it is whole. An error ends the statement, not the
// session.
func (a *app) shell(ctx context.Context, e *tarn.Engine) error {
	session := e.Session()
	lines := readLines(a.stdin)
	pending := ""
	for {
		line, end, err := a.ask(ctx, lines, pending != "")
		switch {
		case err != nil:
			return err
		case end == interrupted:
			pending = ""
			continue
		case end == closed:
			_, _ = fmt.Fprintln(a.stdout)
			return nil
		}
		pending += line + "\n"
		if !isWhole(session, pending) {
			continue
		}
		if err := a.runOne(ctx, session, pending); err != nil {
			return err
		}
		pending = ""
	}
}

// readLines reads lines until the input ends. The goroutine ends with the input, at the latest with the process: a read
// from a terminal can't be called off.
func readLines(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewReader(r); ; {
			line, err := scanner.ReadString('\n')
			if line != "" {
				lines <- strings.TrimRight(line, "\r\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// answer says how a prompt was answered.
type answer uint8

const (
	aLine answer = iota
	interrupted
	closed
)

// ask prompts for a line. Ctrl-C throws away what was begun.
func (a *app) ask(ctx context.Context, lines <-chan string, more bool) (string, answer, error) {
	prompt := promptFirst
	if more {
		prompt = promptMore
	}
	if _, err := fmt.Fprint(a.stdout, prompt); err != nil {
		return "", closed, err
	}
	thrown := make(chan struct{})
	defer a.interrupts.direct(func() { close(thrown) })()
	select {
	case <-ctx.Done():
		return "", closed, ctx.Err()
	case <-thrown:
		_, err := fmt.Fprintln(a.stdout)
		return "", interrupted, err
	case line, ok := <-lines:
		if !ok {
			return "", closed, nil
		}
		return line, aLine, nil
	}
}

// isWhole says whether text ends with a semicolon that ends a statement. What follows it would begin another one, so a
// further word makes one statement more; after anything else, or in an open quote, it doesn't.
func isWhole(session *tarn.Session, text string) bool {
	before, err := session.Split(text)
	if err != nil {
		return false
	}
	after, err := session.Split(text + " SELECT")
	return err == nil && len(after) > len(before) && len(before) > 0
}

// runOne runs what was entered. It returns an error only when the session can't go on.
func (a *app) runOne(parent context.Context, session *tarn.Session, text string) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	defer a.interrupts.direct(cancel)()
	err := a.runText(ctx, session, text)
	if parent.Err() != nil || errors.Is(err, syscall.EPIPE) {
		return err
	}
	a.report(parent, interruption(ctx, err), nil)
	return nil
}

func (a *app) runText(ctx context.Context, session *tarn.Session, text string) (err error) {
	out, err := a.results(ctx)
	if err != nil {
		return err
	}
	defer func() { err = out.close(err) }()
	return out.run(ctx, session, text)
}
