package bind

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

func itoa(n int) string { return strconv.Itoa(n) }

// selectShape is what the planner must know of a SELECT above its FROM and WHERE.
type selectShape struct {
	node       sql.Node
	scope      *scope
	aggregates map[string]bool

	grouped  bool
	groups   []sql.Node // the grouping expressions, ordinals and aliases resolved
	distinct bool
	windows  []sql.Node
	whole    string // why none of it can be run in parts
}

func (s *selectShape) read() {
	n := s.node
	for _, m := range n.List("modifiers") {
		s.distinct = s.distinct || m.Type() == "DISTINCT_MODIFIER"
	}
	s.windows = collect(n, "WINDOW")
	s.grouped = len(n.List("group_expressions")) > 0 || len(groupSets(n)) > 0 || n.Str("aggregate_handling") == "FORCE_AGGREGATES" ||
		len(s.aggregateCalls(n)) > 0 || n.Child("having") != nil
	if s.grouped {
		s.readGroups()
	}
}

// collect returns the nodes of a class in a SELECT's own expressions, not in FROM, WHERE or subqueries.
func collect(n sql.Node, class string) []sql.Node {
	var out []sql.Node
	visit := func(c sql.Node) bool {
		if c.Class() == class {
			out = append(out, c)
		}
		return c.Class() != "SUBQUERY"
	}
	for _, e := range ownExpressions(n) {
		e.Walk(visit)
	}
	return out
}

// ownExpressions returns what a SELECT computes after FROM, WHERE and GROUP BY.
func ownExpressions(n sql.Node) []sql.Node {
	out := n.List("select_list")
	for _, key := range []string{"having", "qualify"} {
		if c := n.Child(key); c != nil {
			out = append(out, c)
		}
	}
	for _, m := range n.List("modifiers") {
		for _, o := range m.List("orders") {
			out = append(out, o.Child("expression"))
		}
	}
	return out
}

// aggregateCalls returns the aggregate function calls; windows over aggregates count with their inner calls.
func (s *selectShape) aggregateCalls(n sql.Node) []sql.Node {
	var out []sql.Node
	for _, f := range collect(n, "FUNCTION") {
		if s.isAggregate(f) {
			out = append(out, f)
		}
	}
	return out
}

func (s *selectShape) isAggregate(f sql.Node) bool {
	return f.Class() == "FUNCTION" && s.aggregates[strings.ToLower(f.Str("function_name"))]
}

// readGroups resolves GROUP BY: 2 means the second item, an alias means its item unless a column has that name, ALL means
// the items without aggregates.
func (s *selectShape) readGroups() {
	items := s.node.List("select_list")
	if s.node.Str("aggregate_handling") == "FORCE_AGGREGATES" {
		for _, item := range items {
			switch {
			case item.Class() == "STAR":
				s.whole = "GROUP BY ALL over a star is run whole"
			case !s.hasAggregate(item):
				s.groups = append(s.groups, item)
			}
		}
		return
	}
	for _, e := range s.node.List("group_expressions") {
		s.groups = append(s.groups, s.groupExpression(e, items))
	}
}

func (s *selectShape) groupExpression(e sql.Node, items []sql.Node) sql.Node {
	if k, ok := ordinal(e); ok {
		for i, item := range items {
			if item.Class() == "STAR" {
				break
			}
			if i == k-1 {
				return item
			}
		}
		s.whole = "GROUP BY a position behind a star is run whole"
		return e
	}
	if parts := e.Strs("column_names"); e.Class() == "COLUMN_REF" && len(parts) == 1 {
		if _, ok := s.scope.local(e); !ok {
			for _, item := range items {
				if strings.EqualFold(item.Str("alias"), parts[0]) {
					return item
				}
			}
		}
	}
	return e
}

func (s *selectShape) hasAggregate(e sql.Node) bool {
	found := false
	e.Walk(func(c sql.Node) bool {
		found = found || s.isAggregate(c)
		return !found && c.Class() != "SUBQUERY"
	})
	return found
}

// windowKeys returns each window's PARTITION BY columns.
func (s *selectShape) windowKeys() [][]plan.Col {
	var out [][]plan.Col
	for _, w := range s.windows {
		var keys []plan.Col
		for _, p := range w.List("partitions") {
			if c, ok := s.scope.column(p); ok {
				keys = append(keys, c)
			}
		}
		out = append(out, keys)
	}
	return out
}

// expand returns the select list with plain stars written out; false when a star is more than that.
func (s *selectShape) expand() ([]sql.Node, bool) {
	var out []sql.Node
	for _, item := range s.node.List("select_list") {
		if item.Class() != "STAR" {
			out = append(out, item)
			continue
		}
		if item.Bool("columns") || len(s.scope.merged) > 0 || item.Child("expr") != nil {
			return nil, false
		}
		if isChanged(item) {
			return nil, false
		}
		matched := false
		for _, src := range s.scope.sources {
			if rel := item.Str("relation_name"); rel != "" && !strings.EqualFold(rel, src.alias) {
				continue
			}
			if src.unknown || src.paired {
				return nil, false
			}
			matched = true
			for _, c := range src.visible() {
				alias := ""
				if c.isRenamed() {
					alias = c.name
				}
				out = append(out, sql.Node{"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": alias, "column_names": []any{src.alias, c.as}})
			}
		}
		if !matched {
			return nil, false
		}
	}
	return out, true
}

// ordinal returns a constant whole number.
func ordinal(e sql.Node) (int, bool) {
	if e.Type() != "VALUE_CONSTANT" {
		return 0, false
	}
	v := e.Child("value")
	num, ok := v["value"].(json.Number)
	switch v.Child("type").Str("id") {
	case "INTEGER", "BIGINT", "TINYINT", "SMALLINT":
	default:
		return 0, false
	}
	if !ok {
		return 0, false
	}
	k, err := strconv.Atoi(num.String())
	return k, err == nil
}
