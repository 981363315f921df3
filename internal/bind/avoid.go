package bind

import "github.com/tarndb/tarn/internal/sql"

// avoid returns DuckDB 1.5's optimizers that are known to give wrong rows for a statement of this shape:
//
//   - join_filter_pushdown, when a LIMIT stands below another operator: it pushes a join's filter through ORDER BY with
//     LIMIT into the scan below, when the join's other side is ready first. FROM (SELECT a FROM t ORDER BY a LIMIT 5) JOIN u
//     USING (a) then gives rows that aren't among the first five of t.
//   - top_n, when a LIMIT and a set operation meet: its filter is pushed into both sides as the type of one. With k BIGINT
//     near its largest value in t and small INTEGERs in u, SELECT k FROM t UNION ALL SELECT k FROM u ORDER BY k LIMIT 3 gives
//     the three of t.
//   - top_n_window_elimination, when rows are numbered: it makes row_number() = 1 an aggregate that forgets a row when NULL
//     came before it. With o = NULL, 1 and 2 in this order for one k in t, SELECT * FROM t QUALIFY row_number() OVER
//     (PARTITION BY k ORDER BY o) = 1 gives the row with 2. It also makes 0.0 of -0.0. ReduceLatestRow is our own.
func avoid(root sql.Node) []string {
	var names []string
	if hasInnerLimit(root) {
		names = append(names, "join_filter_pushdown")
	}
	if (hasLimit(root) || hasInnerLimit(root)) && hasType(root, "SET_OPERATION_NODE") {
		names = append(names, "top_n")
	}
	if hasType(root, "WINDOW_ROW_NUMBER") {
		names = append(names, "top_n_window_elimination")
	}
	return names
}

// hasInnerLimit says whether a query below the root has a LIMIT.
func hasInnerLimit(root sql.Node) bool {
	found, below := false, false
	root.Walk(func(n sql.Node) bool {
		isQuery := n.Type() == "SELECT_NODE" || n.Type() == "SET_OPERATION_NODE"
		found = found || below && isQuery && hasLimit(n)
		below = true
		return !found
	})
	return found
}

func hasType(root sql.Node, typ string) bool {
	found := false
	root.Walk(func(n sql.Node) bool {
		found = found || n.Type() == typ
		return !found
	})
	return found
}
