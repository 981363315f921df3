package lake

import (
	"context"
	"errors"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// errNoTable is in the chain of every error that says that a catalog has no table of a name: no other failure to load a
// table lets a name mean something else.
var errNoTable = errors.New("no such table")

// IsNoTable says whether the error is that there is no table of the name.
func IsNoTable(err error) bool { return errors.Is(err, errNoTable) }

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
	case s.point.Ref != "" && v != catalog.Version{}:
		return v, errs.New(errs.Invalid, "find table", id.String(), "its name has a %s, and the statement %s", s.point.Kind, v.At).
			WithHint("leave one of them out")
	case s.point.Ref != "":
		v.At = s.point
	}
	return v, nil
}
