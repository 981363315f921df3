package spj_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/plantest"
)

// TestManyKeys joins tables by 25 columns that both are laid out by: no file's rows are sent, and there are 33 million patterns of NULLs.
func TestManyKeys(t *testing.T) {
	const columns = 25
	var defined, names, equal []string
	for i := range columns {
		name := fmt.Sprintf("k%d", i)
		defined, names = append(defined, name+" int"), append(names, name)
		equal = append(equal, fmt.Sprintf("a.%s = b.%s", name, name))
	}
	var tables strings.Builder
	for _, table := range []string{"a", "b"} {
		fmt.Fprintf(&tables, "create table s.%s (%s) partitioned by (%s)\nfiles s.%s\n", table, strings.Join(defined, ", "), strings.Join(names, ", "), table)
		for i := range columns {
			tuple := strings.Split(strings.Repeat("0", columns), "")
			tuple[i] = "1"
			fmt.Fprintf(&tables, "  (%s) bytes=1000000\n", strings.Join(tuple, ", "))
		}
	}
	p := plantest.New(t, tables.String())
	planned := p.MustPlan(t, "SELECT count(*) FROM s.a JOIN s.b ON "+strings.Join(equal, " AND "), plantest.Options{SPJ: spj.Auto})
	core := planned.Physical.Cores[0]
	if len(core.Keys) < 5 || len(core.Keys) > 12 || core.Strays != nil {
		t.Errorf("%d keys, and %d patterns of NULL keys of rows that nobody sends", len(core.Keys), len(core.Strays))
	}
}
