package lake

import (
	"cmp"
	"context"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// store keeps which metadata file is a table's current one. That is all that kinds of catalogs differ in.
type store interface {
	// namespaces returns all namespaces, sorted.
	namespaces(ctx context.Context) ([]catalog.Ident, error)
	// tables returns the tables directly in a namespace, sorted; NotFound when there is no such namespace.
	tables(ctx context.Context, namespace catalog.Ident) ([]catalog.Ident, error)
	// current returns where the table's current metadata file is, as metadata spells paths.
	current(ctx context.Context, id catalog.Ident) (string, error)
	// createNamespace fails with Exists when the namespace is there.
	createNamespace(ctx context.Context, namespace catalog.Ident, props map[string]string) error
	// dropNamespace fails with NotFound when the namespace isn't there, and with Invalid when it isn't empty.
	dropNamespace(ctx context.Context, namespace catalog.Ident) error
	// properties returns a namespace's properties; NotFound when it isn't there.
	properties(ctx context.Context, namespace catalog.Ident) (map[string]string, error)
	// publish writes next and makes it the table's current version if base still is; base is "" for a new table. It
	// returns where next lies, or would. Its error is Conflict (or Exists, for a new table) when another version came first and
	// next is none of those since, and CommitUnknown when it can't tell whether next is current now; after any other error next is not current and no
	// file of it is left. A cancelled ctx doesn't interrupt the switch itself.
	publish(ctx context.Context, id catalog.Ident, base string, next draft) (string, error)
	// drop forgets the table and leaves its data. Its error is Conflict when base isn't its current version, and CommitUnknown
	// when it can't tell whether the table is still there. purge says that the caller deletes the table's files next.
	drop(ctx context.Context, id catalog.Ident, base string, purge bool) error
	// rename gives the table another name. It fails with Exists when the name is taken.
	rename(ctx context.Context, from, to catalog.Ident) error
	close() error
}

// draft is a table version that isn't published yet.
type draft struct {
	folder  string // where the table's properties want its metadata files; a hadoop store has no choice
	body    []byte // the metadata JSON
	gzipped bool   // body is compressed by gzip
}

// suffix is how the metadata file's name ends.
func (d draft) suffix() string {
	if d.gzipped {
		return ".gz.metadata.json"
	}
	return ".metadata.json"
}

func tableNotFound(id catalog.Ident) error {
	return &errs.Error{Kind: errs.NotFound, Op: "load table", Object: id.String(), Err: errNoTable}
}

func namespaceNotFound(namespace catalog.Ident) error {
	return &errs.Error{Kind: errs.NotFound, Op: "find namespace", Object: namespace.String(), Err: errNoNamespace}
}

func commitUnknown(op string, id catalog.Ident, cause error) error {
	return &errs.Error{Kind: errs.CommitUnknown, Op: op, Object: id.String(), Err: cause}
}

func sortIdents(ids []catalog.Ident) {
	slices.SortFunc(ids, func(a, b catalog.Ident) int { return slices.CompareFunc(a, b, cmp.Compare[string]) })
}
