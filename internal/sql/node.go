package sql

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Node is a node of DuckDB's parse tree, as json_serialize_sql spells it in DuckDB 1.5. A nil Node is an absent one.
// Nodes are changed in place only by who made the copy.
type Node map[string]any

// Tree is the parse tree of one query.
type Tree struct{ doc map[string]any }

// DecodeTree reads DuckDB's serialised form of exactly one statement.
func DecodeTree(ast []byte) (*Tree, error) {
	dec := json.NewDecoder(bytes.NewReader(ast))
	dec.UseNumber()
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("decode parse tree: %w", err)
	}
	t := &Tree{doc}
	if stmts, ok := doc["statements"].([]any); !ok || len(stmts) != 1 {
		return nil, fmt.Errorf("decode parse tree: wanted one statement")
	}
	return t, nil
}

// Root returns the query's node.
func (t *Tree) Root() Node {
	return asNode(t.doc["statements"].([]any)[0]).Child("node")
}

// Encode returns DuckDB's serialised form of a query node.
func Encode(query Node) ([]byte, error) {
	return json.Marshal(map[string]any{
		"error":      false,
		"statements": []any{map[string]any{"node": query, "named_param_map": []any{}}},
	})
}

func asNode(v any) Node {
	switch n := v.(type) {
	case map[string]any:
		return n
	case Node:
		return n
	}
	return nil
}

// Child returns a child node, or nil.
func (n Node) Child(key string) Node { return asNode(n[key]) }

// List returns the child nodes under key.
func (n Node) List(key string) []Node {
	switch items := n[key].(type) {
	case []Node:
		return items
	case []any:
		out := make([]Node, 0, len(items))
		for _, it := range items {
			if c := asNode(it); c != nil {
				out = append(out, c)
			}
		}
		return out
	}
	return nil
}

// Str returns the string under key, or "".
func (n Node) Str(key string) string { s, _ := n[key].(string); return s }

// Bool returns the boolean under key, or false.
func (n Node) Bool(key string) bool { b, _ := n[key].(bool); return b }

// Strs returns the strings under key.
func (n Node) Strs(key string) []string {
	items, _ := n[key].([]any)
	out := make([]string, 0, len(items))
	for _, it := range items {
		if s, ok := it.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Class returns an expression's class, such as COLUMN_REF; "" for other nodes.
func (n Node) Class() string { return n.Str("class") }

// Type returns the node's type, such as SELECT_NODE or COMPARE_EQUAL.
func (n Node) Type() string { return n.Str("type") }

// Clone returns a deep copy.
func (n Node) Clone() Node {
	if n == nil {
		return nil
	}
	return asNode(clone(map[string]any(n)))
}

func clone(v any) any {
	switch x := v.(type) {
	case Node:
		return clone(map[string]any(x))
	case map[string]any:
		m := make(map[string]any, len(x))
		for k, e := range x {
			m[k] = clone(e)
		}
		return m
	case []Node:
		s := make([]any, len(x))
		for i, e := range x {
			s[i] = clone(map[string]any(e))
		}
		return s
	case []any:
		s := make([]any, len(x))
		for i, e := range x {
			s[i] = clone(e)
		}
		return s
	}
	return v
}

// Walk calls visit for n and all nodes below, parents first; visit returns false to leave out what is below. The order
// is the same each time, so that names made on the way are too.
func (n Node) Walk(visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	for _, k := range n.Keys() {
		walkValue(n[k], visit)
	}
}

// Keys returns the node's keys, sorted.
func (n Node) Keys() []string { return slices.Sorted(maps.Keys(n)) }

func walkValue(v any, visit func(Node) bool) {
	switch x := v.(type) {
	case Node:
		x.Walk(visit)
	case map[string]any:
		Node(x).Walk(visit)
	case []any:
		for _, e := range x {
			walkValue(e, visit)
		}
	case []Node:
		for _, e := range x {
			e.Walk(visit)
		}
	}
}

// Equal says whether two expressions are the same but for their places in the text and their aliases.
func Equal(a, b Node) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return equalValue(map[string]any(a), map[string]any(b))
}

func equalValue(a, b any) bool {
	if n := asNode(a); n != nil {
		m := asNode(b)
		return m != nil && len(n) == len(m) && equalNode(n, m)
	}
	la, ok := a.([]any)
	if !ok {
		return a == b
	}
	lb, ok := b.([]any)
	if !ok || len(la) != len(lb) {
		return false
	}
	for i := range la {
		if !equalValue(la[i], lb[i]) {
			return false
		}
	}
	return true
}

func equalNode(n, m Node) bool {
	for k, v := range n {
		if k == "query_location" || k == "alias" {
			continue
		}
		w, ok := m[k]
		if !ok || !equalValue(v, w) {
			return false
		}
	}
	return true
}
