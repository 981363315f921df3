package lake

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// entry is a name that a SQL catalog has for a table.
type entry struct {
	ident    catalog.Ident // with the catalog's name first, where that isn't the own one
	location string        // of the current metadata file
}

// entries returns all tables of the database but one: also those of other catalogs, which may lie in the same tables.
func (s *sqlStore) entries(ctx context.Context, but catalog.Ident) (found []entry, err error) {
	db, err := s.read(ctx)
	if db == nil || err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT catalog_name, table_namespace, table_name, metadata_location FROM iceberg_tables
		WHERE metadata_location IS NOT NULL`+s.onlyTables()+" ORDER BY 1, 2, 3")
	if err != nil {
		return nil, s.wrap("list tables", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	namespaceOf, nameOf := key(but)
	for rows.Next() {
		var owner, namespace, name, location string
		if err := rows.Scan(&owner, &namespace, &name, &location); err != nil {
			return nil, s.wrap("list tables", err)
		}
		ident := append(strings.Split(namespace, "."), name)
		switch {
		case owner != s.name:
			ident = append([]string{owner}, ident...)
		case namespace == namespaceOf && name == nameOf:
			continue
		}
		found = append(found, entry{ident, location})
	}
	return found, s.wrap("list tables", rows.Err())
}

// located is a table's metadata and the file that has it.
type located struct {
	location string
	meta     table.Metadata
}

// isOneTable says whether two versions, each the current one of a name, are of one table: then they have files in common,
// and a write to either, or its end, is the other's damage. A copy of a table has the table's UUID too, but other files.
func isOneTable(a, b located) bool {
	same := func(x, y string) bool { return fileio.TrimSlash(fileio.Plain(x)) == fileio.TrimSlash(fileio.Plain(y)) }
	if a.meta.TableUUID() == b.meta.TableUUID() && same(a.meta.Location(), b.meta.Location()) {
		return true
	}
	files := map[string]bool{}
	for _, path := range filesOf(a) {
		files[fileio.Plain(path)] = true
	}
	return slices.ContainsFunc(filesOf(b), func(path string) bool { return files[fileio.Plain(path)] })
}

// filesOf returns the metadata files and manifest lists that a version knows.
func filesOf(v located) []string {
	files := []string{v.location}
	for previous := range v.meta.PreviousFiles() {
		files = append(files, previous.MetadataFile)
	}
	for _, s := range v.meta.Snapshots() {
		if s.ManifestList != "" {
			files = append(files, s.ManifestList)
		}
	}
	return files
}

// registeredAs returns the name that a table has in the database already, or nil. Names whose metadata can't be read are
// passed over: they are of another table, or of none.
func (c *Catalog) registeredAs(ctx context.Context, s *sqlStore, id catalog.Ident, v located) (catalog.Ident, error) {
	all, err := s.entries(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if fileio.Plain(e.location) == fileio.Plain(v.location) {
			return e.ident, nil
		}
	}
	for _, e := range all {
		_, meta, err := c.readMetadata(ctx, e.location)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && isOneTable(v, located{e.location, meta}):
			return e.ident, nil
		}
	}
	return nil, nil
}

// aloneIn fails where another name of the database has the table too, as other engines may have registered it. Such a name's
// metadata lies in the table's folders, so only those that do are read, and each must be.
func (p *purging) aloneIn(ctx context.Context, s *sqlStore) error {
	all, err := s.entries(ctx, p.table.Ident)
	if err != nil {
		return err
	}
	for _, e := range all {
		if !p.isOwn(e.location) {
			continue
		}
		_, meta, err := p.handle.catalog.readMetadata(ctx, e.location)
		if errs.KindOf(err) == errs.NotFound {
			continue
		}
		if err != nil {
			return errs.Wrap(errs.Internal, "look for files in common with", e.ident.String(), err)
		}
		if isOneTable(located{p.handle.location, p.handle.meta}, located{e.location, meta}) {
			return errs.New(errs.Invalid, "", "", "the table is in the catalog as %s too, and that has the same files", e.ident).
				WithHint("DROP TABLE without PURGE takes the name away and leaves the files")
		}
	}
	return nil
}
