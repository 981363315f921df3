package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/tarndb/tarn/internal/demo"
	"github.com/tarndb/tarn/internal/errs"
)

func newDemo(a *app) *cobra.Command {
	var opts demo.Options
	c := &cobra.Command{
		Use:   "demo [--rows N] [--dir DIR]",
		Short: "Make two bucketed tables and join them both ways",
		Long: `Makes sales.orders and sales.customers, both bucket(64, customer_id), in an embedded lake, unless they are there.
Then it joins them bucket by bucket and by the whole-query plan, and shows the plan, the answer, and what each took.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(c, "tarn demo has no use for %q", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("rows") && opts.Rows < 1 {
				return usage(c, "--rows %d is no number of rows", opts.Rows)
			}
			var err error
			if opts.Program, err = os.Executable(); err != nil {
				return errs.Wrap(errs.Invalid, "find", "this program", err)
			}
			if a.flags.memory != "" {
				if opts.MemoryBytes, err = a.memoryBytes(); err != nil {
					return err
				}
			}
			if opts.Threads, err = a.threads(); err != nil {
				return err
			}
			return demo.Run(c.Context(), a.stdout, opts)
		},
	}
	c.Flags().Int64Var(&opts.Rows, "rows", 0, "`N` rows of sales.orders (default: a million)")
	c.Flags().StringVar(&opts.Dir, "dir", "", "make the lake in `DIR` (default: tarn-lake)")
	return c
}
