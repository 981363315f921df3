package sql

import (
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// travel is a clause behind a table's name that selects a version of it, and the alias behind the clause: token places,
// each range without its end.
type travel struct {
	unit       string   // VERSION or TIMESTAMP
	values     [][2]int // one for AS OF; for FROM what comes after it and, if there, after TO
	isRange    bool     // FROM
	alias, end int      // the alias is empty when they are the same
}

// units are the words before AS OF and FROM, with what they select by.
var units = map[string]string{
	"version": "VERSION", "system_version": "VERSION", "timestamp": "TIMESTAMP", "system_time": "TIMESTAMP",
}

// travelAt reads the clause at token i; nil when there is none. A table's alias may be called version: only AS OF makes it a
// clause, and FROM only after FOR.
func (p *parser) travelAt(i int) (*travel, error) {
	isFor := p.at(i, "for")
	if isFor {
		i++
	}
	if i >= len(p.tokens) || p.tokens[i].kind != word {
		return nil, nil
	}
	t := &travel{unit: units[strings.ToLower(p.tokens[i].text)]}
	switch {
	case t.unit == "":
		return nil, nil
	case p.at(i+1, "as") && p.at(i+2, "of"):
		i += 3
	case isFor && p.at(i+1, "from"):
		t.isRange = true
		i += 2
	default:
		return nil, nil
	}
	end, err := p.constant(i)
	if err != nil {
		return nil, err
	}
	t.values = append(t.values, [2]int{i, end})
	if t.isRange && p.at(end, "to") {
		i = end + 1
		if end, err = p.constant(i); err != nil {
			return nil, err
		}
		t.values = append(t.values, [2]int{i, end})
	}
	t.alias, t.end = end, p.aliasEnd(end)
	return t, nil
}

// notAliases are the words that may follow a table and aren't its alias.
var notAliases = Words("join inner left right full cross natural semi anti asof positional lateral on using tablesample pivot unpivot for at when set")

// aliasEnd returns the place behind an alias with its column names; i itself when there is none.
func (p *parser) aliasEnd(i int) int {
	at := i
	if p.at(i, "as") {
		at++
	}
	if at >= len(p.tokens) || !isName(p.tokens[at]) {
		return i
	}
	if at == i && p.ends(i) {
		return i
	}
	if at++; p.symbolAt(at, "(") {
		return p.behind(at)
	}
	return at
}

// refuseTravel refuses a clause behind a call of a function.
func (p *parser) refuseTravel(m mention) error {
	t, err := p.travelAt(p.behind(m.end))
	if err != nil || t == nil {
		return err
	}
	return errs.New(errs.Unsupported, "bind", strings.Join(m.parts, ".")+"()", "a call has no versions").
		WithHint("a table that is opened by its path has them: FROM 'path/to/table' FOR %s AS OF ...", t.unit)
}

// ends says whether token i is a word that goes on with the statement.
func (p *parser) ends(i int) bool {
	w := strings.ToLower(p.tokens[i].text)
	return p.tokens[i].kind == word && (afterFrom[w] || notAliases[w])
}

// intervalUnits may follow a number in INTERVAL 2 DAYS.
var intervalUnits = Words("microsecond microseconds millisecond milliseconds second seconds minute minutes hour hours day days week weeks month months quarter quarters year years")

// constant returns the place behind the expression at token i: operands with operators between them. Whatever else
// follows is the alias or the next part of the statement.
func (p *parser) constant(i int) (int, error) {
	for {
		end := p.operand(i)
		if end < 0 {
			return 0, p.missing(i, "a constant")
		}
		for p.symbolAt(end, ":") && p.symbolAt(end+1, ":") { // x::timestamp(3)
			if end = p.operand(end + 2); end < 0 {
				return 0, p.missing(i, "a type")
			}
		}
		switch {
		case end < len(p.tokens) && isSymbol(p.tokens[end], "+", "-", "*", "/", "%"):
			i = end + 1
		case p.symbolAt(end, "|") && p.symbolAt(end+1, "|"):
			i = end + 2
		case p.at(end, "at") && p.at(end+1, "time") && p.at(end+2, "zone"):
			i = end + 3
		default:
			return end, nil
		}
	}
}

// operand returns the place behind a literal, a parameter, a call or an expression in brackets, or -1.
func (p *parser) operand(i int) int {
	for i < len(p.tokens) && isSymbol(p.tokens[i], "+", "-") {
		i++
	}
	switch {
	case i >= len(p.tokens):
		return -1
	case isSymbol(p.tokens[i], "("):
		return p.behind(i)
	case isSymbol(p.tokens[i], "?"), p.tokens[i].kind == text:
		return i + 1
	case isSymbol(p.tokens[i], "$") && i+1 < len(p.tokens):
		return i + 2
	case p.at(i, "interval"):
		end := p.operand(i + 1)
		if end > 0 && end < len(p.tokens) && intervalUnits[strings.ToLower(p.tokens[end].text)] {
			end++
		}
		return end
	case !isName(p.tokens[i]), p.ends(i):
		return -1
	}
	end := p.mentionAt(i).end
	switch {
	case p.symbolAt(end, "("):
		return p.behind(end)
	case end == i+1 && end < len(p.tokens) && p.tokens[end].kind == text: // DATE '2024-01-01'
		return end + 1
	}
	return end
}

// missing is the error for what stands at token i.
func (p *parser) missing(i int, what string) error {
	p.pos = i
	return p.wanted(what)
}
