package sql

import "strings"

// GroupsAlike returns two expressions of one GROUP BY in text that are the same but for the case of letters; "" when there are none.
// DuckDB's parser takes them for one, and drops the second.
func GroupsAlike(text string) (first, second string) {
	all, err := lex(text)
	if err != nil {
		return "", ""
	}
	tokens := all[:0]
	for _, t := range all {
		if t.kind != space {
			tokens = append(tokens, t)
		}
	}
	for i := range tokens {
		if i > 0 && tokens[i-1].is("group") && tokens[i].is("by") {
			if first, second = alikeIn(groupExpressions(tokens[i+1:])); first != "" {
				return first, second
			}
		}
	}
	return "", ""
}

// groupExpression is an expression as it is spelled, and with all names in lower case.
type groupExpression struct{ text, low string }

// groupExpressions returns the expressions of a GROUP BY, those of grouping sets one by one. Parentheses are left out.
func groupExpressions(tokens []token) []groupExpression {
	var out []groupExpression
	var one groupExpression
	depth := 0
	for _, t := range tokens {
		switch {
		case t.text == "(":
			depth++
			continue
		case t.text == ")":
			depth--
		case t.text == ",":
			out = append(out, one)
			one = groupExpression{}
			continue
		case t.is("rollup"), t.is("cube"), t.is("grouping"), t.is("sets"):
			continue
		}
		if depth < 0 || t.text == ";" || depth == 0 && endsGroups(t) {
			break
		}
		if t.text == ")" {
			continue
		}
		name := unquote(t)
		one.text += name
		if t.kind == word || t.kind == quoted {
			name = strings.ToLower(name)
		}
		one.low += " " + name
	}
	return append(out, one)
}

// endsGroups says whether a word begins what may follow a GROUP BY.
func endsGroups(t token) bool {
	for _, w := range []string{"having", "window", "qualify", "order", "limit", "offset", "union", "intersect", "except", "using"} {
		if t.is(w) {
			return true
		}
	}
	return false
}

func alikeIn(expressions []groupExpression) (first, second string) {
	seen := map[string]string{}
	for _, e := range expressions {
		if other, ok := seen[e.low]; ok && other != e.text {
			return other, e.text
		}
		seen[e.low] = e.text
	}
	return "", ""
}
