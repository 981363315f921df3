package scratch

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

func TestFolderIsSweptOnlyWhenItsProcessIsDead(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "a [b]*")
	alive, err := Make(parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(alive.Path(), "spilled"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Folders that aren't ours, or aren't known to be.
	for _, name := range []string{"tarn-scratch-without-lock", "other"} {
		if err := os.Mkdir(filepath.Join(parent, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	second, err := Make(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(alive.Path(), "spilled")); err != nil {
		t.Fatalf("a living process's file is gone: %v", err)
	}
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		// The system closes a dead process's files, which lets go of its lock.
		if err := alive.lock.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Make(parent); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(alive.Path()); !os.IsNotExist(err) {
			t.Errorf("a dead process's folder is still there: %v", err)
		}
	}
	for _, name := range []string{"tarn-scratch-without-lock", "other", filepath.Base(second.Path())} {
		if _, err := os.Stat(filepath.Join(parent, name)); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if err := second.Remove(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(second.Path()); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, parent := range []string{file, filepath.Join(file, "below")} {
		if _, err := Make(parent); errs.KindOf(err) != errs.Invalid {
			t.Errorf("%s: %v", parent, err)
		}
	}
}
