package lake

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// hadoopStore is a warehouse folder: WAREHOUSE/ns/table/metadata/vN.metadata.json. The newest N is current, and making
// the file of the next N, which only one writer can, is the commit, if the file before it is still there then.
type hadoopStore struct {
	warehouse string
	fio       fileio.Files
	create    bool // the warehouse may be missing
}

func newHadoopStore(ctx context.Context, cfg Config, warehouse string, fio fileio.Files) (store, error) {
	if warehouse == "" {
		return nil, errs.New(errs.Invalid, "open catalog", cfg.Name, "a hadoop catalog needs its warehouse folder")
	}
	s := &hadoopStore{warehouse: warehouse, fio: fio, create: cfg.CreateIfMissing}
	if cfg.CreateIfMissing {
		return s, nil
	}
	if _, err := fio.List(ctx, warehouse); err != nil {
		return nil, errs.Wrap(errs.NotFound, "open catalog", cfg.Name, err)
	}
	return s, nil
}

func (s *hadoopStore) close() error { return nil }

// folder returns a table's or a namespace's folder, or false for a name that can't be one.
func (s *hadoopStore) folder(id catalog.Ident) (string, bool) {
	if len(id) == 0 {
		return "", false
	}
	for _, part := range id {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "/\x00") {
			return "", false
		}
	}
	return fileio.Under(s.warehouse, id...), true
}

// namespaces walks the folders. A folder that holds a table or a namespace, or nothing at all, is a namespace; one that
// holds only files, such as data outside its table's folder, is not.
func (s *hadoopStore) namespaces(ctx context.Context) ([]catalog.Ident, error) {
	var found []catalog.Ident
	if _, err := s.fio.List(ctx, s.warehouse); s.create && errs.KindOf(err) == errs.NotFound {
		return nil, nil
	}
	if _, err := s.walk(ctx, nil, &found); err != nil {
		return nil, err
	}
	sortIdents(found)
	return found, nil
}

