package sql

import (
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// acceptAll takes a run of keywords, or nothing.
func (p *parser) acceptAll(keywords ...string) bool {
	for i, k := range keywords {
		if !p.at(p.pos+i, k) {
			return false
		}
	}
	p.pos += len(keywords)
	return true
}

// acceptAny takes one of the keywords.
func (p *parser) acceptAny(keywords ...string) bool {
	if p.at(p.pos, keywords...) {
		p.pos++
		return true
	}
	return false
}

// expect takes the keywords or symbols, each of which must be there.
func (p *parser) expect(all ...string) error {
	for _, k := range all {
		if !p.accept(k) {
			return p.wanted(strings.ToUpper(k))
		}
	}
	return nil
}

// identifier reads one name; quotes are taken off.
func (p *parser) identifier(what string) (string, error) {
	t, ok := p.peek()
	if !ok || t.kind != word && t.kind != quoted {
		return "", p.wanted(what)
	}
	name := unquote(t)
	if name == "" {
		return "", syntaxAt(p.src, t.start, "the name is empty, wanted %s", what)
	}
	p.pos++
	return name, nil
}

// literalText reads text in single or, as Spark has it, double quotes.
func (p *parser) literalText(what string) (string, error) {
	t, ok := p.peek()
	isText := t.kind == text && t.text[0] == '\'' || t.kind == quoted && t.text[0] == '"'
	if !ok || !isText {
		return "", p.wanted(what)
	}
	p.pos++
	q := t.text[:1]
	return strings.ReplaceAll(t.text[1:len(t.text)-1], q+q, q), nil
}

// integer reads a whole number without a sign, below limit.
func (p *parser) integer(what string, limit int64) (int64, error) {
	t, ok := p.peek()
	if !ok || t.kind != word {
		return 0, p.wanted(what)
	}
	n := int64(0)
	for _, r := range t.text {
		if r < '0' || r > '9' {
			return 0, p.wanted(what)
		}
		digit := int64(r - '0')
		if n > (limit-digit)/10 {
			return 0, syntaxAt(p.src, t.start, "%s is too large, wanted %s up to %d", t.text, what, limit)
		}
		n = n*10 + digit
	}
	p.pos++
	return n, nil
}

// list reads one or more items with commas between them.
func (p *parser) list(item func() error) error {
	for {
		if err := item(); err != nil {
			return err
		}
		if !p.accept(",") {
			return nil
		}
	}
}

// bracketed reads a list in parentheses.
func (p *parser) bracketed(item func() error) error {
	if err := p.expect("("); err != nil {
		return err
	}
	if err := p.list(item); err != nil {
		return err
	}
	if !p.accept(")") {
		return p.wanted(", or )")
	}
	return nil
}

// listed reads a list that may stand in parentheses.
func (p *parser) listed(item func() error) error {
	if p.isBracket() {
		return p.bracketed(item)
	}
	return p.list(item)
}

func (p *parser) isBracket() bool {
	t, ok := p.peek()
	return ok && t.kind == symbol && t.text == "("
}

// ifExists takes IF EXISTS.
func (p *parser) ifExists() (bool, error) {
	if !p.acceptAny("if") {
		return false, nil
	}
	return true, p.expect("exists")
}

// ifNotExists takes IF NOT EXISTS.
func (p *parser) ifNotExists() (bool, error) {
	if !p.acceptAny("if") {
		return false, nil
	}
	return true, p.expect("not", "exists")
}

// unsupportedAt refuses what SQL has and Tarn hasn't, with its place.
func (p *parser) unsupportedAt(start int, format string, args ...any) *errs.Error {
	e := syntaxAt(p.src, start, format, args...)
	e.Kind = errs.Unsupported
	return e
}

// properties reads ('key' = 'value', ...). Keys may be dotted names, values numbers and booleans too, and the sign may be
// missing, as in Spark.
func (p *parser) properties() ([]Property, error) {
	var out []Property
	err := p.bracketed(func() error {
		start := p.pos
		key, err := p.propertyKey()
		if err != nil {
			return err
		}
		for _, other := range out {
			if other.Key == key {
				return syntaxAt(p.src, p.tokens[start].start, "the property %q is given twice", key)
			}
		}
		p.accept("=")
		value, err := p.propertyValue()
		out = append(out, Property{key, value})
		return err
	})
	return out, err
}

func (p *parser) propertyKey() (string, error) {
	if t, ok := p.peek(); ok && (t.kind == text || t.kind == quoted && t.text[0] == '"') {
		return p.literalText("a property's name")
	}
	parts, err := p.name("a property's name")
	name := strings.Join(parts, ".")
	for err == nil && p.accept("-") {
		parts, err = p.name("the rest of the property's name")
		name += "-" + strings.Join(parts, ".")
	}
	return name, err
}

func (p *parser) propertyValue() (string, error) {
	l, err := p.literal("a property's value")
	if err == nil && (l.Kind == NullLiteral || l.Kind > StringLiteral) {
		p.pos--
		err = p.wanted("a property's value: text, a number, true or false")
	}
	return l.Text, err
}

// literal reads a constant.
func (p *parser) literal(what string) (Literal, error) {
	t, ok := p.peek()
	switch {
	case !ok:
		return Literal{}, p.wanted(what)
	case p.acceptAny("null"):
		return Literal{}, nil
	case p.acceptAny("true", "false"):
		return Literal{BooleanLiteral, strings.ToLower(t.text)}, nil
	case t.kind == text && t.text[0] == '\'', t.kind == quoted && t.text[0] == '"':
		s, err := p.literalText(what)
		return Literal{StringLiteral, s}, err
	case t.kind == word && p.pos+1 < len(p.tokens) && p.tokens[p.pos+1].kind == text:
		return p.typedLiteral(t, what)
	}
	return p.number(what)
}

// typedLiteral reads X'..', DATE '..' and the like.
func (p *parser) typedLiteral(t token, what string) (Literal, error) {
	kinds := map[string]LiteralKind{
		"x": BinaryLiteral, "date": DateLiteral,
		"timestamp": TimestampLiteral, "timestamp_ntz": TimestampLiteral, "timestamp_ltz": TimestampLiteral,
	}
	kind, ok := kinds[strings.ToLower(t.text)]
	if !ok {
		return Literal{}, p.wanted(what)
	}
	p.pos++
	s, err := p.literalText("text in quotes")
	return Literal{kind, s}, err
}

// number reads a number as it is written: the tokens that stand side by side.
func (p *parser) number(what string) (Literal, error) {
	start := p.pos
	if !p.accept("-") {
		p.accept("+")
	}
	var digits strings.Builder
	end := -1
	for p.pos < len(p.tokens) {
		t := p.tokens[p.pos]
		isSign := (t.text == "-" || t.text == "+") && strings.HasSuffix(strings.ToLower(digits.String()), "e")
		if end >= 0 && t.start != end || t.kind != word && t.text != "." && !isSign {
			break
		}
		digits.WriteString(t.text)
		end = t.start + len(t.text)
		p.pos++
	}
	if s := digits.String(); s == "" || !isNumber(s) {
		p.pos = start
		return Literal{}, p.wanted(what)
	}
	sign := ""
	if p.tokens[start].text == "-" {
		sign = "-"
	}
	return Literal{NumberLiteral, sign + digits.String()}, nil
}

// isNumber says whether s is digits with at most one point, and then perhaps an exponent.
func isNumber(s string) bool {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if hasExponent {
		exponent = strings.TrimLeft(exponent, "+-")
		if exponent == "" || strings.Trim(exponent, "0123456789") != "" {
			return false
		}
	}
	return whole+fraction != "" && strings.Trim(whole+fraction, "0123456789") == ""
}
