package property

import (
	"os"
	"strconv"
	"testing"

	"github.com/tarndb/tarn/internal/task"
)

// TestMain lets every task graph travel, as text, as if a far machine ran it.
func TestMain(m *testing.M) {
	task.Rehearse.Store(true)
	os.Exit(m.Run())
}

// count returns the number in an environment variable, or the default.
func count(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
