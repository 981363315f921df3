package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/meter"
	_ "github.com/tarndb/tarn/internal/startup"
)

func main() { os.Exit(run(os.Args[1:])) }

// run is the whole process but for its end, so that whatever was deferred is done whichever way it ends.
func run(args []string) int {
	// A closed pipe is an error to be met where it happens, with everything cleaned up, and not the end of the process.
	signal.Ignore(syscall.SIGPIPE)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	defer a.removeTemp()
	ctx, stop := a.interrupts.watch(context.Background(), a.removeTemp)
	defer stop()
	root := newRoot(a)
	root.SetArgs(markNumbers(args))
	err := root.ExecuteContext(ctx)
	if a.flags.usage != "" {
		err = errors.Join(err, errs.Wrap(errs.Invalid, "write", "usage", meter.Write(a.flags.usage)))
	}
	return a.report(ctx, err, args)
}

// app is what the commands share.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	flags      globalFlags
	interrupts interrupts
	temp       tempFolder
}

// newRoot returns the command line's grammar.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "tarn",
		Short: "SQL over Apache Iceberg tables; joins follow the tables' layout and don't shuffle",
		Long: `Tarn runs SQL over Apache Iceberg tables. Where two tables are laid out by the same partition transform it joins
them partition by partition, where they lie, instead of shuffling them, and it says why when it can't.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs, // else cobra words the error for an unknown command
		RunE:          helpOrUnknown,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(root.UsageTemplate() + "\n" + exitCodesHelp)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	a.flags.add(root.PersistentFlags())
	for _, command := range []*cobra.Command{
		newDemo(a), newSQL(a), newExplain(a), newCheck(a), newTables(a), newDescribe(a), newHash(a), newConfig(a), newVersion(a),
	} {
		root.AddCommand(command)
	}
	root.SetHelpCommand(newHelp(root))
	return root
}

// newHelp is cobra's help command, but that it words the error for an unknown topic as all others are.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does",
		RunE: func(_ *cobra.Command, args []string) error {
			command, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(command, rest)
			}
			command.InitDefaultHelpFlag() // as --help does, so that both show the same
			return command.Help()
		},
	}
}

// isTerminal says whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth returns the width of a terminal in columns, or 0 where it can't be told.
func terminalWidth(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
