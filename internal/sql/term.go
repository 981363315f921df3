package sql

import (
	"math"
	"strconv"
	"strings"
)

// transformNames maps what Spark's Iceberg takes for the name of a transform to the spec's.
var transformNames = map[string]string{
	"identity": "identity", "bucket": "bucket", "truncate": "truncate", "year": "year", "years": "year", "month": "month",
	"months": "month", "day": "day", "days": "day", "date": "day", "hour": "hour", "hours": "hour", "date_hour": "hour",
}

// term reads a column or a transform of one: id, days(ts), bucket(16, id). The number may also come last.
func (p *parser) term() (Term, error) {
	t, ok := p.peek()
	if !ok || t.kind != word || p.pos+1 >= len(p.tokens) || p.tokens[p.pos+1].text != "(" {
		column, err := p.name("a column or a transform")
		return Term{Transform: "identity", Column: column}, err
	}
	name, ok := transformNames[strings.ToLower(t.text)]
	if !ok {
		return Term{}, syntaxAt(p.src, t.start,
			"found %q, wanted a transform: bucket(N, c), truncate(W, c), years(c), months(c), days(c), hours(c) or a column", t.text)
	}
	p.pos++
	out := Term{Transform: name}
	number := ""
	err := p.bracketed(func() error { return p.argument(&out, &number, t.start) })
	if err != nil {
		return out, err
	}
	wantsNumber := name == "bucket" || name == "truncate"
	switch {
	case out.Column == nil:
		return out, syntaxAt(p.src, t.start, "%s names no column", t.text)
	case wantsNumber && number == "":
		return out, syntaxAt(p.src, t.start, "%s wants a number and a column, as in %s(16, c)", t.text, t.text)
	case !wantsNumber && number != "":
		return out, syntaxAt(p.src, t.start, "%s takes a column and no number", t.text)
	case wantsNumber:
		out.Transform += "[" + number + "]"
	}
	return out, nil
}

// argument reads one argument of a transform, which begins at start.
func (p *parser) argument(out *Term, number *string, start int) error {
	t, ok := p.peek()
	if ok && t.kind == word && t.text[0] >= '0' && t.text[0] <= '9' && *number == "" {
		n, err := p.integer("a number", math.MaxInt32)
		if err == nil && n == 0 {
			return syntaxAt(p.src, t.start, "found 0, wanted a number from 1")
		}
		*number = strconv.FormatInt(n, 10)
		return err
	}
	column, err := p.name("a column")
	if err != nil {
		return err
	}
	if out.Column != nil {
		return p.unsupportedAt(start, "transforms of several columns can't be written")
	}
	out.Column = column
	return nil
}

// orderField reads term [ASC | DESC] [NULLS FIRST | NULLS LAST].
func (p *parser) orderField() (OrderField, error) {
	t, err := p.term()
	f := OrderField{Term: t}
	if err != nil {
		return f, err
	}
	if f.Descending = p.acceptAny("desc"); !f.Descending {
		p.acceptAny("asc")
	}
	f.NullsLast = f.Descending
	if p.acceptAny("nulls") {
		switch {
		case p.acceptAny("first"):
			f.NullsLast = false
		case p.acceptAny("last"):
			f.NullsLast = true
		default:
			return f, p.wanted("FIRST or LAST")
		}
	}
	return f, nil
}
