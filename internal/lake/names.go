package lake

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

// errNoTable is in the chain of every error that says that a catalog has no table of a name: no other failure to load a
// table lets a name mean something else.
var errNoTable = errors.New("no such table")

// IsNoTable says whether the error is that there is no table of the name.
func IsNoTable(err error) bool { return errors.Is(err, errNoTable) }

// errNoNamespace is in the chain of every error that says that a catalog has no namespace of a name: that the catalog itself isn't there is another.
var errNoNamespace = errors.New("no such namespace")

// IsNoNamespace says whether the error is that there is no namespace of the name.
func IsNoNamespace(err error) bool { return errors.Is(err, errNoNamespace) }

// errTaken is in the chain of every error that says that a new table's name is that of another one.
var errTaken = errors.New("it exists already")

// IsTaken says whether the error is that there is a table of the name already.
func IsTaken(err error) bool { return errors.Is(err, errTaken) }

func tableExists(id catalog.Ident) error {
	return &errs.Error{Kind: errs.Exists, Op: "create table", Object: id.String(), Err: errTaken}
}

// Missing adds to the error that there is no table of a name what may have been meant: a table or namespace of nearly that
// name, or what a suffix selects. Other errors are returned as they are.
func (c *Catalog) Missing(ctx context.Context, id catalog.Ident, err error) error {
	var e *errs.Error
	if !IsNoTable(err) || !errors.As(err, &e) {
		return err
	}
	if hint := c.meant(ctx, id); hint != "" {
		return e.WithHint("%s", hint)
	}
	return err
}

func (c *Catalog) meant(ctx context.Context, id catalog.Ident) string {
	namespace, last := id[:len(id)-1], id[len(id)-1]
	if _, _, ok := splitSuffix(id); ok || len(id) > 2 && c.hasTable(ctx, namespace) {
		return c.meantSuffix(ctx, namespace, last)
	}
	if tables, err := c.ListTables(ctx, namespace); err == nil {
		if name := errs.Nearest(last, lastParts(tables)); name != "" {
			return "did you mean " + append(slices.Clone(namespace), name).String() + "?"
		}
		return "SHOW TABLES IN " + namespace.String() + " lists the tables"
	}
	namespaces, err := c.ListNamespaces(ctx)
	if err != nil {
		return ""
	}
	var names []string
	for _, n := range namespaces {
		names = append(names, n.String())
	}
	if name := errs.Nearest(namespace.String(), names); name != "" {
		return "did you mean the namespace " + name + "?"
	}
	if len(namespaces) == 0 {
		if others := c.otherNames(ctx); len(others) > 0 {
			return "nothing is there under the catalog's name, " + c.name + "; the database has tables of the catalogs " + strings.Join(others, ", ") +
				": --catalog " + others[0] + " opens those"
		}
	}
	return "SHOW NAMESPACES lists the namespaces"
}

// otherNames returns the names under which other catalogs lie in the same database, sorted; none of a catalog that isn't a SQL one.
func (c *Catalog) otherNames(ctx context.Context) []string {
	s, ok := c.store.(*sqlStore)
	if !ok {
		return nil
	}
	db, err := s.read(ctx)
	if db == nil || err != nil {
		return nil
	}
	names, err := strs(ctx, db, "SELECT DISTINCT catalog_name FROM iceberg_tables WHERE catalog_name <> ? ORDER BY 1", s.name)
	if err != nil {
		return nil
	}
	return names
}

// meantSuffix tells what may have been meant by a last part of a name that is no table.
func (c *Catalog) meantSuffix(ctx context.Context, of catalog.Ident, last string) string {
	table, s, ok := splitSuffix(of)
	switch {
	case ok && s.point.Ref != "":
		return "a version of a metadata table is written " + append(slices.Clone(table), last).String() + " FOR VERSION AS OF " +
			quote.Text(s.point.Ref)
	case !c.hasTable(ctx, of):
		return c.meant(ctx, of)
	}
	if name := errs.Nearest(last, append(MetadataTables(), "changes")); name != "" {
		return "did you mean " + append(slices.Clone(of), name).String() + "?"
	}
	return of.String() + " is a table: behind its name may stand branch_NAME, tag_NAME, changes or a metadata table, such as files"
}

func (c *Catalog) hasTable(ctx context.Context, id catalog.Ident) bool {
	_, err := c.store.current(ctx, id)
	return err == nil
}

func lastParts(ids []catalog.Ident) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id[len(id)-1]
	}
	return out
}

// Pins are the tables of one statement: each is loaded once, so that all mentions of it, of its versions and of its
// metadata tables see one metadata file. One goroutine uses them at a time.
type Pins struct {
	catalog *Catalog
	loaded  map[string]*catalog.Table
}

// Pins starts a statement.
func (c *Catalog) Pins() *Pins { return &Pins{catalog: c, loaded: map[string]*catalog.Table{}} }

// Resolve finds what a name, without its catalog, means: the table of exactly that name, else what its last part says of the
// table that the parts before it name. v is the version that the statement asks for beside the name.
func (p *Pins) Resolve(ctx context.Context, id catalog.Ident, v catalog.Version) (*catalog.Table, error) {
	t, err := p.load(ctx, id)
	if err == nil {
		return p.catalog.Pin(t, v)
	}
	of, s, ok := splitSuffix(id)
	if !ok || !IsNoTable(err) {
		return nil, err
	}
	if t, err = p.load(ctx, of); err != nil {
		return nil, err
	}
	if v, err = s.version(id, v); err != nil {
		return nil, err
	}
	if t, err = p.catalog.Pin(t, v); err != nil || s.metadata == "" {
		return t, err
	}
	return p.catalog.MetadataTable(ctx, t, s.metadata)
}

func (p *Pins) load(ctx context.Context, id catalog.Ident) (*catalog.Table, error) {
	key := id.String()
	if t, ok := p.loaded[key]; ok {
		return t, nil
	}
	t, err := p.catalog.LoadTable(ctx, id, catalog.Version{})
	if err == nil {
		p.loaded[key] = t
	}
	return t, err
}

// version joins what the suffix says of the version with what stands beside the name.
func (s suffix) version(id catalog.Ident, v catalog.Version) (catalog.Version, error) {
	switch {
	case s.changes && v.Reading == catalog.ReadAppends, s.changes && v.Reading == catalog.ReadState:
		v.Reading = catalog.ReadChanges
	case s.metadata != "" && v.Reading != catalog.ReadState:
		return v, errs.New(errs.Invalid, "find table", id.String(), "a metadata table has no rows between two snapshots").
			WithHint("FOR VERSION AS OF selects the snapshot that it is about")
	case s.point.Ref != "" && v.Reading == catalog.ReadState && v != catalog.Version{}, s.point.Ref != "" && !v.At.IsCurrent():
		return v, errs.New(errs.Invalid, "find table", id.String(), "its name selects %s, and the statement selects %s", s.point, v.At).
			WithHint("leave one of them out")
	case s.point.Ref != "":
		v.At = s.point
	}
	return v, nil
}
