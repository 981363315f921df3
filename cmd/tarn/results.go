package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/output"
	"github.com/tarndb/tarn/internal/progress"
)

// results is where a command writes what it found: in the format and to the place that the flags say.
type results struct {
	app    *app
	writer output.Writer
	format string
	file   *output.File // nil for standard output
}

// byExtension are the formats that a file's name asks for.
var byExtension = map[string]string{
	".csv": output.CSV, ".json": output.JSON, ".jsonl": output.JSONL, ".ndjson": output.JSONL, ".md": output.Markdown,
	".txt": output.Table, ".parquet": output.Parquet, ".arrow": output.Arrow,
}

// format returns the format that is asked for, or fits where the results go.
func (a *app) format() string {
	switch {
	case a.flags.format != "":
		return a.flags.format
	case a.flags.output != "":
		if format := byExtension[strings.ToLower(filepath.Ext(a.flags.output))]; format != "" {
			return format
		}
	case isTerminal(a.stdout):
		return output.Table
	}
	return output.CSV
}

// results opens the command's output; writing to it ends with ctx. close must be called.
func (a *app) results(ctx context.Context) (*results, error) {
	format := a.format()
	if output.IsBinary(format) && a.flags.output == "" {
		return nil, errs.New(errs.Syntax, "", "--format "+format, "it is for a file").WithHint("give -o FILE")
	}
	r := &results{app: a, format: format}
	target, opts := io.Writer(untilDone{ctx, a.stdout}), output.Options{}
	if isTerminal(a.stdout) {
		opts = output.Options{Width: terminalWidth(a.stdout), Bold: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	}
	if a.flags.output != "" {
		// The writer is made first, so that a wrong format leaves no file behind.
		if _, err := output.New(format, io.Discard, opts); err != nil {
			return nil, err
		}
		var err error
		if r.file, err = output.Create(a.flags.output); err != nil {
			return nil, err
		}
		target, opts = r.file, output.Options{}
	}
	var err error
	r.writer, err = output.New(format, target, opts)
	return r, err
}

// close ends the output. After an error a file is thrown away; the error comes back.
func (r *results) close(err error) error {
	if closed := r.writer.Close(); err == nil {
		err = closed // after an error it would only say the same again
	}
	switch {
	case r.file == nil:
		return err
	case err != nil:
		r.file.Abort()
		return err
	}
	return r.file.Commit()
}

// run runs the statements of a text one after another, up to the first error.
func (r *results) run(ctx context.Context, session *tarn.Session, text string) error {
	statements, err := session.Split(text)
	if err != nil {
		return err
	}
	for _, stmt := range statements {
		if err := r.statement(ctx, session, stmt); err != nil {
			return err
		}
	}
	return nil
}

func (r *results) statement(ctx context.Context, session *tarn.Session, stmt string) error {
	line := r.app.progress("planning")
	defer line.Stop()
	session.OnProgress(func(done, total int) { line.Set(fmt.Sprintf("%d of %d packs", done, total)) })
	rows, err := session.Query(ctx, stmt)
	if err != nil {
		return err
	}
	return r.write(ctx, rows, line)
}

// write writes one statement's rows, or that it had none, and closes them.
func (r *results) write(ctx context.Context, rows *tarn.Rows, line *progress.Line) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	if !rows.HasRows() {
		var counts []output.Count
		var told []string
		for _, c := range rows.Counts() {
			counts = append(counts, output.Count(c))
			told = append(told, fmt.Sprintf("%s: %d", c.Name, c.Value))
		}
		if len(counts) > 0 && !output.HasCounts(r.format) {
			r.app.notice(strings.Join(told, ", "))
		}
		return r.writer.Done(counts)
	}
	columns := make([]output.Column, len(rows.Columns()))
	for i, c := range rows.Columns() {
		columns[i] = output.Column{Name: c.Name, Type: c.Type}
	}
	line.Set("running")
	batch, err := rows.Next(ctx)
	line.Stop() // the rows themselves are the sign of life now
	if err != nil && !errors.Is(err, io.EOF) {
		return err // before a heading was written: a statement that fails at once leaves no trace in the output
	}
	if err := r.writer.Begin(columns); err != nil {
		return err
	}
	for ; err == nil; batch, err = rows.Next(ctx) {
		failed := r.writer.Write(batch)
		batch.Release()
		if failed != nil {
			return failed
		}
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return r.writer.End()
}

// progress starts a line of progress, if there is a terminal to show it.
func (a *app) progress(what string) *progress.Line {
	if a.flags.quiet || !isTerminal(a.stderr) {
		return nil
	}
	return progress.Start(a.stderr, what)
}

// withEngine opens the engine for the time of fn.
func (a *app) withEngine(c *cobra.Command, fn func(ctx context.Context, e *tarn.Engine) error) (err error) {
	e, err := a.open(c.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return fn(c.Context(), e)
}
