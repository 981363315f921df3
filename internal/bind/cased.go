package bind

import (
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// unionNames returns the names of a set operation's columns when the first side has some that differ only in case: DuckDB
// gives the second of them another.
func (b *binder) unionNames(n sql.Node, sides []*plan.Block) ([]string, error) {
	if isByName(n) {
		for _, side := range sides {
			if name := alike(side.Output); name != "" && b.cased {
				return nil, casedError("UNION BY NAME", name)
			}
		}
		return nil, nil
	}
	if len(sides) < 2 || alike(sides[0].Output) == "" {
		return nil, nil
	}
	names := outputNames(sides[0].Output)
	return names, orderByPlace(n, names)
}

func isByName(n sql.Node) bool {
	return n.Bool("setop_by_name") || n.Str("setop_type") == "UNION_BY_NAME"
}

// alike returns the name of a column that an earlier one has but for case, or "".
func alike(out []plan.Output) string {
	seen := map[string]string{}
	for _, o := range out {
		low := strings.ToLower(o.Name)
		if other, ok := seen[low]; ok && other != o.Name {
			return o.Name
		}
		seen[low] = o.Name
	}
	return ""
}

// orderByPlace refuses to order a set operation by a name that DuckDB would take for another column's.
func orderByPlace(n sql.Node, names []string) error {
	for _, m := range n.List("modifiers") {
		for _, o := range m.List("orders") {
			e := o.Child("expression")
			like := 0
			for _, name := range names {
				if parts := e.Strs("column_names"); len(parts) == 1 && strings.EqualFold(parts[0], name) {
					like++
				}
			}
			if like > 1 {
				return errs.New(errs.Unsupported, "bind", "ORDER BY "+e.Strs("column_names")[0],
					"the set operation has columns whose names differ only in case").WithHint("write the column's position")
			}
		}
	}
	return nil
}

// refuseCased refuses a query whose columns differ only in case where its text goes to DuckDB as it is, which would find
// the first of them under both names. It looks at statements over tables that have such columns; DuckDB's own rule is right
// for others.
func (b *binder) refuseCased(query sql.Node, what string) error {
	if !b.cased {
		return nil
	}
	seen := map[string]string{}
	for _, item := range query.List("select_list") {
		if len(item.List("rename_list")) > 0 {
			return casedError(what, item.List("rename_list")[0].Str("value"))
		}
		name := item.Str("alias")
		if parts := item.Strs("column_names"); name == "" && len(parts) > 0 {
			name = parts[len(parts)-1]
		}
		low := strings.ToLower(name)
		if other, ok := seen[low]; ok && other != name {
			return casedError(what, name)
		}
		seen[low] = name
	}
	for _, side := range []string{"left", "right"} {
		if err := b.refuseCased(query.Child(side), what); err != nil {
			return err
		}
	}
	return nil
}

func casedError(what, name string) error {
	return errs.New(errs.Unsupported, "bind", what, "it has columns whose names differ only in case, such as %q", name).
		WithHint("give them other names: SELECT a AS x")
}
