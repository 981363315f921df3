package property

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// TestDamagedDeleteFiles: whatever lies in the place of a delete file, the query ends with one error that names it.
func TestDamagedDeleteFiles(t *testing.T) {
	l := newLab(t)
	id := l.fieldOf(1, "id long")
	for kind, make := range map[string]func(name, file string) catalog.DeleteFile{
		"vector":    func(name, file string) catalog.DeleteFile { return l.puffin(name, l.vector(file, 1, 3))[0] },
		"positions": func(name, file string) catalog.DeleteFile { return l.at(name, nil, place(file, 1), place(file, 3)) },
		"values": func(name, _ string) catalog.DeleteFile {
			return l.equal(name, "SELECT unnest([1, 3])::BIGINT AS id", id)
		},
	} {
		name := kind + ".t"
		version := map[string]int{"vector": 3}[kind] // from version 3 on nobody adds position delete files
		l.table(definition{name: name, columns: []string{"id long"}, version: version}, ids(0, 9))
		gone := make(name, l.onlyFile(name))
		l.delta(name, nil, gone)
		l.shows("SELECT count(*), sum(id) FROM "+name, "8 41")
		whole, err := os.ReadFile(gone.Ref.Local)
		l.must(err)
		for what, c := range map[string]struct {
			put  func(path string) error
			kind errs.Kind
		}{
			"nothing":     {func(string) error { return nil }, errs.NotFound},
			"a folder":    {func(path string) error { return os.Mkdir(path, 0o700) }, errs.Corrupt},
			"a pipe":      {func(path string) error { return syscall.Mkfifo(path, 0o600) }, errs.Corrupt},
			"no bytes":    {func(path string) error { return os.WriteFile(path, nil, 0o600) }, errs.Corrupt},
			"half of it":  {func(path string) error { return os.WriteFile(path, whole[:len(whole)/2], 0o600) }, errs.Corrupt},
			"other bytes": {func(path string) error { return os.WriteFile(path, garbled(whole), 0o600) }, errs.Corrupt},
		} {
			if (what == "a pipe" || what == "a folder") && kind != "vector" { // the engine knows the footer already
				continue
			}
			l.must(os.Remove(gone.Ref.Local))
			l.must(c.put(gone.Ref.Local))
			for _, query := range []string{"SELECT * FROM ", "SELECT count(*) FROM "} {
				a := l.ask(auto, query+name)
				if a.err == nil || errs.KindOf(a.err) != c.kind || !strings.Contains(a.err.Error(), gone.Ref.Path) {
					t.Errorf("%s with %s: %s%s: error %v, wanted %s", kind, what, query, name, a.err, c.kind)
				}
			}
			if what == "nothing" {
				l.must(os.WriteFile(gone.Ref.Local, whole, 0o600))
			}
		}
	}
}

// garbled returns data with other bytes between the first ones, by which a reader knows the format, and the last third.
func garbled(data []byte) []byte {
	out := append([]byte(nil), data...)
	for i := 4; i < len(out)*2/3; i++ {
		out[i] ^= 0xA5
	}
	return out
}
