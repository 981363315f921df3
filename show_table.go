package tarn

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/sql"
)

// show runs a statement that tells of namespaces and tables; ok is false for any other.
func (e *Engine) show(ctx context.Context, parsed sql.Statement) (rows *Rows, ok bool, err error) {
	switch st := parsed.(type) {
	case sql.ShowNamespaces:
		rows, err = e.namespaceRows(ctx, st)
	case sql.ShowTables:
		rows, err = e.tableRows(ctx, st)
	case sql.ShowCreateTable:
		rows, err = e.createRows(ctx, st.Table)
	case sql.ShowProperties:
		rows, err = e.propertyRows(ctx, st)
	case sql.ShowColumns:
		rows, err = e.columnRows(ctx, st.Table)
	case sql.Describe:
		rows, err = e.describeRows(ctx, st)
	case sql.DescribeNamespace:
		rows, err = e.describeNamespace(ctx, st.Namespace)
	default:
		return nil, false, nil
	}
	return rows, true, err
}

// matcher returns a test of names by a pattern of SHOW: * stands for any text, | parts alternatives, and case doesn't count.
func matcher(pattern string) func(name string) bool {
	if pattern == "" {
		return func(string) bool { return true }
	}
	parts := strings.Split(regexp.QuoteMeta(pattern), `\*`)
	re := regexp.MustCompile("(?is)^(?:" + strings.ReplaceAll(strings.Join(parts, ".*"), `\|`, "|") + ")$")
	return re.MatchString
}

func (e *Engine) createRows(ctx context.Context, parts []string) (*Rows, error) {
	c, t, err := e.existing(ctx, parts)
	if err != nil {
		return nil, err
	}
	s, err := c.StateOf(t)
	if err != nil {
		return nil, err
	}
	location := t.Location
	if location == c.PlaceOf(t.Ident) {
		location = ""
	}
	name := append(catalog.Ident{c.Name()}, t.Ident...).String()
	return listing([]string{"createtab_stmt"}, [][]string{{strings.Join(evolve.CreateScript(name, s, location), ";\n")}}), nil
}

// properties returns what Spark shows as a table's properties: its own, and some that its metadata says elsewhere.
func properties(t *catalog.Table, s evolve.State) map[string]string {
	out := maps.Clone(t.Properties)
	if out == nil {
		out = map[string]string{}
	}
	format := out["write.format.default"]
	if format == "" {
		format = string(catalog.Parquet)
	}
	out["format"] = "iceberg/" + format
	out["format-version"] = strconv.Itoa(t.FormatVersion)
	out["current-snapshot-id"] = "none"
	if t.Snapshot != nil {
		out["current-snapshot-id"] = strconv.FormatInt(int64(t.Snapshot.ID), 10)
	}
	if order := evolve.OrderSQL(s); len(order) > 0 {
		out["sort-order"] = strings.Join(order, ", ")
	}
	if names := evolve.IdentifierNames(s); len(names) > 0 {
		out["identifier-fields"] = "[" + strings.Join(names, ",") + "]"
	}
	return out
}

func (e *Engine) propertyRows(ctx context.Context, st sql.ShowProperties) (*Rows, error) {
	c, t, err := e.existing(ctx, st.Table)
	if err != nil {
		return nil, err
	}
	s, err := c.StateOf(t)
	if err != nil {
		return nil, err
	}
	all := properties(t, s)
	keys := slices.Sorted(maps.Keys(all))
	if st.Key != "" {
		if _, ok := all[st.Key]; !ok {
			missing := errs.New(errs.NotFound, "show property", st.Key, "table %s has no such property", t.Ident)
			if near := errs.Nearest(st.Key, keys); near != "" {
				return nil, missing.WithHint("did you mean %s?", near)
			}
			return nil, missing
		}
		keys = []string{st.Key}
	}
	var rows [][]string
	for _, k := range keys {
		rows = append(rows, []string{k, all[k]})
	}
	return listing([]string{"key", "value"}, rows), nil
}

func (e *Engine) columnRows(ctx context.Context, parts []string) (*Rows, error) {
	t := newTables(e)
	defer t.close()
	table, err := t.Resolve(ctx, parts, catalog.Version{})
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, f := range table.Schema.Fields {
		rows = append(rows, []string{f.Name})
	}
	return listing([]string{"col_name"}, rows), nil
}

func (e *Engine) describeNamespace(ctx context.Context, parts []string) (*Rows, error) {
	c, id, err := e.namespace(ctx, parts)
	if err != nil {
		return nil, err
	}
	props, err := c.NamespaceProperties(ctx, id)
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"Catalog Name", c.Name()}, {"Namespace Name", id.String()}}
	for _, k := range slices.Sorted(maps.Keys(props)) {
		rows = append(rows, []string{k, props[k]})
	}
	return listing([]string{"info_name", "info_value"}, rows), nil
}

// describeRows tells a table's columns and how it is partitioned, as Spark does, and whether columns may be NULL; extended,
// what else there is to know.
func (e *Engine) describeRows(ctx context.Context, st sql.Describe) (*Rows, error) {
	t := newTables(e)
	defer t.close()
	table, err := t.Resolve(ctx, st.Table, catalog.Version{})
	if err != nil {
		return nil, err
	}
	var rows [][]string
	add := func(name, typ, comment, nullable string) { rows = append(rows, []string{name, typ, comment, nullable}) }
	for _, f := range table.Schema.Fields {
		add(f.Name, evolve.TypeSQL(f.Type), f.Doc, map[bool]string{true: "no", false: "yes"}[f.Required])
	}
	if fields := liveFields(table); len(fields) > 0 {
		add("", "", "", "")
		add("# Partitioning", "", "", "")
		for i, f := range fields {
			add("Part "+strconv.Itoa(i), f, "", "")
		}
	}
	if st.Extended {
		add("", "", "", "")
		add("# Metadata Columns", "", "", "")
		for _, f := range catalog.MetadataColumns(table) {
			add(f.Name, evolve.TypeSQL(f.Type), "", "")
		}
		add("", "", "", "")
		add("# Detailed Table Information", "", "", "")
		for _, detail := range t.details(table) {
			add(detail[0], detail[1], "", "")
		}
	}
	return listing([]string{"col_name", "data_type", "comment", "nullable"}, rows), nil
}

// liveFields returns the terms of the table's partition fields, without those that are void.
func liveFields(t *catalog.Table) []string {
	var out []string
	for _, f := range t.Spec().Fields {
		if f.IsVoid() {
			continue
		}
		source := f.Name
		if len(f.Sources) == 1 {
			if path := t.Schema.Path(f.Sources[0]); path != nil {
				source = catalog.Ident(path).String()
			}
		}
		out = append(out, f.Transform.SQL(source))
	}
	return out
}

func (t *tables) details(table *catalog.Table) [][2]string {
	c := t.owner[table]
	name := table.Ident
	if table.Catalog != "" {
		name = append(catalog.Ident{table.Catalog}, name...)
	}
	out := [][2]string{{"Name", name.String()}, {"Type", "MANAGED"}, {"Comment", table.Properties["comment"]}, {"Location", table.Location}, {"Provider", "iceberg"}}
	s, err := c.StateOf(table)
	if err != nil {
		return out // a metadata table has no properties
	}
	all := properties(table, s)
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, k+"="+all[k])
	}
	return append(out, [2]string{"Table Properties", "[" + strings.Join(parts, ",") + "]"})
}
