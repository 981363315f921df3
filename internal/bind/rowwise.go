package bind

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

// Expression is what a tree says of an expression of one row.
type Expression struct {
	Volatile string // why it gives another value at each call; "" when it doesn't
	Subquery bool   // there is one in it
}

// RowWise refuses a query SELECT expression whose expression isn't one value of each row: aggregates, windows, stars and what makes
// several rows of one have a meaning in a SELECT, and none in the value of a column or the condition of a clause.
func RowWise(ctx context.Context, engine Engine, q sql.Query) (out Expression, err error) {
	b := &binder{engine: engine}
	root, err := b.parse(ctx, q.Text)
	if err != nil {
		return out, err
	}
	aggregates, err := engine.Aggregates(ctx)
	if err != nil {
		return out, err
	}
	items := root.List("select_list")
	if len(items) != 1 || root.Child("from_table").Type() != "EMPTY" || !isBare(root) {
		return out, notRowWise("more than one expression")
	}
	out = Expression{Volatile: isVolatile(items[0])}
	items[0].Walk(func(n sql.Node) bool {
		name := strings.ToLower(n.Str("function_name"))
		out.Subquery = out.Subquery || n.Class() == "SUBQUERY"
		switch {
		case err != nil, n.Class() == "SUBQUERY":
			return false
		case n.Class() == "WINDOW":
			err = notRowWise("a window function")
		case n.Class() == "STAR":
			err = notRowWise("a star")
		case n.Class() == "FUNCTION" && (aggregates[name] || name == "unnest" || name == "unlist"):
			err = notRowWise(name + "()")
		}
		return err == nil
	})
	return out, err
}

// OnlyTables refuses a query SELECT * FROM tables with anything after the tables, such as a LIMIT, which would cut the rows that
// a statement changes.
func OnlyTables(ctx context.Context, engine Engine, q sql.Query) error {
	b := &binder{engine: engine}
	root, err := b.parse(ctx, q.Text)
	if err == nil && !isBare(root) {
		err = errs.New(errs.Syntax, "bind", "tables", "more than tables stands where tables are wanted").
			WithHint("put it into a subquery: (SELECT ...) AS name")
	}
	return err
}

// isBare says whether a query is one SELECT of nothing but items and, perhaps, tables.
func isBare(root sql.Node) bool {
	for _, part := range []string{"where_clause", "having", "qualify", "sample"} {
		if root.Child(part) != nil {
			return false
		}
	}
	return root.Type() == "SELECT_NODE" && len(root.List("modifiers")) == 0 && len(root.List("group_expressions")) == 0 &&
		root.Str("aggregate_handling") != "FORCE_AGGREGATES"
}

func notRowWise(what string) error {
	return errs.New(errs.Invalid, "bind", "expression", "%s stands where a value of each row is wanted", what).
		WithHint("compute it in the source, or in a subquery")
}
