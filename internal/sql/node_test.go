package sql

import (
	"fmt"
	"strings"
	"testing"
)

const tree = `{"error": false, "statements": [{"node": {"type": "SELECT_NODE", "select_list": [
	{"class": "FUNCTION", "type": "FUNCTION", "function_name": "f", "alias": "x", "query_location": 7, "children": [
		{"class": "COLUMN_REF", "type": "COLUMN_REF", "column_names": ["a", "b"], "query_location": 9}]}],
	"where_clause": null, "having": {"class": "CONSTANT", "value": 12345678901234567890}}}]}`

func decode(t *testing.T, text string) Node {
	t.Helper()
	parsed, err := DecodeTree([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Root()
}

func TestDecodeTree(t *testing.T) {
	root := decode(t, tree)
	f := root.List("select_list")[0]
	if root.Type() != "SELECT_NODE" || f.Class() != "FUNCTION" || root.Child("where_clause") != nil || f.Bool("distinct") {
		t.Errorf("root %v", root)
	}
	if got := f.List("children")[0].Strs("column_names"); fmt.Sprint(got) != "[a b]" {
		t.Errorf("column names %v", got)
	}
	out, err := Encode(root)
	if err != nil || !strings.Contains(string(out), "12345678901234567890") {
		t.Errorf("a number lost digits: %s, %v", out, err)
	}
	for _, bad := range []string{"", "{", "[]", `{"statements": []}`, `{"statements": [{}, {}]}`} {
		if _, err := DecodeTree([]byte(bad)); err == nil {
			t.Errorf("DecodeTree took %q", bad)
		}
	}
}

func TestWalkHasOneOrder(t *testing.T) {
	root := decode(t, tree)
	for range 20 {
		var seen []string
		root.Walk(func(n Node) bool {
			seen = append(seen, n.Class())
			return n.Class() != "FUNCTION"
		})
		if got := strings.Join(seen, ","); got != ",CONSTANT,FUNCTION" {
			t.Fatalf("walked %q: not in the order of keys, or below what was left out", got)
		}
	}
}

func TestCloneAndEqual(t *testing.T) {
	root := decode(t, tree)
	c := root.Clone()
	call := c.List("select_list")[0]
	call["alias"], call["query_location"] = "y", 8
	if !Equal(root, c) {
		t.Error("alias and place make a difference")
	}
	call.List("children")[0]["column_names"].([]any)[1] = "c"
	if Equal(root, c) {
		t.Error("another column makes no difference")
	}
	if root.List("select_list")[0].List("children")[0].Strs("column_names")[1] != "b" {
		t.Error("a clone shares a list with its original")
	}
	if Equal(root, nil) || !Equal(nil, nil) || Node(nil).Clone() != nil {
		t.Error("nil isn't told apart")
	}
}
