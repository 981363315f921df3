package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/output"
)

func newExplain(a *app) *cobra.Command {
	var analyze bool
	c := &cobra.Command{
		Use:     "explain SQL",
		Short:   "Show a query's plan, and why it does or doesn't shuffle",
		Example: `  tarn explain --analyze "SELECT count(*) FROM sales.orders JOIN sales.customers USING (customer_id)"`,
		Args:    wants("SQL"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withEngine(c, func(ctx context.Context, e *tarn.Engine) error {
				text, err := e.Session().Explain(ctx, args[0], tarn.ExplainOptions{
					Analyze: analyze, JSON: a.format() == output.JSON,
				})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(a.stdout, strings.TrimRight(text, "\n"))
				return err
			})
		},
	}
	c.Flags().BoolVar(&analyze, "analyze", false, "run the query and show what it read")
	return c
}
