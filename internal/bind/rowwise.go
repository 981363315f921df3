package bind

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

// RowWise refuses a query SELECT expression whose expression isn't one value of each row: aggregates, windows, stars and what makes
// several rows of one have a meaning in a SELECT, and none in the value of a column or the condition of a clause. It returns why the
// expression gives another value at each call; "" when it doesn't.
func RowWise(ctx context.Context, engine Engine, q sql.Query) (volatile string, err error) {
	b := &binder{engine: engine}
	root, err := b.parse(ctx, q.Text)
	if err != nil {
		return "", err
	}
	aggregates, err := engine.Aggregates(ctx)
	if err != nil {
		return "", err
	}
	items := root.List("select_list")
	if len(items) != 1 || root.Child("from_table").Type() != "EMPTY" || root.Child("where_clause") != nil {
		return "", notRowWise("it isn't one expression")
	}
	items[0].Walk(func(n sql.Node) bool {
		name := strings.ToLower(n.Str("function_name"))
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
	return isVolatile(items[0]), err
}

func notRowWise(what string) error {
	return errs.New(errs.Invalid, "bind", "expression", "%s stands where a value of each row is wanted", what).
		WithHint("compute it in the source, or in a subquery")
}
