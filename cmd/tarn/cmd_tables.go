package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/catalog"
)

func newTables(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "tables [NAMESPACE]",
		Short: "List the tables of the default catalog, of another one, or of a namespace",
		Args:  wants("[NAMESPACE]"),
		RunE: func(c *cobra.Command, args []string) error {
			namespace := ""
			if len(args) > 0 {
				namespace = args[0]
			}
			return a.withEngine(c, func(ctx context.Context, e *tarn.Engine) error {
				tables, err := e.Tables(ctx, namespace)
				if err != nil {
					return err
				}
				var rows [][]any
				for _, t := range tables {
					last := len(t.Ident) - 1
					rows = append(rows, []any{t.Catalog, t.Ident[:last].String(), catalog.ShownName(t.Ident[last])})
				}
				return a.list(ctx, []string{"catalog", "namespace", "table"}, rows)
			})
		},
	}
}
