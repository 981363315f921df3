package lake

import (
	"cmp"
	"context"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

func (s *hadoopStore) createNamespace(ctx context.Context, namespace catalog.Ident, props map[string]string) error {
	folder, ok := s.folder(namespace)
	if !ok {
		return errs.New(errs.Invalid, "create namespace", namespace.String(), "the name can't be a folder's")
	}
	if len(props) > 0 {
		return errs.New(errs.Unsupported, "create namespace", namespace.String(), "a hadoop catalog keeps no properties of namespaces").
			WithHint("leave COMMENT, LOCATION and WITH PROPERTIES out")
	}
	if _, err := s.fio.List(ctx, folder); err == nil {
		return errs.New(errs.Exists, "create namespace", namespace.String(), "it exists already")
	}
	if within, err := s.isWithinTable(ctx, namespace); err != nil || within {
		return cmp.Or(err, error(errs.New(errs.Invalid, "create namespace", namespace.String(), "its folder would lie in a table's")))
	}
	return s.fio.MakeFolder(ctx, folder)
}

func (s *hadoopStore) dropNamespace(ctx context.Context, namespace catalog.Ident) error {
	folder, ok := s.folder(namespace)
	if !ok {
		return namespaceNotFound(namespace)
	}
	if isTable, err := s.isTable(ctx, namespace); err != nil || isTable {
		return cmp.Or(err, namespaceNotFound(namespace))
	}
	entries, err := s.fio.List(ctx, folder)
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return namespaceNotFound(namespace)
	case err != nil:
		return err
	case len(entries) > 0:
		return notEmpty(namespace)
	}
	return s.fio.Remove(ctx, folder) // it fails when something has come into the folder
}

func (s *hadoopStore) properties(ctx context.Context, namespace catalog.Ident) (map[string]string, error) {
	_, err := s.tables(ctx, namespace)
	return nil, err
}

func (s *hadoopStore) rename(_ context.Context, from, _ catalog.Ident) error {
	return errs.New(errs.Unsupported, "rename table", from.String(), "in a hadoop catalog a table's name is its folder's, which its metadata names everywhere")
}

// drop removes the metadata files, the newest last: until then the table is there. A writer that makes the next version
// meanwhile looks for the newest one afterwards, and takes its own back if it is gone. Whether it does can't be told from here,
// so a version that is there after all leaves the outcome open.
func (s *hadoopStore) drop(ctx context.Context, id catalog.Ident, base string, purge bool) error {
	if !purge {
		return errs.New(errs.Unsupported, "drop table", id.String(), "in a hadoop catalog the table's files are its only entry").
			WithHint("DROP TABLE ... PURGE drops it with its files")
	}
	if now, err := s.current(ctx, id); err != nil || now != base {
		return cmp.Or(err, movedOn(id, now, base))
	}
	folder, name := fileio.Split(base)
	entries, err := s.fio.List(ctx, folder)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	names := []string{hintName}
	for _, e := range entries {
		if e.Name() != name && isMetadataFile(e) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for _, n := range append(names, name) {
		if err := s.fio.Remove(ctx, fileio.Under(folder, n)); err != nil && errs.KindOf(err) != errs.NotFound {
			return s.stillThere(ctx, id, base, err)
		}
	}
	if now, err := s.current(ctx, id); !IsNoTable(err) {
		return commitUnknown("drop table", id, cmp.Or(err, movedOn(id, now, base)))
	}
	return nil
}

// stillThere says what a failed removal means: while the newest file is there, so is the table.
func (s *hadoopStore) stillThere(ctx context.Context, id catalog.Ident, base string, cause error) error {
	if now, err := s.current(ctx, id); err == nil && now == base {
		return errs.Wrap(errs.Internal, "drop table", id.String(), cause)
	}
	return commitUnknown("drop table", id, cause)
}

func movedOn(id catalog.Ident, now, base string) error {
	return errs.New(errs.Conflict, "drop table", id.String(), "the table is at %s by now, not at %s", now, base)
}
