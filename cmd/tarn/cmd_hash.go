package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

func newHash(a *app) *cobra.Command {
	var buckets int
	var vectors bool
	c := &cobra.Command{
		Use:   "hash TYPE VALUE",
		Short: "Show a value's hash and its bucket, by the Iceberg spec",
		Example: `  tarn hash long 34 -n 16
  tarn hash "decimal(9,2)" 14.20
  tarn hash --vectors`,
		Args: func(c *cobra.Command, args []string) error {
			if vectors {
				return wants()(c, args)
			}
			return wants("TYPE", "VALUE")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case vectors:
				return a.checkVectors()
			case c.Flags().Changed("buckets") && (buckets < 1 || buckets > maxBuckets):
				return usage(c, "%d is not a number of buckets: want 1 to %d", buckets, maxBuckets)
			}
			return a.hash(c.Context(), args[0], unmark(args[1]), buckets)
		},
	}
	c.Flags().IntVarP(&buckets, "buckets", "n", 0, "also show the bucket of `N`")
	c.Flags().BoolVar(&vectors, "vectors", false, "check the spec's own hash values")
	return c
}

// maxBuckets is the most buckets that the spec's 32-bit count can name.
const maxBuckets = 1<<31 - 1

func (a *app) hash(ctx context.Context, typeText, valueText string, buckets int) error {
	typ, value, err := parseValue(typeText, valueText)
	if err != nil {
		return err
	}
	hash, err := transform.Hash(typ, value)
	if err != nil {
		return errs.Wrap(errs.Invalid, "hash", typeText, err)
	}
	columns := []string{"type", "value", "hash"}
	row := []any{typ.String(), transform.FormatValue(typ, value), int64(hash)}
	if buckets > 0 {
		columns = append(columns, "bucket")
		row = append(row, int64(transform.BucketOf(hash, buckets)))
	}
	return a.list(ctx, columns, [][]any{row})
}

func parseValue(typeText, valueText string) (transform.Type, transform.Value, error) {
	typ, err := transform.ParseType(typeText)
	if err != nil {
		return typ, nil, errs.Wrap(errs.Syntax, "read type", typeText, err)
	}
	value, err := transform.ParseValue(typ, valueText)
	return typ, value, errs.Wrap(errs.Syntax, "read value", valueText, err)
}

// checkVectors hashes the spec's own examples.
func (a *app) checkVectors() error {
	vectors := transform.SpecVectors()
	wrong := 0
	for _, v := range vectors {
		typ, value, err := parseValue(v.Type, v.Value)
		if err != nil {
			return err
		}
		got, err := transform.Hash(typ, value)
		if err == nil && got == v.Hash {
			continue
		}
		wrong++
		if _, err := fmt.Fprintf(a.stdout, "wrong: %s %s hashes to %d, want %d\n", v.Type, v.Value, got, v.Hash); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return errs.New(errs.CheckFailed, "check", "hash vectors", "%d of %d are wrong", wrong, len(vectors))
	}
	_, err := fmt.Fprintf(a.stdout, "ok: %d vectors\n", len(vectors))
	return err
}
