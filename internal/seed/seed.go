package seed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Env is the environment variable with the seed to use: a number, to repeat a run, or "new".
const Env = "TARN_SEED"

// usual is the seed of runs that ask for none.
const usual = 20261130

// Of returns the seed of a random test, and logs it.
func Of(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(usual)
	switch text := os.Getenv(Env); text {
	case "":
	case "new":
		seed = rand.Uint64() >> 1 // tests count on from it
	default:
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", Env, err)
		}
	}
	t.Logf("%s=%d", Env, seed)
	return seed
}

// Rand returns random numbers of the seed of a test.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Of(t), 0))
}
