package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// Program builds tarn in a folder and returns where it lies.
func Program(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "tarn")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/tarndb/tarn/cmd/tarn")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build tarn: %w", err)
	}
	return program, nil
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
