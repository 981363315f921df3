package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// importsOf returns what a file imports.
func importsOf(t *testing.T, f source) []string {
	t.Helper()
	var out []string
	for _, spec := range f.syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", f.path, err)
		}
		out = append(out, name)
	}
	return out
}

// TestImportEdges compares the imports between our own packages with a checked-in list: a new edge is a decision.
func TestImportEdges(t *testing.T) {
	var list strings.Builder
	for _, p := range packages(t) {
		edges := make(map[string]bool)
		for _, f := range p.files {
			if f.isTest {
				continue
			}
			for _, name := range importsOf(t, f) {
				if name == module {
					edges["tarn"] = true
				} else if own, ok := strings.CutPrefix(name, module+"/"); ok {
					edges[own] = true
				}
			}
		}
		var sorted []string
		for e := range edges {
			sorted = append(sorted, e)
		}
		slices.Sort(sorted)
		fmt.Fprintln(&list, strings.TrimRight(p.name()+": "+strings.Join(sorted, " "), " "))
	}
	golden(t, "imports.txt", list.String(), "an import between packages changed; docs/ARCHITECTURE.md says which way they go")
}

// doors are the libraries that one package alone may import, tests included, so that either can be replaced without
// touching the rest. A benchmark may compare with a library.
var doors = []struct {
	library string
	doors   []string
}{
	{"github.com/apache/iceberg-go", []string{"internal/lake", "bench/plan"}},
	{"github.com/duckdb/", []string{"internal/duck"}},
	{"database/sql", []string{"internal/lake"}},
	{"modernc.org/sqlite", []string{"internal/lake"}},
	{"github.com/jackc/pgx", []string{"internal/lake"}},
	{"github.com/spf13/", []string{"cmd/tarn"}},
}

func TestLibrariesHaveOneDoor(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.files {
			for _, name := range importsOf(t, f) {
				for _, d := range doors {
					if !slices.Contains(d.doors, p.folder) && strings.HasPrefix(name, d.library) {
						t.Errorf("%s imports %s, which only %s may", f.path, name, strings.Join(d.doors, " and "))
					}
				}
			}
		}
	}
}

// planners decide without looking: they may not reach files, the clock, or what runs their plans.
var planners = []string{"internal/plan", "internal/plan/layout", "internal/plan/spj", "catalog", "transform"}

var unplannable = []string{
	"os", "net", "net/http", "io/fs", "path/filepath", "time", module + "/internal/lake", module + "/internal/duck",
	module + "/internal/exec",
}

func TestPlanningDoesNoIO(t *testing.T) {
	for _, p := range packages(t) {
		if !slices.Contains(planners, p.folder) {
			continue
		}
		for _, f := range p.files {
			for _, name := range importsOf(t, f) {
				if !f.isTest && slices.Contains(unplannable, name) {
					t.Errorf("%s imports %s: planning does no I/O and takes no clock", f.path, name)
				}
			}
		}
	}
}
