package bind

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

// clocks are the functions and bare names that read the clock, with the type that their value is written as. They are
// folded, so that every pack sees one time: that of Engine.Clock.
var clocks = map[string]string{
	"now": "TIMESTAMP WITH TIME ZONE", "current_timestamp": "TIMESTAMP WITH TIME ZONE",
	"get_current_timestamp": "TIMESTAMP WITH TIME ZONE", "transaction_timestamp": "TIMESTAMP WITH TIME ZONE",
	"current_date": "DATE", "today": "DATE",
	"current_time": "TIME WITH TIME ZONE", "get_current_time": "TIME WITH TIME ZONE",
	"localtimestamp": "TIMESTAMP", "current_localtimestamp": "TIMESTAMP",
	"localtime": "TIME", "current_localtime": "TIME",
}

// ClockReadings returns all readings of the clock as SQL, by the names that Engine.Clock is asked for.
func ClockReadings() map[string]string {
	out := map[string]string{}
	for name := range clocks {
		out[name] = name
		if !bareClocks[name] {
			out[name] += "()"
		}
	}
	return out
}

// bareClocks are the clock readings that SQL writes without parentheses; a column of that name comes first.
var bareClocks = map[string]bool{
	"current_timestamp": true, "current_date": true, "current_time": true, "localtimestamp": true, "localtime": true,
}

// volatile functions give another value at each call, or depend on the order of rows or on the session: a query with one
// is run whole.
var volatile = map[string]bool{
	"random": true, "setseed": true, "uuid": true, "gen_random_uuid": true, "uuidv4": true, "uuidv7": true,
	"sleep_ms": true, "pg_sleep": true, "clock_timestamp": true, "statement_timestamp": true, "row_id": true,
	"current_schema": true, "current_schemas": true, "current_database": true, "current_catalog": true, "in_search_path": true,
	"ago": true, "pg_conf_load_time": true, "pg_postmaster_start_time": true, // macros over the clock
	"age": true, // with one argument it reads the clock
}

// prepare rewrites what has one meaning everywhere in a statement: clock readings are folded, system.* functions get
// their engine's names. What isn't part of the SQL is refused, unless the text around is the engine's own, and so are collations
// other than binary: they change what = means.
func (b *binder) prepare(ctx context.Context, root sql.Node) error {
	var failed error
	root.Walk(func(n sql.Node) bool {
		if failed == nil && !b.wrapped {
			failed = allow(n)
		}
		if failed != nil {
			return false
		}
		if n.Type() == "SELECT_NODE" {
			failed = b.nameCalls(ctx, n)
		}
		switch n.Class() {
		case "FUNCTION":
			failed = b.prepareFunction(ctx, n)
		case "PARAMETER":
			failed = b.bindArgument(ctx, n)
		case "POSITIONAL_REFERENCE":
			failed = errs.New(errs.Unsupported, "bind", "#"+positionText(n), "columns by their position in FROM aren't supported").
				WithHint("write the column's name")
		case "COLLATE":
			failed = errs.New(errs.Unsupported, "bind", "COLLATE "+n.Str("collation"), "collations other than binary aren't supported").
				WithHint("compare lower(column) instead")
		}
		return failed == nil
	})
	return failed
}

// nameCalls gives items with a system function their own text as a name, before the function gets its engine's name.
func (b *binder) nameCalls(ctx context.Context, n sql.Node) error {
	for _, item := range n.List("select_list") {
		called := false
		item.Walk(func(c sql.Node) bool {
			called = called || isSystemCall(c)
			return !called
		})
		if !called || item.Str("alias") != "" || item.Class() == "STAR" {
			continue
		}
		text, err := b.text(ctx, bareSelect(item.Clone()))
		if err != nil {
			return err
		}
		item["alias"] = b.spelled(systemCalls(strings.TrimPrefix(text, "SELECT ")))
	}
	return nil
}

// systemCalls writes calls of system functions as people do: DuckDB puts the schema in quotes.
func systemCalls(text string) string { return strings.ReplaceAll(text, `"system".`, "system.") }

func isSystemCall(n sql.Node) bool {
	return n.Class() == "FUNCTION" && strings.EqualFold(n.Str("schema"), "system")
}

func (b *binder) prepareFunction(ctx context.Context, n sql.Node) error {
	name := strings.ToLower(n.Str("function_name"))
	if isSystemCall(n) {
		to, ok := b.engine.SystemFunction(name)
		if !ok {
			return errs.New(errs.NotFound, "bind", "system."+name, "there is no such function").
				WithHint("system.bucket, truncate, years, months, days and hours exist")
		}
		b.shown[to] = "system." + name
		n["function_name"], n["schema"], n["catalog"] = to, "", ""
		return nil
	}
	if len(n.List("children")) == 0 {
		return b.fold(ctx, n, name)
	}
	return nil
}

// fold replaces a clock's reading in place by its value; other expressions stay as they are.
func (b *binder) fold(ctx context.Context, n sql.Node, name string) error {
	typ, ok := clocks[name]
	if !ok {
		return nil
	}
	value, ok := b.folded[name]
	if !ok {
		text, err := b.engine.Clock(ctx, name)
		if err != nil {
			return err
		}
		if value, err = b.template(ctx, "CAST('"+text+"' AS "+typ+")"); err != nil {
			return err
		}
		b.folded[name] = value
	}
	alias := n.Str("alias")
	if alias == "" {
		alias = name
		if n.Class() == "FUNCTION" {
			alias = name + "()"
		}
	}
	become(n, value.Clone())
	n["alias"] = alias
	return nil
}

// become turns n into other, in place.
func become(n, other sql.Node) {
	clear(n)
	for k, v := range other {
		n[k] = v
	}
}

// isVolatile returns the name of a volatile function or another reason that keeps an expression or query whole, or "".
func isVolatile(n sql.Node) string {
	found := ""
	n.Walk(func(n sql.Node) bool {
		if n.Class() == "FUNCTION" && volatile[strings.ToLower(n.Str("function_name"))] {
			found = n.Str("function_name") + "() gives another value at each call"
		}
		if n.Child("sample") != nil {
			found = "a sample depends on where rows lie"
		}
		return found == ""
	})
	return found
}

func positionText(n sql.Node) string {
	if number, ok := n["index"].(json.Number); ok {
		return number.String()
	}
	return "n"
}
