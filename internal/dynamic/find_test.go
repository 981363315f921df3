package dynamic_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/dynamic"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plantest"
	"github.com/tarndb/tarn/transform"
)

// tables are testcat's, whose columns have the values that a test gives them.
type tables struct {
	*plantest.Planner
	values   map[string][]string // by table.column; as ParseValue reads them, or null
	fails    map[string]error    // likewise by table
	lies     map[string]bool     // the tables of which a look fails since rows aren't where their files say
	surveyed []string
}

func (t *tables) Survey(ctx context.Context, s *plan.Scan, columns []catalog.FieldID) (*catalog.TableLayout, error) {
	t.surveyed = append(t.surveyed, s.Alias)
	if len(columns) > 0 {
		return t.Catalog.SurveySums(ctx, s.Table, s.Filter, columns)
	}
	return t.Catalog.Survey(ctx, s.Table, s.Filter)
}

func (t *tables) Values(_ context.Context, s *plan.Scan, _ *catalog.TableLayout, columns []catalog.FieldID, use func([]transform.Value)) error {
	table := s.Table.Ident[1]
	if err := t.fails[table]; err != nil {
		if t.lies[table] { // as the session notes it
			s.Lie = err
		}
		return err
	}
	for i, id := range columns {
		f, _ := s.Table.Schema.Field(id)
		list, ok := t.values[table+"."+f.Name]
		if !ok {
			return errs.New(errs.Internal, "read values", table+"."+f.Name, "the test gives none")
		}
		for _, text := range list {
			row := make([]transform.Value, len(columns))
			if text != "null" {
				v, err := transform.ParseValue(f.Type.Primitive, text)
				if err != nil {
					return err
				}
				row[i] = v
			}
			use(row)
		}
	}
	return nil
}

func (t *tables) Bloom(_ context.Context, s *plan.Scan, l *catalog.TableLayout, column catalog.FieldID) (func(string) string, error) {
	if err := t.fails[s.Table.Ident[1]]; err != nil {
		return nil, err
	}
	f, _ := s.Table.Schema.Field(column)
	return func(to string) string { return fmt.Sprintf("%s may be one of %s.%s", to, s.Alias, f.Name) }, nil
}

func (t *tables) Condition(column string, f catalog.Filter) string {
	return duck.ConditionSQL(column, f)
}

// TestFind finds the filters of each query of testdata. Commands:
//
//	legal   all that are legal, whether they pay or not
//	plan    those that pay, without a look
//	look    those that pay, with their values: what becomes of the scans; "summaries" gives each table a snapshot's summary,
//	        and "day=7" makes that of the table day say 7 bytes; "force" finds those that don't pay, too
//	values  gives columns their values, a line each: table.column: value, value, or from..to; table! makes the look fail, table!corrupt by that,
//	        and table!lying since rows aren't where their files say
func TestFind(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		tables := &tables{Planner: plantest.New(t, ""), values: map[string][]string{}, fails: map[string]error{}, lies: map[string]bool{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "tables":
				if err := tables.Catalog.Add(d.Input); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return ""
			case "values":
				tables.give(d.Input)
				return ""
			}
			opts := dynamic.Options{Mode: dynamic.Auto, SourceBytes: 10 << 20, Look: d.Cmd == "look"}
			if d.Cmd == "legal" || d.HasArg("force") {
				opts.Mode = dynamic.Force
			}
			return tables.find(t, d, opts)
		})
	})
}

func (t *tables) give(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if table, kind, ok := strings.Cut(line, "!"); ok {
			t.fails[table] = errs.New(map[string]errs.Kind{
				"": errs.Invalid, "unsupported": errs.Unsupported, "corrupt": errs.Corrupt, "lost": errs.NotFound, "lying": errs.Corrupt,
			}[kind], "run", "", "a value is no number")
			t.lies[table] = kind == "lying"
			continue
		}
		name, list, _ := strings.Cut(line, ": ")
		t.values[name] = nil
		for v := range strings.SplitSeq(list, ", ") {
			var from, to int
			if n, _ := fmt.Sscanf(v, "%d..%d", &from, &to); n == 2 {
				for i := from; i <= to; i++ {
					t.values[name] = append(t.values[name], fmt.Sprint(i))
				}
				continue
			}
			t.values[name] = append(t.values[name], v)
		}
	}
}

func (t *tables) find(tb testing.TB, d *datadriven.TestData, opts dynamic.Options) string {
	planned, err := t.Plan(tb.Context(), d.Input, plantest.Options{})
	if err != nil {
		return "error " + err.Error() + "\n"
	}
	t.surveyed = nil
	if d.HasArg("summaries") {
		for _, s := range planned.Query.Scans {
			table := *s.Table
			bytes := fmt.Sprint(planned.Layouts[s].Counts.Bytes)
			if d.HasArg(table.Ident[1]) {
				d.ScanArgs(tb.(*testing.T), table.Ident[1], &bytes)
			}
			table.Snapshot = &catalog.Snapshot{ID: 1, Summary: map[string]string{"total-files-size": bytes}}
			s.Table = &table
		}
	}
	layouts := map[*plan.Scan]*catalog.TableLayout{}
	filters, err := dynamic.Find(tb.Context(), planned.Query, t, layouts, opts)
	if err != nil {
		return "error " + err.Error() + "\n"
	}
	surveyed := strings.Join(t.surveyed, ", ")
	for _, s := range planned.Query.Scans {
		if layouts[s] == nil {
			if layouts[s], err = t.Survey(tb.Context(), s, nil); err != nil {
				tb.Fatal(err)
			}
		}
	}
	for i := range filters {
		filters[i].Seconds = 0
	}
	var r explain.Report
	r.AddDynamic(filters, layouts)
	text := r.Text()
	if d.Cmd == "legal" {
		var lines []string
		for _, f := range filters {
			lines = append(lines, fmt.Sprintf("%s.%s from %s.%s\n", f.To.Scan.Alias, f.To.Field.Name, f.From.Scan.Alias, f.From.Field.Name))
		}
		slices.Sort(lines)
		text = strings.Join(lines, "")
	}
	if opts.Look {
		text += planned.Scans()
	}
	if d.HasArg("summaries") {
		text += "surveyed before they were complete: " + surveyed + "\n"
	}
	if text == "" {
		return "none\n"
	}
	return text
}
