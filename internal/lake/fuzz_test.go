package lake

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// swapIO gives other bytes for one file.
type swapIO struct {
	fileio.Files
	path string
	data []byte
}

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error       { return nil }
func (f memoryFile) Size() int64      { return f.Reader.Size() }
func (s *swapIO) is(path string) bool { return fileio.Plain(path) == fileio.Plain(s.path) }

func (s *swapIO) Open(ctx context.Context, path string) (fileio.File, error) {
	if s.is(path) {
		return memoryFile{bytes.NewReader(s.data)}, nil
	}
	return s.Files.Open(ctx, path)
}

// fuzzed is a golden table one of whose files holds whatever the fuzzer makes up.
type fuzzed struct {
	catalog *Catalog
	swap    *swapIO
	id      catalog.Ident
	at      string // the current metadata file
}

func fuzzTable(f testing.TB, namespace, name string) *fuzzed {
	f.Helper()
	c := goldenHadoop(f)
	z := &fuzzed{catalog: c, swap: &swapIO{Files: c.fio}, id: catalog.Ident{namespace, name}}
	t, err := c.LoadTable(context.Background(), z.id, catalog.Version{})
	if err != nil {
		f.Fatal(err)
	}
	z.at = t.MetadataLocation
	c.fio = z.swap
	return z
}

// use gives the bytes for path and plans a scan of the table: the outcome must be an answer or an error that has a kind, is
// no fault of ours and names a file.
func (z *fuzzed) use(t *testing.T, path string, data []byte) {
	z.swap.path, z.swap.data = path, data
	err := z.plan(context.Background())
	if err == nil {
		return
	}
	var e *errs.Error
	if !errors.As(err, &e) {
		t.Fatalf("an error without a kind: %v", err)
	}
	switch e.Kind {
	case errs.Internal, errs.CommitUnknown, errs.Conflict, errs.Syntax:
		t.Fatalf("%s: %v", e.Kind, err)
	case errs.Corrupt:
		if !strings.Contains(err.Error(), "/") {
			t.Fatalf("it names no file: %v", err)
		}
	}
}

func (z *fuzzed) plan(ctx context.Context) error {
	t, err := z.catalog.loadAt(ctx, z.id, z.at)
	if err != nil {
		return err
	}
	layout, err := z.catalog.Survey(ctx, t, catalog.Filter{})
	if err != nil {
		return err
	}
	return layout.Files(ctx, func(catalog.DataFile) error { return nil })
}

// metadataSeeds adds the files of that ending from a table's metadata folder.
func metadataSeeds(f *testing.F, namespace, name, ending string) {
	f.Helper()
	folder := filepath.Join(goldenFolder, namespace, name, "metadata")
	entries, err := os.ReadDir(folder)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ending) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// FuzzMetadata is the JSON door.
func FuzzMetadata(f *testing.F) {
	z := fuzzTable(f, "dels", "v2to3eq")
	metadataSeeds(f, "dels", "v2to3eq", ".metadata.json")
	metadataSeeds(f, "evo", "grow", ".metadata.json")
	metadataSeeds(f, "one", "plain", ".metadata.json")
	f.Fuzz(func(t *testing.T, data []byte) { z.use(t, z.at, data) })
}

// FuzzManifestList and FuzzManifest are the Avro doors.
func FuzzManifestList(f *testing.F) {
	z := fuzzTable(f, "dels", "v2to3eq")
	metadataSeeds(f, "dels", "v2to3eq", ".avro")
	list := z.manifestList(f)
	f.Fuzz(func(t *testing.T, data []byte) { z.use(t, list.path, data) })
}

func FuzzManifest(f *testing.F) {
	z := fuzzTable(f, "dels", "v2to3eq")
	metadataSeeds(f, "dels", "v2to3eq", ".avro")
	list := z.manifestList(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for i := range list.manifests { // as data files and as delete files
			z.use(t, list.manifests[i].Path, data)
		}
	})
}
