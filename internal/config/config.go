package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tarndb/tarn/internal/errs"
)

// The keys of a catalog that have a meaning of their own; all others are properties.
const (
	KeyType      = "type"
	KeyURI       = "uri"
	KeyWarehouse = "warehouse"
)

const (
	// DefaultName is the catalog that PyIceberg, too, takes when nothing names one.
	DefaultName = "default"
	// EmbeddedName is the catalog made where nothing is configured. It isn't "default", which SQL would want quoted.
	EmbeddedName = "lake"
	// EmbeddedFolder is where it lies, in the working directory.
	EmbeddedFolder = "tarn-lake"
)

// Value is a configured text and where it came from: "tarn.yaml:3", "--uri", "PYICEBERG_CATALOG__X__URI" or "default".
type Value struct {
	Text   string
	Origin string
}

// Catalog is one configured catalog. The map is never nil.
type Catalog struct {
	Name   string
	Values map[string]Value
}

// Get returns a key's text, or "".
func (c Catalog) Get(key string) string { return c.Values[key].Text }

// Properties returns the texts of all keys that have no meaning of their own.
func (c Catalog) Properties() map[string]string {
	props := make(map[string]string)
	for key, v := range c.Values {
		if key != KeyType && key != KeyURI && key != KeyWarehouse {
			props[key] = v.Text
		}
	}
	return props
}

// Keys returns the catalog's keys: type, uri and warehouse, then the others sorted.
func (c Catalog) Keys() []string {
	first := map[string]int{KeyType: -3, KeyURI: -2, KeyWarehouse: -1}
	return slices.SortedFunc(maps.Keys(c.Values), func(a, b string) int {
		return cmp.Or(cmp.Compare(first[a], first[b]), cmp.Compare(a, b))
	})
}

// Config is what was found. Catalogs are sorted by name.
type Config struct {
	Catalogs []Catalog
	Default  Value  // the catalog that unqualified names mean
	File     string // the file that was read, or ""
	// Embedded says that nothing was configured, so that Catalogs holds only the default lake, which may not exist yet.
	Embedded bool
	// Notices are for people: a catalog left out, a key that means nothing.
	Notices []string
}

// Catalog returns the catalog with the name, or NotFound with the names there are.
func (c *Config) Catalog(name string) (Catalog, error) {
	names := make([]string, len(c.Catalogs))
	for i, cat := range c.Catalogs {
		if cat.Name == name {
			return cat, nil
		}
		names[i] = cat.Name
	}
	err := errs.New(errs.NotFound, "find catalog", name, "it is not configured")
	switch near := errs.Nearest(name, names); {
	case near != "":
		return Catalog{}, err.WithHint("did you mean %s?", near)
	case c.File != "":
		return Catalog{}, err.WithHint("%s has the catalogs %v; or give --type, --uri and --warehouse", c.File, names)
	}
	return Catalog{}, err.WithHint("write it to tarn.yaml, or give --type, --uri and --warehouse")
}
