package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/output"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/verdict"
)

func newCheck(a *app) *cobra.Command {
	var on, engines []string
	c := &cobra.Command{
		Use:   "check SQL | check TABLE TABLE [--on COLUMN]",
		Short: "Say whether a query's joins would run without a shuffle, in Tarn, Spark and Trino",
		Long: `Says of each join of a query, or of a join of two tables, whether Tarn, Spark and Trino would run it without a shuffle:
which settings that takes, which precondition fails, and the statement that mends it. Nothing is run. The exit code is 4
when a join is shuffled or goes wrong in one of the engines.

Without --on the tables are joined by the columns that both layouts have.`,
		Example: `  tarn check "SELECT count(*) FROM sales.orders JOIN sales.customers USING (customer_id)"
  tarn check sales.orders sales.customers --on customer_id
  tarn check sales.orders sales.clients --on customer_id=id --engine spark --format json`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || len(args) > 2:
				return usage(c, "tarn check takes a query or two tables, not %d arguments", len(args)).WithHint("for more tables give the query, in quotes")
			case len(args) == 1 && len(on) > 0:
				return usage(c, "--on is for two tables; a query has its own condition")
			}
			for _, e := range engines {
				if !slices.Contains(verdict.EngineNames(), e) {
					return usage(c, "there are no rules for the engine %q", e).WithHint("there are: %s", strings.Join(verdict.EngineNames(), ", "))
				}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.withEngine(c, func(ctx context.Context, e *tarn.Engine) error {
				query := args[0]
				if len(args) == 2 {
					var err error
					if query, err = joinOf(ctx, e, args[0], args[1], on); err != nil {
						return err
					}
				}
				report, err := e.Session().Check(ctx, query)
				if err != nil {
					return err
				}
				if len(engines) > 0 {
					report = report.Only(func(name string) bool { return slices.Contains(engines, name) })
				}
				return a.showCheck(ctx, report)
			})
		},
	}
	c.Flags().StringSliceVar(&on, "on", nil, "join the tables by `COLUMN`, or LEFT=RIGHT where the names differ; repeatable")
	c.Flags().StringSliceVar(&engines, "engine", nil, "judge for `NAME` only: tarn, spark or trino; repeatable")
	return c
}

// showCheck writes the report, and makes an error of what isn't fine.
func (a *app) showCheck(ctx context.Context, report *tarn.CheckReport) error {
	var err error
	switch isText := a.flags.format == "" && a.flags.output == ""; {
	case isText:
		_, err = fmt.Fprint(a.stdout, report.Text(terminalWidth(a.stdout)))
	case a.format() == output.JSON:
		err = a.writeText(report.JSON() + "\n")
	default:
		err = a.list(ctx, []string{"join", "condition", "tables", "engine", "shuffle", "settings", "rule", "found", "mend"}, checkRows(report))
	}
	if err != nil {
		return err
	}
	if failing := report.Failing(); len(failing) > 0 {
		return errs.New(errs.CheckFailed, "check", "joins", "not without a shuffle in %s", strings.Join(failing, ", "))
	}
	return nil
}

// writeText writes a text to where results go.
func (a *app) writeText(text string) error {
	if a.flags.output == "" {
		_, err := fmt.Fprint(a.stdout, text)
		return err
	}
	f, err := output.Create(a.flags.output)
	if err != nil {
		return err
	}
	if _, err := f.Write([]byte(text)); err != nil {
		f.Abort()
		return err
	}
	return f.Commit()
}

// checkRows has a row for each precondition that fails, or one for a verdict without any.
func checkRows(report *tarn.CheckReport) [][]any {
	var rows [][]any
	for _, j := range report.Joins {
		for _, v := range j.Verdicts {
			found := v.Problems
			if len(found) == 0 {
				found = []verdict.Finding{{}}
			}
			for _, f := range found {
				rows = append(rows, []any{
					j.Name, j.Condition, strings.Join(j.Tables, ", "), v.Engine, string(v.Shuffle), strings.Join(v.Settings, " "), string(f.Rule), f.What, f.Mend,
				})
			}
		}
	}
	return rows
}

// joinOf writes the join of two tables.
func joinOf(ctx context.Context, e *tarn.Engine, left, right string, on []string) (string, error) {
	l, _, err := e.Table(ctx, left)
	if err != nil {
		return "", err
	}
	r, _, err := e.Table(ctx, right)
	if err != nil {
		return "", err
	}
	if len(on) == 0 {
		if on, err = sharedColumns(l, r); err != nil {
			return "", err
		}
	}
	conditions := make([]string, len(on))
	for i, text := range on {
		lc, rc, ok := strings.Cut(text, "=")
		if !ok {
			rc = lc
		}
		if lc, err = columnOf(l, lc); err != nil {
			return "", err
		}
		if rc, err = columnOf(r, rc); err != nil {
			return "", err
		}
		conditions[i] = "a." + quote.Name(lc) + " = b." + quote.Name(rc)
	}
	return fmt.Sprintf("SELECT * FROM %s AS a JOIN %s AS b ON %s", left, right, strings.Join(conditions, " AND ")), nil
}

// columnOf returns a column's own spelling.
func columnOf(t *catalog.Table, name string) (string, error) {
	name = strings.TrimSpace(name)
	for _, exact := range []bool{true, false} {
		for _, f := range t.Schema.Fields {
			if f.Name == name || !exact && strings.EqualFold(f.Name, name) {
				return f.Name, nil
			}
		}
	}
	return "", errs.New(errs.NotFound, "find column", name, "%s has none of that name", t.Ident).
		WithHint("it has %s", strings.Join(columnNames(t), ", "))
}

func columnNames(t *catalog.Table) []string {
	out := make([]string, len(t.Schema.Fields))
	for i, f := range t.Schema.Fields {
		out[i] = catalog.ShownName(f.Name)
	}
	return out
}

// sharedColumns returns the columns that both layouts have, or else those of one layout that the other table has.
func sharedColumns(l, r *catalog.Table) ([]string, error) {
	left, right := layoutColumns(l), layoutColumns(r)
	both := slices.DeleteFunc(slices.Clone(left), func(n string) bool { return !slices.Contains(right, n) })
	if len(both) > 0 {
		return both, nil
	}
	for _, pair := range []struct {
		names []string
		of    *catalog.Table
	}{{left, r}, {right, l}} {
		for _, n := range pair.names {
			if _, err := columnOf(pair.of, n); err == nil {
				both = append(both, n)
			}
		}
	}
	if len(both) == 0 {
		return nil, errs.New(errs.Invalid, "check", "tables", "the layouts of %s and %s have no column in common", l.Ident, r.Ident).
			WithHint("say which columns are joined: --on COLUMN, or --on LEFT=RIGHT")
	}
	return both, nil
}

// layoutColumns returns the names of the columns that a table's current spec is of, in lower case.
func layoutColumns(t *catalog.Table) []string {
	var out []string
	for _, f := range t.Spec().Fields {
		for _, id := range f.Sources {
			if c, ok := t.Schema.Field(id); ok && !slices.Contains(out, strings.ToLower(c.Name)) {
				out = append(out, strings.ToLower(c.Name))
			}
		}
	}
	return out
}
