package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tarndb/tarn/internal/errs"
)

// usage is an error in the command line of a command.
func usage(c *cobra.Command, format string, args ...any) *errs.Error {
	return errs.New(errs.Syntax, "", "", format, args...).WithHint("%s --help shows how it is used", c.CommandPath())
}

// wants checks that each named argument is there and that no other is. A name that ends in "..." takes any number, one
// in brackets may be missing.
func wants(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		for i, name := range names {
			if strings.HasSuffix(name, "...") {
				return nil
			}
			if i >= len(args) && !strings.HasPrefix(name, "[") {
				return usage(c, "%s needs %s", c.CommandPath(), strings.Join(names[i:], " and "))
			}
		}
		if len(args) > len(names) {
			return usage(c, "%s has no use for %q", c.CommandPath(), unmark(args[len(names)]))
		}
		return nil
	}
}

// helpOrUnknown is what a command that only groups others does when none of them was named.
func helpOrUnknown(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	return unknownCommand(c, args)
}

func unknownCommand(c *cobra.Command, args []string) error {
	name := strings.Join(args, " ")
	var known []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			known = append(known, sub.Name())
		}
	}
	err := usage(c, "%s has no command %q", c.CommandPath(), name)
	if near := errs.Nearest(name, known); near != "" {
		return err.WithHint("did you mean %s %s?", c.CommandPath(), near)
	}
	return err
}

// flagError makes an error of the flag parser one of ours, with the flag that was probably meant.
func flagError(c *cobra.Command, err error) error {
	wrong := usage(c, "%s", err)
	name, isUnknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !isUnknown {
		return wrong
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := errs.Nearest(name, known); near != "" {
		return wrong.WithHint("did you mean --%s?", near)
	}
	return wrong
}

// numberMark stands before an argument that is a negative number and not the value of a flag, so that the flag parser
// lets it pass. No argument can hold a NUL of its own.
const numberMark = "\x00"

func markNumbers(args []string) []string {
	out := make([]string, len(args))
	afterFlag := false
	for i, arg := range args {
		out[i] = arg
		if !afterFlag && len(arg) > 1 && arg[0] == '-' && (arg[1] == '.' || arg[1] >= '0' && arg[1] <= '9') {
			out[i] = numberMark + arg
		}
		afterFlag = arg != "" && out[i][0] == '-'
	}
	return out
}

// unmark returns an argument as it was given.
func unmark(arg string) string { return strings.TrimPrefix(arg, numberMark) }
