package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// finish expands variables and fills c's catalogs and notices. A catalog that can't be expanded is an error when it is
// the default one; else it is left out with a notice, so that a secret that is only set elsewhere doesn't stop the rest.
func (d *draft) finish(c *Config, env map[string]string) error {
	c.Notices = d.notices
	for _, name := range slices.Sorted(maps.Keys(d.catalogs)) {
		catalog := Catalog{Name: name, Values: make(map[string]Value)}
		err := catalog.expandAll(d.catalogs[name], env)
		switch {
		case err == nil:
			catalog.inferType()
			c.Catalogs = append(c.Catalogs, catalog)
		case name == c.Default.Text:
			return err
		default:
			c.Notices = append(c.Notices, "catalog "+name+" is left out: "+err.Error())
		}
	}
	return nil
}

func (c *Catalog) expandAll(values map[string]Value, env map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		v := values[key]
		text, err := expand(v.Text, env)
		if err != nil {
			return errs.Wrap(errs.Invalid, "read configuration", v.Origin, err)
		}
		c.Values[key] = Value{text, v.Origin}
	}
	return nil
}

// expand replaces each ${env:NAME}. Anything else stays as it is.
func expand(text string, env map[string]string) (string, error) {
	const open = "${env:"
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, open)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", errs.New(errs.Invalid, "", "", "%q has no closing brace", open+rest)
		}
		value, set := env[name]
		if !set {
			return "", errs.New(errs.Invalid, "", "", "the environment variable %s is not set", name)
		}
		out.WriteString(value)
		text = after
	}
}

// inferType fills in a type that nobody gave, by the rules of PyIceberg: the URI's scheme tells. A warehouse alone is a
// folder of tables.
func (c *Catalog) inferType() {
	if c.Get(KeyType) != "" {
		return
	}
	uri := c.Get(KeyURI)
	scheme, _, _ := strings.Cut(uri, ":")
	scheme, _, _ = strings.Cut(scheme, "+") // postgresql+psycopg2
	byScheme := map[string]string{
		"http": "rest", "https": "rest", "thrift": "hive",
		"sqlite": "sql", "postgres": "sql", "postgresql": "sql", "mysql": "sql",
	}
	switch {
	case byScheme[scheme] != "":
		c.Values[KeyType] = Value{byScheme[scheme], "inferred from uri"}
	case uri == "" && c.Get(KeyWarehouse) != "":
		c.Values[KeyType] = Value{"hadoop", "inferred from warehouse"}
	}
}
