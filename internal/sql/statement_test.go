package sql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn/internal/errs"
)

// TestStatements runs the commands of testdata: split prints each statement of a script between bars, parse prints what a
// statement is, and ddl what the statement of each line is, without what is empty in it.
func TestStatements(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "split":
				list, err := Split(d.Input)
				if err != nil {
					return errorText(err)
				}
				return bars(list)
			case "parse":
				st, err := Parse(d.Input)
				if err != nil {
					return errorText(err)
				}
				return fmt.Sprintf("%T %+v\n", st, st)
			case "ddl":
				return eachLine(d.Input)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func bars(list []string) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString("|" + s + "|\n")
	}
	return b.String()
}

func errorText(err error) string {
	text := fmt.Sprintf("%s: %v\n", errs.KindOf(err), err)
	if hint := errs.HintOf(err); hint != "" {
		text += "hint: " + hint + "\n"
	}
	return text
}
