package duck

import (
	"fmt"
	"os"
	"testing"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// The bindings count what is made and destroyed under the build tag debug_bindings: nothing may be left. Nor may deletes,
// key checks and Bloom filters.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := bindings.GetAllocationCounts(); left != "" {
		fmt.Printf("not destroyed:\n%s", left)
		code = 1
	}
	if left := heldInC(); left != 0 {
		fmt.Printf("%d specs of deletes are left in C memory\n", left)
		code = 1
	}
	if left := placesInC(); left != 0 {
		fmt.Printf("%d key checks are left in C memory\n", left)
		code = 1
	}
	if left := bloomsInC(); left != 0 {
		fmt.Printf("%d Bloom filters are left in C memory\n", left)
		code = 1
	}
	os.Exit(code)
}
