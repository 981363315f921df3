package bind

import (
	"context"
	"path"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/sql"
)

// reader is who reads the files of a name.
type reader int

const (
	noReader      reader = iota
	plainReader          // DuckDB, which finds them by their name
	parquetReader        // DuckDB, under keepFilters
	arrowReader          // our own function
)

// fileEndings are the endings of names in FROM that are files', or patterns of files'.
var fileEndings = []struct {
	ending string
	reader reader
}{
	{".parquet", parquetReader},
	{".csv", plainReader},
	{".csv.gz", plainReader},
	{".tsv", plainReader},
	{".json", plainReader},
	{".jsonl", plainReader},
	{".ndjson", plainReader},
	{".arrow", arrowReader},
	{".arrows", arrowReader},
	{".feather", arrowReader},
	{".ipc", arrowReader},
}

// fileReaders are the table functions that read files otherwise than DuckDB does by itself.
var fileReaders = map[string]reader{
	"read_parquet": parquetReader, "parquet_scan": parquetReader,
	"read_arrow": arrowReader,
}

// readerOf returns who reads the files that a name in FROM stands for; noReader when it is no file's.
func readerOf(name string) reader {
	low := strings.ToLower(name)
	if strings.HasSuffix(low, ".metadata.json") {
		return noReader
	}
	for _, e := range fileEndings {
		if strings.HasSuffix(low, e.ending) {
			return e.reader
		}
	}
	return noReader
}

// bindFile binds a mention of files by their name.
func (b *binder) bindFile(ctx context.Context, n sql.Node, sc *scope, env *cteEnv) (plan.Rel, error) {
	name := n.Str("table_name")
	rel, err := b.opaque(ctx, sql.Node{"type": "FILE", "alias": n.Str("alias")}, sc, env, name+" is a file and has no layout")
	if err != nil {
		return nil, err
	}
	switch readerOf(name) {
	case parquetReader:
		err = b.keepFilters(ctx, n, fileAlias(name))
	case arrowReader:
		err = b.readArrow(ctx, n, []string{name}, fileAlias(name))
	}
	return rel, err
}

// bindFileFunction binds a call of a function that reads files by their reader.
func (b *binder) bindFileFunction(ctx context.Context, n sql.Node, name string) error {
	switch fileReaders[strings.ToLower(name)] {
	case parquetReader:
		return b.keepFilters(ctx, n, name)
	case arrowReader:
		names, err := arrowNames(n)
		if err != nil {
			return err
		}
		return b.readArrow(ctx, n, names, name)
	}
	return nil
}

// arrowNames returns the arguments of a call of read_arrow: a name of files or a list of names.
func arrowNames(n sql.Node) ([]string, error) {
	refused := errs.New(errs.Invalid, "bind", "read_arrow()", "it takes the name of a file, a pattern, or a list of them, as constants")
	args := n.Child("function").List("children")
	if len(args) != 1 || args[0].Str("alias") != "" {
		return nil, refused
	}
	if args[0].Str("function_name") == "list_value" {
		args = args[0].List("children")
	}
	if len(args) == 0 {
		return nil, refused
	}
	names := make([]string, len(args))
	for i, arg := range args {
		value := arg.Child("value")
		if arg.Type() != "VALUE_CONSTANT" || value.Child("type").Str("id") != "VARCHAR" {
			return nil, refused
		}
		names[i] = value.Str("value")
	}
	return names, nil
}

// readArrow turns n into a call of the function that reads the Arrow files of names. alias is what n is called where the statement
// gives it no name. The files that a pattern stands for are found here, so that all that a statement reads of them is of the same.
func (b *binder) readArrow(ctx context.Context, n sql.Node, names []string, alias string) error {
	source, err := b.engine.ArrowSource(ctx, names)
	if err != nil {
		return err
	}
	query, err := b.parse(ctx, "SELECT * FROM "+source)
	if err != nil {
		return err
	}
	call := query.Child("from_table")
	if given := n.Str("alias"); given != "" {
		alias = given
	}
	call["alias"], call["column_name_alias"], call["sample"] = alias, anys(n.Strs("column_name_alias")), n["sample"]
	become(n, call)
	return nil
}

// fileAlias returns the alias that DuckDB gives to a mention of files by name.
func fileAlias(name string) string {
	if strings.ContainsAny(name, "*?[") {
		return name
	}
	base, _, _ := strings.Cut(path.Base(name), ".")
	return base
}

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
	source := strings.TrimPrefix(text, "SELECT * FROM ")
	names, err := b.text(ctx, bareSelect(files.Child("function").List("children")[0]))
	if err != nil {
		return err
	}
	isUsed := func(name string) bool { return b.names.all || b.names.names[name] }
	list, err := b.engine.UnfilteredList(ctx, source, strings.TrimPrefix(names, "SELECT "), mentioned, isUsed)
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
		query, err := b.parse(ctx, "SELECT * FROM read_parquet("+quote.Text(n.Str("table_name"))+")")
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
