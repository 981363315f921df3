package bind

import (
	"context"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// Columns that texts know by names of the engine's own, which are metadata columns and those whose names differ only in
// case, must come out under the names that people gave them, and mustn't be found by any other way than a mention.

// nameItems gives items their names before mentions in them are rewritten: the text of an expression, as DuckDB does.
func (b *binder) nameItems(ctx context.Context, n sql.Node, sc *scope) error {
	own := map[string]bool{}
	for _, s := range sc.sources {
		for _, c := range s.columns {
			own[strings.ToLower(c.name)] = own[strings.ToLower(c.name)] || c.isRenamed()
		}
	}
	for _, item := range n.List("select_list") {
		if item.Str("alias") != "" || item.Class() == "COLUMN_REF" || holds(item, isStar) || !holds(item, mentions(own)) {
			continue
		}
		text, err := b.text(ctx, bareSelect(item.Clone()))
		if err != nil {
			return err
		}
		item["alias"] = strings.TrimPrefix(text, "SELECT ")
	}
	return nil
}

func isStar(n sql.Node) bool { return n.Class() == "STAR" }

// mentions tells nodes that mention one of the names in any place: in lower case.
func mentions(names map[string]bool) func(sql.Node) bool {
	return func(n sql.Node) bool {
		for _, p := range n.Strs("column_names") {
			if names[strings.ToLower(p)] {
				return true
			}
		}
		return false
	}
}

// holds says whether an expression has a node of a kind, subqueries left out.
func holds(e sql.Node, kind func(sql.Node) bool) bool {
	found := false
	e.Walk(func(n sql.Node) bool {
		found = found || kind(n)
		return !found && n.Class() != "SUBQUERY"
	})
	return found
}

// finishNames sees to what comes out under a name of the engine's own, when all mentions are rewritten: bare columns get
// their names back, as fields made of columns do, and stars leave metadata columns out.
func (b *binder) finishNames(n sql.Node, sc *scope) error {
	for _, name := range sc.rows {
		for _, s := range sc.sources {
			if own := s.own(); len(own) > 0 && strings.EqualFold(s.alias, name) {
				return errs.New(errs.Unsupported, "bind", name, "a whole row can't be made of a table beside %s", ownText(own)).
					WithHint("write the columns: {'a': a, 'b': b}")
			}
		}
	}
	for _, item := range n.List("select_list") {
		b.giveNameBack(item)
		if err := b.finishExpression(item, item, sc); err != nil {
			return err
		}
	}
	rest := n.List("group_expressions")
	for _, key := range []string{"where_clause", "having", "qualify"} {
		rest = append(rest, n.Child(key))
	}
	for _, m := range n.List("modifiers") {
		if os := m.List("orders"); len(os) != 1 || !isOrderByAll(m, os[0].Child("expression")) {
			rest = append(rest, m)
		}
	}
	for _, e := range rest {
		if err := b.finishExpression(e, nil, sc); err != nil {
			return err
		}
	}
	return nil
}

// finishExpression sees to the stars and structs of an expression; item is the star that is a whole item, if it is one.
func (b *binder) finishExpression(e, item sql.Node, sc *scope) error {
	var failed error
	top := true
	e.Walk(func(n sql.Node) bool {
		switch {
		case n.Class() == "STAR":
			failed = b.finishStar(n, sc, top && item != nil)
			return false
		case n.Class() == "FUNCTION" && strings.EqualFold(n.Str("function_name"), "struct_pack"):
			for _, c := range n.List("children") {
				b.giveNameBack(c)
			}
		}
		top = false
		return failed == nil && n.Class() != "SUBQUERY"
	})
	return failed
}

// giveNameBack gives a bare column the alias that people know it by.
func (b *binder) giveNameBack(n sql.Node) {
	if parts := n.Strs("column_names"); n.Class() == "COLUMN_REF" && n.Str("alias") == "" {
		if name, ok := b.shown[parts[len(parts)-1]]; ok {
			n["alias"] = name
		}
	}
}

// finishStar leaves metadata columns out of a star and gives the others their names. A pattern would be matched with names
// of the engine's own, and so would what a function of a star is called.
func (b *binder) finishStar(star sql.Node, sc *scope, isItem bool) error {
	var own, named []column
	for _, s := range sc.sources {
		if rel := star.Str("relation_name"); rel == "" || strings.EqualFold(rel, s.alias) {
			own = append(own, s.own()...)
		}
	}
	for _, c := range own {
		if !c.hidden {
			named = append(named, c)
		}
	}
	if len(own) == 0 {
		return nil
	}
	changed := len(star.List("replace_list"))+len(star.List("rename_list"))+len(star.List("qualified_exclude_list")) > 0
	if star.Child("expr") != nil || len(named) > 0 && (!isItem || changed) {
		return errs.New(errs.Unsupported, "bind", "*", "a star with more to it isn't supported beside %s", ownText(own)).
			WithHint("write the columns, or SELECT them in a derived table under other names")
	}
	excluded, err := b.excluded(star, named)
	if err != nil {
		return err
	}
	renames, _ := star["rename_list"].([]any)
	for _, c := range own {
		if c.hidden {
			excluded = append(excluded, c.as)
			continue
		}
		if !slices.Contains(excluded, any(c.as)) {
			renames = append(renames, map[string]any{
				"key": map[string]any{"catalog": "", "schema": "", "table": "", "column": c.as}, "value": c.name,
			})
		}
	}
	star["exclude_list"], star["rename_list"] = excluded, renames
	return nil
}

// excluded returns a star's EXCLUDE list with the names that texts have.
func (b *binder) excluded(star sql.Node, named []column) ([]any, error) {
	out := []any{}
	src := &source{columns: named}
	for _, name := range star.Strs("exclude_list") {
		switch at := src.meant(name); len(at) {
		case 0:
			out = append(out, name)
		case 1:
			out = append(out, named[at[0]].as)
		default:
			return nil, ambiguous(name, []match{{src, at[0]}, {src, at[1]}})
		}
	}
	return out, nil
}

func ownText(own []column) string {
	var names []string
	for _, c := range own {
		names = append(names, catalog.ShownName(c.name))
	}
	return strings.Join(names, ", ")
}

// isChanged says whether a star's lists say more than what finishStar puts there.
func isChanged(star sql.Node) bool {
	for _, name := range star.Strs("exclude_list") {
		if !plan.IsOwn(name) {
			return true
		}
	}
	for _, r := range star.List("rename_list") {
		if !plan.IsOwn(r.Child("key").Str("column")) {
			return true
		}
	}
	return len(star.List("replace_list"))+len(star.List("qualified_exclude_list")) > 0
}

// asShown returns a copy of an expression with the names that people know.
func (b *binder) asShown(e sql.Node) sql.Node {
	c := e.Clone()
	c.Walk(func(n sql.Node) bool {
		if name, ok := strings.CutPrefix(b.shown[n.Str("function_name")], "system."); ok {
			n["schema"], n["function_name"] = "system", name
		}
		parts := n.Strs("column_names")
		for i, p := range parts {
			if name, ok := b.shown[p]; ok {
				parts[i] = name
				n["column_names"] = anys(parts)
			}
		}
		return true
	})
	return c
}
