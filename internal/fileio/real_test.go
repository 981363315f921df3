package fileio

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLeadsInto(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "a", "c/inner": filepath.Join(dir, "a/b"), "chain": "c/inner", "a/b/up": "../../c", "dangling": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, folder string
		want         bool
	}{
		{"a", "a", true}, {"a/b", "a", true}, {"a", "a/b", false}, {"ab", "a", false}, {"c", "a", false},
		{"link", "a", true}, {"a", "link", true}, {"link/b/none/yet", "a/b", true}, {"a/b/none", "link/b", true}, {"link", "a/b", false},
		{"c/inner/x", "a", true}, {"c/inner", "c", false}, {"chain/x", "link", true}, {"a/b/up/x", "c", true}, {"a/b/up", "a", false},
		{"c/../a/x", "a", true}, {"a/b/up/../a/x", "a", true}, {"dangling/x", "a", false}, {"a", "dangling", false}, {"none/x", "none", true}, {"none", "none/x", false},
	} {
		for _, prefix := range []string{dir, "file://" + dir, dir + "/."} {
			if got, err := LeadsInto(Disk{}, prefix+"/"+c.path, dir+"/"+c.folder); err != nil || got != c.want {
				t.Errorf("%s into %s: %v, %v", prefix+"/"+c.path, c.folder, got, err)
			}
		}
	}
	moved, err := NewDisk([]Relocation{{From: "s3://bucket", To: filepath.Join(dir, "link")}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := LeadsInto(moved, "s3://bucket/b", dir+"/a"); !got || err != nil {
		t.Errorf("a relocated path: %v, %v", got, err)
	}
	if _, err := LeadsInto(Disk{}, "s3://bucket/b", dir); err == nil {
		t.Error("a path that lies elsewhere")
	}
}
