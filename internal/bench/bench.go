package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Exit ends a benchmark's process: with 2 when it failed, with 1 when a bar was missed. Otherwise it returns.
func Exit(missed bool, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if missed {
		os.Exit(1)
	}
}

// Program builds a command of the module, such as "cmd/tarn", in a folder and returns where it lies.
func Program(ctx context.Context, dir, command string) (string, error) {
	program := filepath.Join(dir, path.Base(command))
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/tarndb/tarn/"+command)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build %s: %w", command, err)
	}
	return program, nil
}

// Named returns those of a list whose names have one of some words, parted by commas.
func Named[T any](list []T, words string, name func(T) string) (out []T) {
	for _, x := range list {
		if slices.ContainsFunc(strings.Split(words, ","), func(word string) bool { return strings.Contains(name(x), word) }) {
			out = append(out, x)
		}
	}
	return out
}

// AtMost writes a bar for a figure beside it, and says whether the figure misses it.
func AtMost(bar, figure float64) (verdict string, missed bool) {
	if figure > bar {
		return fmt.Sprintf("<= %.2f MISSED", bar), true
	}
	return fmt.Sprintf("<= %.2f", bar), false
}

// Median returns the median of a figure over runs, of which there is at least one.
func Median[T any](runs []T, figure func(T) float64) float64 {
	v := make([]float64, len(runs))
	for i, r := range runs {
		v[i] = figure(r)
	}
	slices.Sort(v)
	return v[len(v)/2]
}