// walk adds the namespaces within at to found and says whether at itself is one.
func (s *hadoopStore) walk(ctx context.Context, at catalog.Ident, found *[]catalog.Ident) (bool, error) {
	entries, err := s.fio.List(ctx, fileio.Under(s.warehouse, at...))
	if err != nil {
		return false, err
	}
	is := len(entries) == 0
	for _, e := range entries {
		if !e.IsDir() || hidden(e.Name()) {
			continue
		}
		child := append(slices.Clone(at), e.Name())
		isTable, err := s.isTable(ctx, child)
		if err != nil {
			return false, err
		}
		if isTable {
			is = is || len(at) > 0
			continue
		}
		inner, err := s.walk(ctx, child, found)
		if err != nil {
			return false, err
		}
		if inner {
			*found = append(*found, child)
			is = true
		}
	}
	return is, nil
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

func (s *hadoopStore) tables(ctx context.Context, namespace catalog.Ident) ([]catalog.Ident, error) {
	folder, ok := s.folder(namespace)
	if !ok {
		return nil, namespaceNotFound(namespace)
	}
	entries, err := s.fio.List(ctx, folder)
	if errs.KindOf(err) == errs.NotFound {
		return nil, namespaceNotFound(namespace)
	}
	if err != nil {
		return nil, err
	}
	if within, err := s.isWithinTable(ctx, namespace); err != nil || within {
		return nil, cmp.Or(err, namespaceNotFound(namespace))
	}
	var found []catalog.Ident
	for _, e := range entries {
		if !e.IsDir() || hidden(e.Name()) {
			continue
		}
		id := append(slices.Clone(namespace), e.Name())
		isTable, err := s.isTable(ctx, id)
		if err != nil {
			return nil, err
		}
		if isTable {
			found = append(found, id)
		}
	}
	sortIdents(found)
	return found, nil
}

// isTable says whether the folder holds metadata of a table, of whatever kind of catalog.
func (s *hadoopStore) isTable(ctx context.Context, id catalog.Ident) (bool, error) {
	entries, err := s.fio.List(ctx, fileio.Under(s.warehouse, append(slices.Clone(id), "metadata")...))
	if err != nil {
		if errs.KindOf(err) == errs.NotFound {
			return false, nil
		}
		return false, err
	}
	return slices.ContainsFunc(entries, isMetadataFile), nil
}

// isWithinTable says whether the folder is a table's or lies in one: the folders there are the table's own.
func (s *hadoopStore) isWithinTable(ctx context.Context, id catalog.Ident) (bool, error) {
	for n := range id {
		if isTable, err := s.isTable(ctx, id[:n+1]); err != nil || isTable {
			return isTable, err
		}
	}
	return false, nil
}

func (s *hadoopStore) current(ctx context.Context, id catalog.Ident) (string, error) {
	folder, ok := s.folder(id)
	if !ok {
		return "", tableNotFound(id)
	}
	v, err := newestVersion(ctx, s.fio, fileio.Under(folder, "metadata"))
	if errs.KindOf(err) == errs.NotFound && v.number == 0 {
		return "", tableNotFound(id)
	}
	if err != nil {
		return "", errs.Wrap(errs.Internal, "load table", id.String(), err)
	}
	return v.path, nil
}

func (s *hadoopStore) publish(ctx context.Context, id catalog.Ident, base string, next draft) (string, error) {
	folder, ok := s.folder(id)
	if !ok {
		return "", errs.New(errs.Invalid, "write table", id.String(), "the name can't be a folder's")
	}
	folder = fileio.Under(folder, "metadata")
	newest, err := newestVersion(ctx, s.fio, folder)
	switch {
	case err != nil && (errs.KindOf(err) != errs.NotFound || newest.number > 0):
		return "", err
	case base == "" && newest.number > 0:
		return "", tableExists(id)
	case newest.path != base:
		return "", errs.New(errs.Conflict, "commit", id.String(), "the table is at %s by now, not at %s", newest.path, base)
	}
	number := newest.number + 1
	path := fileio.Under(folder, "v"+strconv.Itoa(number)+next.suffix())
	if err := ctx.Err(); err != nil {
		return "", err
	}
	ctx = context.WithoutCancel(ctx)
	if err := s.fio.Create(ctx, path, next.body); err != nil {
		if base == "" && errs.KindOf(err) == errs.Exists {
			return path, tableExists(id)
		}
		return path, s.settle(ctx, id, path, err)
	}
	if err := s.confirm(ctx, id, newest, version{number: number, path: path}); err != nil {
		return path, err
	}
	// The hint only saves readers a listing: the version is current whether or not this works.
	_ = s.fio.Replace(ctx, fileio.Under(folder, hintName), []byte(strconv.Itoa(number)))
	return path, nil
}

// settle finds out what a failed create of a version file means: the listing of the folder knows.
func (s *hadoopStore) settle(ctx context.Context, id catalog.Ident, path string, cause error) error {
	if errs.KindOf(cause) == errs.Exists {
		return errs.New(errs.Conflict, "commit", id.String(), "another writer made %s first", path)
	}
	folder, name := fileio.Split(path)
	entries, err := s.fio.List(ctx, folder)
	there := err != nil
	for _, e := range entries {
		there = there || e.Name() == name
	}
	if there {
		return commitUnknown("commit", id, cause)
	}
	return cause
}

// confirm looks again once a version is made. It doesn't count when the base is gone by then: the table was dropped meanwhile,
// or so many versions came since the base was found current that older ones were removed, and numbers are free again. Nor does
// it when the number is another file's too, of an engine that names files by what it writes rather than by what it found.
// It is taken back then, unless there are later versions, which may have been made of it.
func (s *hadoopStore) confirm(ctx context.Context, id catalog.Ident, base, made version) error {
	folder, _ := fileio.Split(made.path)
	entries, err := s.fio.List(ctx, folder)
	if err != nil {
		return commitUnknown("commit", id, err)
	}
	follows := base.number == 0
	for _, e := range entries {
		number, numbered := versionOf(e.Name())
		path := fileio.Under(folder, e.Name())
		switch {
		case path == base.path:
			follows = true
		case numbered && number > made.number:
			return commitUnknown("commit", id, errs.New(errs.Conflict, "", path, "it was made meanwhile"))
		case numbered && number == made.number && path != made.path:
			return s.takeBack(ctx, id, made)
		}
	}
	if !follows {
		return s.takeBack(ctx, id, made)
	}
	return nil
}

// takeBack removes a version that doesn't count. Whoever took it for the current one before finds its base gone, as long as the
// next version isn't there yet.
func (s *hadoopStore) takeBack(ctx context.Context, id catalog.Ident, made version) error {
	if err := s.fio.Remove(ctx, made.path); err != nil {
		return commitUnknown("commit", id, err)
	}
	folder, _ := fileio.Split(made.path)
	now, err := newestVersion(ctx, s.fio, folder)
	switch {
	case errs.KindOf(err) == errs.NotFound && now.number == 0:
		return errs.New(errs.NotFound, "commit", id.String(), "the table was dropped meanwhile")
	case err != nil || now.number > made.number:
		return commitUnknown("commit", id, err)
	}
	return errs.New(errs.Conflict, "commit", id.String(), "another writer made %s first", now.path)
}
