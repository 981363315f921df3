package main

import (
	"github.com/spf13/cobra"

	"github.com/tarndb/tarn/internal/config"
)

func newConfig(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration",
		Args:  cobra.ArbitraryArgs,
		RunE:  helpOrUnknown,
	}
	c.AddCommand(&cobra.Command{
		Use:   "show",
		Short: "Show the catalogs, and where each value comes from; secrets are masked",
		Args:  wants(),
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := a.loadConfig()
			if err != nil {
				return err
			}
			return a.list(c.Context(), []string{"catalog", "key", "value", "from"}, configRows(found))
		},
	})
	return c
}

func configRows(found *config.Config) [][]any {
	rows := [][]any{{"", "default-catalog", found.Default.Text, found.Default.Origin}}
	for _, c := range found.Catalogs {
		for _, key := range c.Keys() {
			rows = append(rows, []any{c.Name, key, c.Masked(key), c.Values[key].Origin})
		}
	}
	return rows
}
