package config

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tarndb/tarn/internal/errs"
)

// pyicebergKeys are PyIceberg's own top-level keys, which mean nothing here and deserve no notice.
var pyicebergKeys = map[string]bool{
	"legacy-current-snapshot-id": true, "max-workers": true, "manifest-cache-size": true,
	"downcast-ns-timestamp-to-us-on-write": true,
}

// parseYAML reads one file. name is what errors and origins call it.
func parseYAML(name string, text []byte) (*draft, error) {
	d := newDraft(name)
	var doc yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return d, nil // an empty file configures nothing
	case err != nil:
		return nil, errs.New(errs.Invalid, "read configuration", name, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	err := d.eachKey(doc.Content[0], "the file", func(key string, value *yaml.Node) error {
		switch key {
		case "catalog":
			return d.eachKey(value, "catalog", d.addCatalog)
		case "default-catalog":
			text, err := d.scalar(value, key)
			d.def = text
			return err
		}
		if !pyicebergKeys[key] {
			d.notice(value, key)
		}
		return nil
	})
	return d, err
}

func (d *draft) notice(value *yaml.Node, key string) {
	text := fmt.Sprintf("%s: the key %q means nothing here", d.origin(value), key)
	if near := errs.Nearest(key, []string{"catalog", "default-catalog"}); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	d.notices = append(d.notices, text)
}

func (d *draft) addCatalog(name string, node *yaml.Node) error {
	d.catalogs[name] = make(map[string]Value)
	return d.addKeys(name, "", node)
}

// addKeys reads a catalog's keys. A mapping within is a group: "s3: {endpoint: x}" is the key s3.endpoint.
func (d *draft) addKeys(catalog, prefix string, node *yaml.Node) error {
	return d.eachKey(node, "catalog "+catalog, func(key string, value *yaml.Node) error {
		if value.Kind == yaml.MappingNode {
			return d.addKeys(catalog, prefix+key+".", value)
		}
		text, err := d.scalar(value, prefix+key)
		if err != nil {
			return err
		}
		d.set(catalog, prefix+key, text)
		return nil
	})
}

// eachKey calls fn for each key of a mapping. A key that stands twice is refused: one of the two would be lost.
func (d *draft) eachKey(node *yaml.Node, what string, fn func(key string, value *yaml.Node) error) error {
	if node.Kind != yaml.MappingNode {
		return d.invalid(node, "%s must hold keys with values, such as \"type: rest\", and holds %s", what, kindName(node))
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return d.invalid(key, "a key must be a word, not %s", kindName(key))
		}
		if seen[key.Value] {
			return d.invalid(key, "the key %q stands twice in %s", key.Value, what)
		}
		seen[key.Value] = true
		if err := fn(key.Value, value); err != nil {
			return err
		}
	}
	return nil
}

func (d *draft) scalar(node *yaml.Node, key string) (Value, error) {
	switch {
	case node.Kind != yaml.ScalarNode:
		return Value{}, d.invalid(node, "%s must be one value, not %s", key, kindName(node))
	case node.Tag == "!!null":
		return Value{}, d.invalid(node, "%s has no value", key)
	}
	return Value{node.Value, d.origin(node)}, nil
}

func (d *draft) origin(node *yaml.Node) string { return fmt.Sprintf("%s:%d", d.file, node.Line) }

func (d *draft) invalid(node *yaml.Node, format string, args ...any) error {
	return errs.New(errs.Invalid, "read configuration", d.origin(node), format, args...)
}

func kindName(node *yaml.Node) string {
	switch node.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a group of keys"
	case yaml.AliasNode:
		return "an alias, which is not read here"
	}
	if node.Tag == "!!null" {
		return "nothing"
	}
	return fmt.Sprintf("the text %q", node.Value)
}
