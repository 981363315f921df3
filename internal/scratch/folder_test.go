package scratch

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// TestOthersTakeThePlace: what stands where a folder was made stays.
func TestOthersTakeThePlace(t *testing.T) {
	base := t.TempDir()
	parent := filepath.Join(base, "a", "..", "b", "c")
	f, err := Make(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(base, "a")); !os.IsNotExist(err) {
		t.Errorf("another folder was made: %v", err)
	}
	place := filepath.Join(base, "b", "c")
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = f.Remove() // whatever it says of a folder that isn't there
	if _, err := os.Stat(place); err != nil {
		t.Errorf("a file of somebody else is gone: %v", err)
	}
}

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

// TestFoldersAbove: those that weren't there go with the last of ours, and no others.
func TestFoldersAbove(t *testing.T) {
	there := t.TempDir()
	below := filepath.Join(there, "a", "b")
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	remove := func(f *Folder) {
		t.Helper()
		if err := f.Remove(); err != nil {
			t.Error(err)
		}
	}
	first, err := Make(below + "/")
	if err != nil {
		t.Fatal(err)
	}
	remove(first)
	if exists(filepath.Join(there, "a")) || !exists(there) {
		t.Error("what was made stays, or what was there doesn't")
	}

	// Another's folder, or a file, holds what is above it.
	if first, err = Make(below); err != nil {
		t.Fatal(err)
	}
	second, err := Make(below)
	if err != nil {
		t.Fatal(err)
	}
	remove(first)
	if !exists(second.Path()) {
		t.Error("the second's folder is gone")
	}
	remove(second)
	if !exists(below) {
		t.Error("the second removed what was there before it")
	}

	if first, err = Make(filepath.Join(there, "c", "d")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(there, "c", "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	remove(first)
	if !exists(filepath.Join(there, "c", "mine")) || exists(filepath.Join(there, "c", "d")) {
		t.Error("a file was removed, or an empty folder wasn't")
	}
}

// TestFoldersAtOnce: a folder that one process removes, another makes again.
func TestFoldersAtOnce(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "a", "b")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				f, err := Make(parent)
				if err != nil {
					t.Error(err)
					return
				}
				if err := f.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
