package lake

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// CreateNamespace makes a namespace without properties. It fails with Exists if there is one.
func (c *Catalog) CreateNamespace(ctx context.Context, namespace catalog.Ident) error {
	return c.CreateNamespaceWith(ctx, namespace, nil)
}

// CreateNamespaceWith makes a namespace with properties. It fails with Exists if there is one.
func (c *Catalog) CreateNamespaceWith(ctx context.Context, namespace catalog.Ident, props map[string]string) error {
	if len(namespace) == 0 {
		return errs.New(errs.Invalid, "create namespace", "", "it has no name")
	}
	return c.store.createNamespace(ctx, namespace, props)
}

// DropNamespace drops a namespace that holds nothing.
func (c *Catalog) DropNamespace(ctx context.Context, namespace catalog.Ident) error {
	return c.store.dropNamespace(ctx, namespace)
}

// NamespaceProperties returns the properties of a namespace.
func (c *Catalog) NamespaceProperties(ctx context.Context, namespace catalog.Ident) (map[string]string, error) {
	return c.store.properties(ctx, namespace)
}

func notEmpty(namespace catalog.Ident) error {
	return errs.New(errs.Invalid, "drop namespace", namespace.String(), "it isn't empty").
		WithHint("SHOW TABLES IN %s and SHOW NAMESPACES IN %s list what it holds", namespace, namespace)
}
