package sql

import "strings"

// checkNullSafe refuses a <=> that has another comparison beside it, with nothing that binds more loosely between. In Spark it
// is a comparison like =, and they are taken from left to right: 1 <=> 2 = false is (1 <=> 2) = false. IS NOT DISTINCT FROM,
// which stands for it, binds more loosely than =, IN, LIKE and BETWEEN: 1 IS NOT DISTINCT FROM (2 = false).
func (p *parser) checkNullSafe() error {
	for i, t := range p.tokens {
		if !isSymbol(t, "<=>") {
			continue
		}
		for _, step := range []int{1, -1} {
			if beside := p.beside(i, step); beside != "" {
				return p.unsupportedAt(t.start, "<=> and %s stand side by side", strings.ToUpper(beside)).
					WithHint("put what is compared first into brackets, as in (a <=> b) = c")
			}
		}
	}
	return nil
}

// looser are words that end the operand of a comparison, on either side.
var looser = Words("and or as by else except for from group having intersect join limit offset on order qualify returning select set then union using " +
	"values when where window with")

// comparing are words that compare, as the operators of comparisons do.
var comparing = Words("between glob ilike in is isnull like notnull regexp rlike similar")

var comparisons = Words("= == < > <= >= <> != <=>")

// beside returns the comparison next to the operand that token at has before it, for a step of -1, or behind it; "" when there is none.
func (p *parser) beside(at, step int) string {
	opening, closing := []string{"(", "[", "{"}, []string{")", "]", "}"}
	begin, end := "case", "end"
	if step < 0 {
		opening, closing, begin, end = closing, opening, end, begin
	}
	depth := 0
	for i := at + step; i >= 0 && i < len(p.tokens); i += step {
		t := p.tokens[i]
		isKeyword := t.kind == word && !p.symbolAt(i-1, ".")
		w := strings.ToLower(t.text)
		op, first := p.operator(i)
		switch {
		case isSymbol(t, opening...), isKeyword && w == begin:
			depth++
		case isSymbol(t, closing...), isKeyword && w == end:
			if depth--; depth < 0 {
				return ""
			}
		case depth > 0:
		case isKeyword && comparing[w]:
			return w
		case isKeyword && w == "from" && p.at(i-1, "distinct"): // of IS DISTINCT FROM
		case isKeyword && w == "and" && step < 0 && !p.at(at, "and") && p.beside(i, step) == "between": // its own AND
			return "between"
		case isKeyword && (looser[w] || w == "not" && step < 0 || w == "if" && !p.symbolAt(i+1, "(")):
			return ""
		case comparisons[op]:
			return op
		case isSymbol(t, ",", ";"), op == "->", op == "=>", op == ":", op == ":=":
			return ""
		case op != "" && step < 0:
			i = first
		case op != "":
			i = first + len(op) - 1
		}
	}
	return ""
}

// operator returns the operator that a token is part of, the symbols that stand side by side, and the place of its first one. A
// sign at its end is that of a number.
func (p *parser) operator(at int) (op string, first int) {
	isPart := func(i int) bool {
		return i >= 0 && i < len(p.tokens) && p.tokens[i].kind == symbol && len(p.tokens[i].text) == 1 && strings.Contains("+-*/<=>~!@#%^&|:", p.tokens[i].text)
	}
	touches := func(i int) bool {
		return isPart(i) && isPart(i+1) && p.tokens[i].start+len(p.tokens[i].text) == p.tokens[i+1].start
	}
	if isSymbol(p.tokens[at], "<=>") { // the only one that is a token by itself
		return "<=>", at
	}
	if !isPart(at) {
		return "", at
	}
	for first = at; touches(first - 1); first-- {
	}
	op = p.tokens[first].text
	for i := first; touches(i); i++ {
		op += p.tokens[i+1].text
	}
	if len(op) > 1 {
		op = op[:1] + strings.TrimRight(op[1:], "+-")
	}
	return op, first
}
