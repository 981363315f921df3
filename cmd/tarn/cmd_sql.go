package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
)

func newSQL(a *app) *cobra.Command {
	var given sources
	c := &cobra.Command{
		Use:   "sql [-c SQL]... [-f FILE]...",
		Short: "Run statements",
		Long: `Runs statements, in the order in which -c and -f give them, and stops at the first error. Without either it reads
standard input; on a terminal it asks for statements, each ended by a semicolon: Ctrl-C ends a statement, Ctrl-D the
session.`,
		Example: `  tarn sql -c "SELECT count(*) FROM sales.orders"
  tarn sql -f report.sql --format json -o report.json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(c, "tarn sql has no use for %q", args[0]).WithHint("give the statement with -c, or a file with -f")
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if len(given) == 0 && isTerminal(a.stdin) {
				if a.flags.output != "" {
					return usage(c, "a session writes to the terminal, not to a file").WithHint("give the statement with -c, or a file with -f")
				}
				return a.withEngine(c, a.shell)
			}
			if len(given) == 0 {
				given = sources{{"", "-"}}
			}
			return a.withEngine(c, func(ctx context.Context, e *tarn.Engine) error { return a.runSources(ctx, e, given) })
		},
	}
	given.add(c.Flags())
	return c
}

// source is one -c or -f.
type source struct{ text, file string }

// sources keeps -c and -f in the order in which they were given.
type sources []source

func (s *sources) add(flags *pflag.FlagSet) {
	flags.VarP(appender{"SQL", func(v string) { *s = append(*s, source{text: v}) }}, "command", "c", "run the statements in `SQL`; repeatable")
	flags.VarP(appender{"FILE", func(v string) { *s = append(*s, source{file: v}) }}, "file", "f", "run the statements in `FILE`, or standard input for -; repeatable")
}

// appender is a flag that passes each of its values on.
type appender struct {
	typ string
	add func(string)
}

func (f appender) String() string     { return "" }
func (f appender) Set(v string) error { f.add(v); return nil }
func (f appender) Type() string       { return f.typ }

func (a *app) runSources(ctx context.Context, e *tarn.Engine, given sources) (err error) {
	out, err := a.results(ctx)
	if err != nil {
		return err
	}
	defer func() { err = out.close(err) }()
	session := e.Session()
	for _, s := range given {
		text, err := a.read(ctx, s)
		if err != nil {
			return err
		}
		if err := out.run(ctx, session, text); err != nil {
			return err
		}
	}
	return nil
}

// read returns a source's text. Standard input may never end, so it isn't waited for beyond an interrupt.
func (a *app) read(ctx context.Context, s source) (string, error) {
	switch s.file {
	case "":
		return s.text, nil
	case "-":
		type result struct {
			text []byte
			err  error
		}
		done := make(chan result, 1)
		go func() {
			text, err := io.ReadAll(a.stdin)
			done <- result{text, err}
		}()
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case r := <-done:
			return string(r.text), errs.Wrap(errs.Invalid, "read", "standard input", r.err)
		}
	}
	text, err := os.ReadFile(s.file)
	if os.IsNotExist(err) {
		return "", errs.New(errs.NotFound, "read", s.file, "there is no such file")
	}
	return string(text), errs.Wrap(errs.Invalid, "read", s.file, err)
}
