package bind

import (
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// tableFunctions are the table functions that a statement may call. DuckDB has more, of which some tell or change the state of
// the engine inside, some run a text that nobody has looked at, and some follow an address that the call gives them.
var tableFunctions = sql.Words(`
	iceberg range generate_series unnest repeat repeat_row glob read_text read_blob
	read_parquet parquet_scan parquet_metadata parquet_schema parquet_file_metadata parquet_kv_metadata parquet_full_metadata parquet_bloom_probe
	read_csv read_csv_auto sniff_csv read_arrow
	read_json read_json_auto read_json_objects read_json_objects_auto read_ndjson read_ndjson_auto read_ndjson_objects json_each json_tree
	pg_timezone_names test_all_types`)

// engineFunctions are the scalar functions and macros about the engine inside: its settings, catalog, log and plans. json_serialize_plan
// binds a text that nobody has looked at; DuckDB's own optimizer alone knows what the arguments of the compressing ones must be.
var engineFunctions = sql.Words(`
	getenv getvariable current_setting current_query get_current_query current_query_id current_transaction_id current_connection_id
	txid_current pg_backend_pid nextval currval write_log stats vector_type json_serialize_plan format_type get_block_size
	pg_get_constraintdef pg_get_viewdef variant_bytes_to_variant`)

// internalPrefix starts the names of functions that DuckDB's optimizer alone puts into plans.
const internalPrefix = "__internal_"

// aggregatesByName are the functions whose second argument is the name of an aggregate.
var aggregatesByName = sql.Words("list_aggr list_aggregate array_aggr array_aggregate aggregate")

// allow refuses what isn't part of Tarn's SQL: calls of functions of the engine's own, to which some arguments are places in memory
// or other statements' rows, of those about the engine inside, and SHOW within FROM, which shows the tables inside.
func allow(n sql.Node) error {
	switch name := strings.ToLower(n.Child("function").Str("function_name")); {
	case n.Type() == "SHOW_REF" && n.Child("query") == nil:
		return errs.New(errs.Unsupported, "bind", "SHOW", "it can't stand within a query").WithHint("SHOW TABLES IN namespace is a statement")
	case n.Type() == "TABLE_FUNCTION" && !tableFunctions[name]:
		return errs.New(errs.Unsupported, "bind", name+"()", "the table function isn't part of Tarn's SQL").
			WithHint("range, generate_series, unnest, read_parquet, read_csv, read_json, read_arrow and their kin are, and iceberg")
	}
	if n.Class() != "FUNCTION" && n.Class() != "WINDOW" {
		return nil
	}
	name := strings.ToLower(n.Str("function_name"))
	called := name
	if args := n.List("children"); aggregatesByName[name] && len(args) > 1 {
		if args[1].Type() != "VALUE_CONSTANT" {
			return errs.New(errs.Unsupported, "bind", name+"()", "the aggregate's name has to be a constant")
		}
		called = strings.ToLower(args[1].Child("value").Str("value"))
	}
	switch {
	case plan.IsOwn(name) || plan.IsOwn(called):
		return errs.New(errs.Unsupported, "bind", name+"()", "functions whose names start with %s are the engine's own", plan.Prefix)
	case engineFunctions[name] || strings.HasPrefix(name, internalPrefix):
		return errs.New(errs.Unsupported, "bind", name+"()", "functions about the engine inside aren't part of Tarn's SQL")
	}
	return nil
}
