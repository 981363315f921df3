package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
)

// Options say what the demo makes and where. The zero value of a field is its default, but for Program.
type Options struct {
	Rows        int64  // of sales.orders; 0: a million
	Dir         string // the lake's folder; "": tarn-lake, the embedded default
	MemoryBytes int64  // for each plan's process; 0: a quarter of the machine's
	Threads     int    // 0: one per core
	// Program runs the command line in a process of its own, so that each plan's memory can be told apart.
	Program string
}

// DefaultDir is where the embedded lake lies.
const DefaultDir = "tarn-lake"

// Query is the question that the demo asks: a join and a grouping by the key.
const Query = `SELECT c.customer_id, c.name, count(*) AS orders, sum(o.amount) AS total
FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.customer_id
GROUP BY c.customer_id, c.name
ORDER BY total DESC, customer_id
LIMIT 5`

func (o *Options) fill() {
	if o.Rows == 0 {
		o.Rows = 1_000_000
	}
	if o.Dir == "" {
		o.Dir = DefaultDir
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
}

// Run makes the tables unless they are there, runs the join both ways and tells the outcome on w.
func Run(ctx context.Context, w io.Writer, o Options) error {
	o.fill()
	l, err := o.make(ctx, w)
	if err != nil {
		return err
	}
	if err := l.showPlan(ctx, w); err != nil {
		return err
	}
	if err := compare(ctx, w, l, o); err != nil {
		return err
	}
	return next(w, l, o)
}

// Make makes the tables unless they are there, and returns the command line's flags for their lake.
func Make(ctx context.Context, w io.Writer, o Options) (flags []string, err error) {
	o.fill()
	l, err := o.make(ctx, w)
	if err != nil {
		return nil, err
	}
	return l.flags(), nil
}

func (o Options) make(ctx context.Context, w io.Writer) (*lakeFolder, error) {
	if o.Rows < 100 {
		return nil, errs.New(errs.Invalid, "make demo", "", "%d rows are too few to show anything: give at least 100", o.Rows)
	}
	l, err := openLake(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	made, err := l.fill(ctx, w, o)
	if err := cmp.Or(err, l.close()); err != nil {
		return nil, err
	}
	if !made {
		fmt.Fprintf(w, "Using the tables that are in %s already.\n", o.Dir)
	}
	return l, nil
}

// showPlan prints the query and its plan.
func (l *lakeFolder) showPlan(ctx context.Context, w io.Writer) error {
	e, err := tarn.Open(ctx, l.config())
	if err != nil {
		return err
	}
	defer e.Close()
	text, err := e.Session().Explain(ctx, Query, tarn.ExplainOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nThe question:\n\n%s\nThe plan (tarn explain):\n\n%s", indent(Query), indent(text))
	return nil
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// compare runs the question by both plans and prints what each took.
func compare(ctx context.Context, w io.Writer, l *lakeFolder, o Options) error {
	var outcomes []Outcome
	for _, mode := range []string{"auto", "off"} {
		out, err := Measure(ctx, o, l.flags(), mode, Query)
		if err != nil {
			return err
		}
		outcomes = append(outcomes, out)
	}
	joined, whole := outcomes[0], outcomes[1]
	if joined.Answer != whole.Answer {
		return errs.New(errs.Internal, "compare", "the two plans", "they gave different rows:\n%s\nand\n%s", joined.Answer, whole.Answer)
	}
	fmt.Fprintf(w, "\nThe answer, the same by both plans:\n\n%s\n", indent(joined.Answer))
	fmt.Fprintf(w, "%-44s %10s %10s %12s\n", "", "wall", "CPU", "peak memory")
	for i, name := range []string{"bucket by bucket (tarn.spj = 'auto')", "the whole query at once (tarn.spj = 'off')"} {
		r := outcomes[i]
		fmt.Fprintf(w, "%-44s %8.2f s %8.2f s %8.0f MiB\n", name, r.WallSeconds, r.CPUSeconds, float64(r.PeakBytes)/(1<<20))
	}
	fmt.Fprintf(w, "\nEach plan ran in a process of its own with %d threads; the program itself takes about 90 MiB of each.\n"+
		"A shuffle join would first have moved the bytes that the plan above calls not shuffled.\n", o.Threads)
	return nil
}

// writeOnce writes a file unless it is there; ours says whether it has the text now.
func writeOnce(file, text string) (ours bool, err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		there, err := os.ReadFile(file)
		return err == nil && string(there) == text, nil
	}
	if err != nil {
		return false, errs.Wrap(errs.Invalid, "write", file, err)
	}
	_, err = f.WriteString(text)
	return true, errs.Wrap(errs.Invalid, "write", file, errors.Join(err, f.Close()))
}

// next prints what to try.
func next(w io.Writer, l *lakeFolder, o Options) error {
	flags := ""
	if o.Dir != DefaultDir {
		file := filepath.Join(o.Dir, "tarn.yaml")
		ours, err := writeOnce(file, l.yaml())
		if err != nil {
			return err
		}
		flags = " --config " + shellWord(file)
		if !ours {
			flags = " " + strings.Join(l.flags(), " ")
		}
	}
	program := "tarn"
	if strings.Contains(o.Program, "go-build") {
		program = "go run ./cmd/tarn"
	}
	fmt.Fprintf(w, `
Three things to try next:

  %[1]s sql%[2]s -c "SELECT status, count(*), avg(amount) FROM sales.orders GROUP BY status"
  %[1]s explain%[2]s --analyze "SELECT * FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.customer_id WHERE o.customer_id = 42"
  %[1]s explain%[2]s "SELECT count(*) FROM sales.orders o JOIN sales.customers c ON o.customer_id + 1 = c.customer_id"

The last one can't run bucket by bucket, and says why.
`, program, flags)
	return nil
}

// shellWord writes a text so that a shell takes it for one word.
func shellWord(text string) string {
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if strings.TrimFunc(text, isPlain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
