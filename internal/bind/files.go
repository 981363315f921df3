package bind

import (
	"context"
	"path"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// isDataFile says whether a name in FROM is a file's, or a pattern of files'.
func isDataFile(name string) bool {
	low := strings.ToLower(name)
	for _, ext := range []string{".parquet", ".csv", ".csv.gz", ".tsv", ".json", ".jsonl", ".ndjson"} {
		if strings.HasSuffix(low, ext) && !strings.HasSuffix(low, ".metadata.json") {
			return true
		}
	}
	return false
}

// bindFile binds a mention of files by their name. They are DuckDB's to read.
func (b *binder) bindFile(ctx context.Context, n sql.Node, sc *scope, env *cteEnv) (plan.Rel, error) {
	name := n.Str("table_name")
	rel, err := b.opaque(ctx, sql.Node{"type": "FILE", "alias": n.Str("alias")}, sc, env, name+" is a file and has no layout")
	if err != nil || !strings.HasSuffix(strings.ToLower(name), ".parquet") {
		return rel, err
	}
	return rel, b.keepFilters(ctx, n, fileAlias(name))
}

// fileAlias returns the alias that DuckDB gives to a mention of files by name.
func fileAlias(name string) string {
	if strings.ContainsAny(name, "*?[") {
		return name
	}
	base, _, _ := strings.Cut(path.Base(name), ".")
	return base
}

// parquetFunctions are the table functions that read Parquet files.
var parquetFunctions = map[string]bool{"read_parquet": true, "parquet_scan": true}

// keepFilters turns n, a source of Parquet files, into a derived table of the same rows and columns, where filters on some
// columns must not go down into DuckDB's reader. alias is what n is called where the statement gives it no name.
func (b *binder) keepFilters(ctx context.Context, n sql.Node, alias string) error {
	files, err := b.cautious(ctx, n)
	if err != nil {
		return err
	}
	star, err := b.template(ctx, "*")
	if err != nil {
		return err
	}
	query := bareSelect(star)
	query["from_table"] = map[string]any(files)
	text, err := b.text(ctx, query)
	if err != nil {
		return err
	}
	// With a star around, a virtual column would come out of it: then it isn't found, and the function has an option for it.
	mentioned := func(name string) bool { return !b.names.all && b.names.names[name] }
	list, err := b.engine.UnfilteredList(ctx, strings.TrimPrefix(text, "SELECT * FROM "), mentioned)
	if err != nil || list == "" {
		return err
	}
	items, err := b.parse(ctx, "SELECT "+list)
	if err != nil {
		return errs.Wrap(errs.Internal, "read", alias, err)
	}
	query["select_list"] = items["select_list"]
	if given := n.Str("alias"); given != "" {
		alias = given
	}
	become(n, derivedTable(query, alias, n.Strs("column_name_alias"), n["sample"]))
	return nil
}

// cautious returns the call that reads the files of n and tells DuckDB that floats may be NaN: by the statistics of a list's
// elements it would know a condition's outcome without any filter.
func (b *binder) cautious(ctx context.Context, n sql.Node) (sql.Node, error) {
	call := n.Clone()
	if n.Type() == "BASE_TABLE" {
		query, err := b.parse(ctx, "SELECT * FROM read_parquet('"+strings.ReplaceAll(n.Str("table_name"), "'", "''")+"')")
		if err != nil {
			return nil, err
		}
		call = query.Child("from_table")
	}
	option, err := b.template(ctx, "can_have_nan = true")
	if err != nil {
		return nil, err
	}
	args := []sql.Node{}
	for _, arg := range call.Child("function").List("children") {
		name := arg.Str("alias") // of name := value; name = value is a comparison
		if left := arg.Child("left").Strs("column_names"); len(left) == 1 {
			name = left[0]
		}
		if !strings.EqualFold(name, "can_have_nan") {
			args = append(args, arg)
		}
	}
	call.Child("function")["children"] = nodes(append(args, option))
	call["alias"], call["column_name_alias"], call["sample"] = "", []any{}, nil
	return call, nil
}

// derivedTable returns a query in a FROM clause.
func derivedTable(query sql.Node, alias string, columns []string, sample any) sql.Node {
	return sql.Node{
		"type": "SUBQUERY", "alias": alias, "sample": sample, "column_name_alias": anys(columns),
		"subquery": map[string]any{"node": map[string]any(query), "named_param_map": []any{}},
	}
}
