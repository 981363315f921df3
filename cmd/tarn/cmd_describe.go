package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/settings"
)

func newDescribe(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "describe TABLE",
		Short:   "Show a table's schema, partition spec, sort order, properties, snapshot and size",
		Example: "  tarn describe sales.orders",
		Args:    wants("TABLE"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withEngine(c, func(ctx context.Context, e *tarn.Engine) error {
				table, layout, err := e.Table(ctx, args[0])
				if err != nil {
					return err
				}
				return a.list(ctx, []string{"part", "name", "value"}, describe(table, layout))
			})
		},
	}
}

// describe returns all there is to say of a table, as part, name and value.
func describe(t *catalog.Table, layout *catalog.TableLayout) [][]any {
	name := t.Ident.String()
	if t.Catalog != "" {
		name = catalog.ShownName(t.Catalog) + "." + name
	}
	rows := [][]any{
		{"table", "name", name},
		{"table", "format version", strconv.Itoa(t.FormatVersion)},
		{"table", "uuid", t.UUID},
		{"table", "location", t.Location},
		{"table", "metadata", t.MetadataLocation},
	}
	for _, f := range t.Schema.Fields {
		rows = append(rows, []any{"column", f.Name, columnText(f)})
	}
	rows = append(rows, specRows(t)...)
	rows = append(rows, sortRows(t)...)
	for _, key := range slices.Sorted(maps.Keys(t.Properties)) {
		rows = append(rows, []any{"property", key, t.Properties[key]})
	}
	return append(rows, snapshotRows(t, layout)...)
}

func columnText(f catalog.Field) string {
	text := typeText(f.Type)
	if f.Required {
		text += " not null"
	}
	if f.Doc != "" {
		text += fmt.Sprintf(" -- %s", f.Doc)
	}
	return text
}

// typeText spells a type as the Iceberg spec does.
func typeText(t catalog.Type) string {
	switch t.Nested {
	case catalog.Struct:
		text := "struct<"
		for i, f := range t.Fields {
			if i > 0 {
				text += ", "
			}
			text += f.Name + ": " + typeText(f.Type)
		}
		return text + ">"
	case catalog.List:
		return "list<" + typeText(t.Fields[0].Type) + ">"
	case catalog.Map:
		return "map<" + typeText(t.Fields[0].Type) + ", " + typeText(t.Fields[1].Type) + ">"
	}
	return t.Primitive.String()
}

// columnName returns the name that a field ID has in the current schema.
func columnName(t *catalog.Table, id catalog.FieldID) string {
	if f, ok := t.Schema.Field(id); ok {
		return f.Name
	}
	return fmt.Sprintf("field %d", id)
}

func specRows(t *catalog.Table) [][]any {
	var rows [][]any
	for _, id := range slices.Sorted(maps.Keys(t.Specs)) {
		part := "old partition spec"
		if id == t.DefaultSpec {
			part = "partition spec"
		}
		fields := t.Specs[id].Fields
		if len(fields) == 0 {
			rows = append(rows, []any{part, fmt.Sprintf("spec %d", id), "unpartitioned"})
		}
		for _, f := range fields {
			source := "?"
			if len(f.Sources) > 0 {
				source = columnName(t, f.Sources[0])
			}
			rows = append(rows, []any{part, f.Name, f.Transform.SQL(source)})
		}
	}
	return rows
}

func sortRows(t *catalog.Table) [][]any {
	var rows [][]any
	for _, f := range t.Order.Fields {
		direction, nulls := "asc", "nulls first"
		if f.Descending {
			direction = "desc"
		}
		if f.NullsLast {
			nulls = "nulls last"
		}
		name := columnName(t, f.Source)
		rows = append(rows, []any{"sort order", name, f.Transform.SQL(name) + " " + direction + " " + nulls})
	}
	return rows
}

func snapshotRows(t *catalog.Table, layout *catalog.TableLayout) [][]any {
	if t.Snapshot == nil {
		return [][]any{{"snapshot", "id", "none: the table holds no rows yet"}}
	}
	rows := [][]any{
		{"snapshot", "id", strconv.FormatInt(int64(t.Snapshot.ID), 10)},
		{"snapshot", "committed", time.UnixMilli(t.Snapshot.TimestampMs).UTC().Format("2006-01-02 15:04:05.000+00")},
		{"snapshot", "operation", t.Snapshot.Operation},
	}
	if layout == nil {
		return rows
	}
	return append(rows,
		[]any{"size", "data files", strconv.Itoa(layout.Counts.Files)},
		[]any{"size", "rows in data files", strconv.FormatInt(layout.Counts.Rows, 10)},
		[]any{"size", "data", people(layout.Counts.Bytes)},
		[]any{"size", "partitions", strconv.Itoa(len(layout.Groups))},
	)
}

// people writes a size for reading, with one digit after the point.
func people(bytes int64) string {
	for i, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if size := int64(1) << (40 - 10*i); bytes >= size {
			return fmt.Sprintf("%.1f %s", float64(bytes)/float64(size), unit)
		}
	}
	return settings.FormatBytes(bytes)
}
