package lake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/internal/errs"
)

// manifests reads the snapshot's manifest list.
func (c *Catalog) manifests(ctx context.Context, snapshot *table.Snapshot) ([]iceberg.ManifestFile, error) {
	if snapshot == nil {
		return nil, nil
	}
	if snapshot.ManifestList == "" {
		return c.embeddedManifests(ctx, snapshot)
	}
	data, err := readFile(ctx, c.fio, snapshot.ManifestList)
	if err != nil {
		return nil, err
	}
	var list []iceberg.ManifestFile
	err = guard("read manifest list", snapshot.ManifestList, func() (err error) {
		list, err = iceberg.ReadManifestList(bytes.NewReader(data))
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, checkList(snapshot.ManifestList, list)
}

// embeddedManifests makes the list of a format version 1 snapshot that names its manifests itself. Of such a manifest
// neither counts nor partition summaries are known.
func (c *Catalog) embeddedManifests(ctx context.Context, snapshot *table.Snapshot) ([]iceberg.ManifestFile, error) {
	var list []iceberg.ManifestFile
	for _, path := range snapshot.ManifestLocations {
		f, err := c.fio.Open(ctx, path)
		if err != nil {
			return nil, err
		}
		size := f.Size()
		if err := f.Close(); err != nil {
			return nil, fileError("close", path, err)
		}
		list = append(list, iceberg.NewManifestFile(1, path, size, 0, snapshot.SnapshotID).
			AddedFiles(-1).ExistingFiles(-1).DeletedFiles(-1).AddedRows(-1).ExistingRows(-1).DeletedRows(-1).Build())
	}
	return list, nil
}

func checkList(path string, list []iceberg.ManifestFile) error {
	for _, m := range list {
		switch {
		case m.FilePath() == "" || m.Length() < 0:
			return errs.New(errs.Corrupt, "read manifest list", path, "a manifest has the path %q and %d bytes", m.FilePath(), m.Length())
		case len(m.KeyMetadata()) > 0:
			return encrypted(m.FilePath())
		}
	}
	return nil
}

func encrypted(path string) error {
	return errs.New(errs.Unsupported, "read", path, "it is encrypted, which can't be read yet")
}

// liveCount returns how many live entries the manifest list promises of a manifest, and whether it says so: lists of
// format version 1 need not.
func liveCount(m iceberg.ManifestFile) (int, bool) {
	added, existing := m.AddedDataFiles(), m.ExistingDataFiles()
	if added < 0 || existing < 0 {
		return 0, false
	}
	return int(added) + int(existing), true
}

// visitLive reads a manifest and calls visit for each live entry. A manifest with fewer or more entries than the list
// promises is Corrupt: an Avro reader takes some cut files for whole ones. visit sees entries before that is known, so
// what it has gathered is void when visitLive fails.
func (c *Catalog) visitLive(ctx context.Context, m iceberg.ManifestFile, stats bool, visit func(iceberg.ManifestEntry) error) error {
	path := m.FilePath()
	data, err := readFile(ctx, c.fio, path)
	if err != nil {
		return err
	}
	if int64(len(data)) < m.Length() {
		return errs.New(errs.Corrupt, "read manifest", path, "it is cut short: %d bytes of %d", len(data), m.Length())
	}
	r := &manifestReader{path: path}
	if err := r.open(m, data, stats); err != nil {
		return err
	}
	live := 0
	for {
		entry, err := r.next()
		if errors.Is(err, errEndOfManifest) {
			break
		}
		if err != nil {
			return errors.Join(err, r.close())
		}
		if entry.Status() == iceberg.EntryStatusDELETED {
			continue
		}
		live++
		if err := visit(entry); err != nil {
			return errors.Join(err, r.close())
		}
	}
	if want, known := liveCount(m); known && live != want {
		return errors.Join(errs.New(errs.Corrupt, "read manifest", path,
			"it has %d live entries, but the manifest list says %d", live, want), r.close())
	}
	return r.close()
}

// errEndOfManifest is apart from io.EOF, which a cut file also gives.
var errEndOfManifest = errors.New("end of manifest")

// manifestReader reads one manifest through iceberg-go, whose decoder may panic on bytes that are no manifest.
type manifestReader struct {
	path string
	r    *iceberg.ManifestReader
}

func (r *manifestReader) open(m iceberg.ManifestFile, data []byte, stats bool) error {
	return guard("read manifest", r.path, func() (err error) {
		r.r, err = iceberg.NewManifestReaderWithProjection(m, bytes.NewReader(data),
			iceberg.ManifestEntryProjection{IncludePruningStats: stats})
		return err
	})
}

func (r *manifestReader) next() (entry iceberg.ManifestEntry, err error) {
	err = guard("read manifest", r.path, func() (err error) {
		entry, err = r.r.ReadEntry()
		if err == io.EOF { //nolint:errorlint // A wrapped EOF is an error within an entry.
			return errEndOfManifest
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return entry, r.check(entry.DataFile())
}

// check refuses entries that nothing downstream could make sense of.
func (r *manifestReader) check(f iceberg.DataFile) error {
	switch {
	case f.FilePath() == "":
		return errs.New(errs.Corrupt, "read manifest", r.path, "an entry has no file path")
	case f.Count() < 0 || f.FileSizeBytes() < 0:
		return errs.New(errs.Corrupt, "read manifest", r.path,
			"the entry of %s has %d rows and %d bytes", f.FilePath(), f.Count(), f.FileSizeBytes())
	case len(f.KeyMetadata()) > 0:
		return encrypted(f.FilePath())
	}
	return nil
}

func (r *manifestReader) close() error {
	return guard("close manifest", r.path, r.r.Close)
}

// refuseDeletes fails if any delete file is live in the snapshot: its rows would come back.
func (c *Catalog) refuseDeletes(ctx context.Context, list []iceberg.ManifestFile) error {
	for _, m := range list {
		if m.ManifestContent() != iceberg.ManifestContentDeletes {
			continue
		}
		if live, known := liveCount(m); known && live == 0 {
			continue
		}
		if err := c.visitLive(ctx, m, false, refuseDelete); err != nil {
			return err
		}
	}
	return nil
}

func refuseDelete(e iceberg.ManifestEntry) error {
	f := e.DataFile()
	kind := "position deletes"
	switch {
	case f.ContentType() == iceberg.EntryContentEqDeletes:
		kind = "equality deletes"
	case strings.EqualFold(string(f.FileFormat()), string(iceberg.PuffinFile)):
		kind = "deletion vectors"
	}
	return errs.New(errs.Unsupported, "read delete file", f.FilePath(),
		"the table has %s, which can't be applied yet", kind).
		WithHint("compact the table with its own engine so that no delete files are left")
}
