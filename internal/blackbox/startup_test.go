package blackbox

import (
	"regexp"
	"strconv"
	"testing"
)

// initialised is a line of Go's trace of package initialisation: the package, and what it allocated.
var initialised = regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes`)

// TestStartAllocatesLittle sees to it that package startup is initialised before what it keeps from working: that alone
// would be 32 MiB.
func TestStartAllocatesLittle(t *testing.T) {
	c := child(t, "version")
	c.Env = append(c.Env, "GODEBUG=inittrace=1")
	out := finish(t, c)
	total, ours := 0, false
	for _, m := range initialised.FindAllStringSubmatch(out.stderr, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		total += n
		ours = ours || m[1] == "github.com/tarndb/tarn/internal/startup"
	}
	if !ours {
		t.Fatalf("the program's start wasn't traced, or without package startup:\n%s", out.stderr)
	}
	if total > 8*mib {
		t.Errorf("packages allocate %d bytes before the program begins:\n%s", total, out.stderr)
	}
}
