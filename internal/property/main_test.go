package property

import (
	"math/rand/v2"
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

// seedOf returns the seed of a random test: TARN_SEED, or a new one, which a failure prints.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	if text := os.Getenv("TARN_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return seed
	}
	return rand.Uint64() >> 1
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
