package fileio

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestHalfAFile writes more than files may have. What is there of it mustn't be taken for the file.
func TestHalfAFile(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	const most = 1 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
	}()
	path := filepath.Join(t.TempDir(), "v2.metadata.json")
	if err := writeSynced(path, make([]byte, 2*most)); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a file is there: %v", err)
	}
	if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeSynced(path, []byte("ours")); !errors.Is(err, os.ErrExist) {
		t.Errorf("%v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "theirs" {
		t.Errorf("%q, %v", data, err)
	}
}
