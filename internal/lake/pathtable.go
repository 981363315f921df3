package lake

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// OpenPath opens a table by its metadata file or by its folder, without a catalog. The Catalog that it returns serves
// that one table: it surveys it and knows no others. Its name is empty.
func OpenPath(ctx context.Context, path string, relocate []Relocation) (*catalog.Table, *Catalog, error) {
	disk, err := fileio.NewDisk(relocate)
	if err != nil {
		return nil, nil, err
	}
	c := &Catalog{fio: disk}
	location := fileio.TrimSlash(path)
	if _, name := fileio.Split(location); !isMetadataName(name) {
		v, err := newestVersion(ctx, c.fio, fileio.Under(location, "metadata"))
		if err != nil {
			return nil, nil, errs.Wrap(errs.Internal, "open table", path, err)
		}
		location = v.path
	}
	t, err := c.loadAt(ctx, nil, location)
	if err != nil {
		return nil, nil, err
	}
	_, name := fileio.Split(fileio.TrimSlash(t.Location))
	t.Ident = catalog.Ident{name}
	c.store = &pathStore{id: t.Ident, location: location}
	return t, c, nil
}

// pathStore is the store of a table that was opened by its path: it has that version of that table, and can't change it.
type pathStore struct {
	id       catalog.Ident
	location string
}

func (s *pathStore) namespaces(context.Context) ([]catalog.Ident, error) { return nil, nil }

func (s *pathStore) tables(_ context.Context, namespace catalog.Ident) ([]catalog.Ident, error) {
	return nil, namespaceNotFound(namespace)
}

func (s *pathStore) current(_ context.Context, id catalog.Ident) (string, error) {
	if id.String() != s.id.String() {
		return "", tableNotFound(id)
	}
	return s.location, nil
}

func (s *pathStore) createNamespace(context.Context, catalog.Ident, map[string]string) error {
	return s.refuse()
}

func (s *pathStore) dropNamespace(context.Context, catalog.Ident) error { return s.refuse() }

func (s *pathStore) properties(context.Context, catalog.Ident) (map[string]string, error) {
	return nil, s.refuse()
}

func (s *pathStore) rename(context.Context, catalog.Ident, catalog.Ident) error { return s.refuse() }

func (s *pathStore) publish(context.Context, catalog.Ident, string, draft) (string, error) {
	return "", s.refuse()
}

func (s *pathStore) drop(context.Context, catalog.Ident, string, bool) error { return s.refuse() }

func (s *pathStore) close() error { return nil }

func (s *pathStore) refuse() error {
	return errs.New(errs.Unsupported, "write table", strings.TrimPrefix(s.location, "file://"),
		"a table opened by its path can only be read").WithHint("open it through its catalog to write")
}
