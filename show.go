package tarn

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/settings"
	"github.com/tarndb/tarn/internal/sql"
)

// noRows is the result of a statement that gives none.
func noRows() *Rows { return &Rows{} }

// once gives one batch.
type onceSource struct{ batch arrow.RecordBatch }

func (o *onceSource) Next(context.Context) (arrow.RecordBatch, error) {
	if o.batch == nil {
		return nil, io.EOF
	}
	b := o.batch
	o.batch = nil
	return b, nil
}

// release lets go of a batch that nobody took.
func (o *onceSource) release() {
	if o.batch != nil {
		o.batch.Release()
	}
}

// listing makes a result of text columns.
func listing(names []string, rows [][]string) *Rows {
	out := &Rows{}
	fields := make([]arrow.Field, len(names))
	for i, n := range names {
		out.columns = append(out.columns, Column{n, "VARCHAR"})
		fields[i] = arrow.Field{Name: n, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for _, row := range rows {
		for i, text := range row {
			b.Field(i).(*array.StringBuilder).Append(text)
		}
	}
	src := &onceSource{batch: b.NewRecordBatch()}
	out.source, out.close = src, src.release
	return out
}

func textRows(name, text string) *Rows {
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		rows = append(rows, []string{line})
	}
	return listing([]string{name}, rows)
}

func settingsRows(s *settings.Set) *Rows {
	var rows [][]string
	for _, e := range s.List() {
		rows = append(rows, []string{e.Name, e.Value, e.Default, e.Type, e.Bounds, e.Meaning, e.Spark})
	}
	return listing([]string{"name", "value", "default", "type", "bounds", "meaning", "spark_name"}, rows)
}

// namespaceRows lists all namespaces of the default catalog, or of one that is named, or those directly in a namespace.
func (e *Engine) namespaceRows(ctx context.Context, st sql.ShowNamespaces) (*Rows, error) {
	name, err := e.defaultCatalog()
	within := catalog.Ident(st.Namespace)
	if len(within) > 0 && e.isCatalog(within[0]) {
		name, within, err = within[0], within[1:], nil
	}
	if err != nil {
		return nil, err
	}
	c, err := e.catalog(ctx, name)
	if err != nil {
		return nil, err
	}
	list, err := c.ListNamespaces(ctx)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	matches, there := matcher(st.Like), len(within) == 0
	for _, ns := range list {
		there = there || slices.Equal(ns, within)
		isWithin := len(within) == 0 || len(ns) == len(within)+1 && slices.Equal(ns[:len(within)], within)
		if isWithin && matches(ns[len(ns)-1]) {
			rows = append(rows, []string{name, ns.String()})
		}
	}
	if !there {
		return nil, errs.New(errs.NotFound, "list namespaces", within.String(), "no such namespace")
	}
	return listing([]string{"catalog", "namespace"}, rows), nil
}

// TableName is a table's full name.
type TableName struct {
	Catalog string
	Ident   catalog.Ident
}

// Tables lists the tables of a namespace, dotted, of the default catalog or behind a catalog's name; "" means all
// namespaces of the default catalog.
func (e *Engine) Tables(ctx context.Context, namespace string) ([]TableName, error) {
	var parts []string
	if namespace != "" {
		var ok bool
		if parts, ok = splitName(namespace); !ok {
			return nil, errs.New(errs.NotFound, "list tables", namespace, "it is a path, not a namespace")
		}
	}
	return e.listTables(ctx, parts)
}

func (e *Engine) listTables(ctx context.Context, parts []string) ([]TableName, error) {
	name, err := e.defaultCatalog()
	if len(parts) > 0 && e.isCatalog(parts[0]) {
		name, parts, err = parts[0], parts[1:], nil
	}
	if err != nil {
		return nil, err
	}
	c, err := e.catalog(ctx, name)
	if err != nil {
		return nil, err
	}
	spaces := []catalog.Ident{parts}
	if len(parts) == 0 {
		if spaces, err = c.ListNamespaces(ctx); err != nil {
			return nil, err
		}
	}
	var out []TableName
	for _, ns := range spaces {
		ids, err := c.ListTables(ctx, ns)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			out = append(out, TableName{name, id})
		}
	}
	return out, nil
}

func (e *Engine) tableRows(ctx context.Context, st sql.ShowTables) (*Rows, error) {
	list, err := e.listTables(ctx, st.Namespace)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	matches := matcher(st.Like)
	for _, t := range list {
		ns := t.Ident[:len(t.Ident)-1]
		if !matches(t.Ident[len(ns)]) {
			continue
		}
		rows = append(rows, []string{t.Catalog, ns.String(), t.Ident[len(ns)]})
	}
	return listing([]string{"catalog", "namespace", "table"}, rows), nil
}

// Table loads a table by its name, or by its metadata file or folder, and surveys it. A table that can be described but
// not read has no layout, and err says why.
func (e *Engine) Table(ctx context.Context, name string) (*catalog.Table, *catalog.TableLayout, error) {
	t := newTables(e)
	defer t.close()
	var table *catalog.Table
	var err error
	if parts, ok := splitName(name); ok {
		table, err = t.Resolve(ctx, parts, catalog.Version{})
	} else {
		table, err = t.ResolvePath(ctx, name, catalog.Version{})
	}
	if err != nil {
		return nil, nil, err
	}
	layout, err := t.owner[table].Survey(ctx, table, catalog.Filter{})
	return table, layout, err
}

// splitName cuts a dotted name; within double quotes a dot doesn't cut, and two quotes are one. ok is false for a path,
// which has a slash outside of quotes.
func splitName(name string) (parts []string, ok bool) {
	var part strings.Builder
	quoted, last := false, rune(0)
	for _, r := range name {
		switch {
		case r == '"':
			if quoted = !quoted; quoted && last == '"' {
				part.WriteRune('"')
			}
		case quoted:
			part.WriteRune(r)
		case r == '.':
			parts = append(parts, part.String())
			part.Reset()
		case r == '/' || r == '\\':
			return nil, false
		default:
			part.WriteRune(r)
		}
		last = r
	}
	return append(parts, part.String()), true
}
