package write

import (
	"strconv"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// duckType is a type of DuckDB's, taken apart.
type duckType struct {
	name             string // in capitals, without arguments; LIST, ARRAY, STRUCT and MAP have children
	precision, scale int    // of a DECIMAL
	children         []duckType
	names            []string // of a STRUCT's fields; "" for a field without one
}

// parseDuckType reads a type as package duck spells it.
func parseDuckType(text string) (duckType, error) {
	t, _, err := parseWithIntegers(text)
	return t, err
}

// integersIn returns where a type's text has an INTEGER, but for those in a UNION.
func integersIn(text string) ([]int, error) {
	_, places, err := parseWithIntegers(text)
	return places, err
}

func parseWithIntegers(text string) (duckType, []int, error) {
	p := typeParser{rest: text, length: len(text)}
	t, ok := p.parse()
	if !ok || p.rest != "" {
		return duckType{}, nil, errs.New(errs.Internal, "read type", text, "its form isn't known")
	}
	return t, p.integers, nil
}

// typeParser reads a type from the front of rest.
type typeParser struct {
	rest     string
	length   int   // of the whole text
	integers []int // where an INTEGER was
}

func (p *typeParser) parse() (duckType, bool) {
	begin := p.length - len(p.rest)
	name := p.name()
	t := duckType{name: strings.ToUpper(name)}
	ok := name != ""
	if t.name == "INTEGER" {
		p.integers = append(p.integers, begin)
	}
	if ok && p.accept("(") {
		ok = p.arguments(&t)
	}
	for _, more := range []string{" WITH TIME ZONE"} {
		if p.accept(more) {
			t.name += more
		}
	}
	for ok && p.accept("[") {
		length, rest, found := strings.Cut(p.rest, "]")
		if ok = found; !ok {
			break
		}
		p.rest = rest
		outer := duckType{name: "LIST", children: []duckType{t}}
		if length != "" {
			outer.name = "ARRAY"
		}
		t = outer
	}
	return t, ok
}

// name reads an identifier, quoted or not.
func (p *typeParser) name() string {
	if strings.HasPrefix(p.rest, `"`) {
		var out strings.Builder
		rest := p.rest[1:]
		for {
			part, after, ok := strings.Cut(rest, `"`)
			if !ok {
				return ""
			}
			out.WriteString(part)
			if !strings.HasPrefix(after, `"`) {
				p.rest = after
				return out.String()
			}
			out.WriteByte('"')
			rest = after[1:]
		}
	}
	end := strings.IndexAny(p.rest, ` ,()["`)
	if end < 0 {
		end = len(p.rest)
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	return name
}

func (p *typeParser) accept(text string) bool {
	rest, ok := strings.CutPrefix(p.rest, text)
	if ok {
		p.rest = rest
	}
	return ok
}

// arguments reads what stands in a type's parentheses, after the first one.
func (p *typeParser) arguments(t *duckType) bool {
	switch t.name {
	case "DECIMAL":
		inner, rest, ok := strings.Cut(p.rest, ")")
		precision, scale, found := strings.Cut(inner, ",")
		var err1, err2 error
		t.precision, err1 = strconv.Atoi(strings.TrimSpace(precision))
		t.scale, err2 = strconv.Atoi(strings.TrimSpace(scale))
		p.rest = rest
		return ok && found && err1 == nil && err2 == nil
	case "STRUCT", "MAP":
		return p.children(t)
	case "UNION":
		before := len(p.integers)
		ok := p.children(t)
		p.integers = p.integers[:before]
		return ok
	case "ENUM":
		return p.skipTexts()
	}
	return false
}

func (p *typeParser) children(t *duckType) bool {
	for {
		name := ""
		if t.name != "MAP" {
			before := p.rest
			if name = p.name(); !p.accept(" ") { // a field without a name: this was its type
				p.rest, name = before, ""
			}
		}
		child, ok := p.parse()
		if !ok {
			return false
		}
		t.children, t.names = append(t.children, child), append(t.names, name)
		if p.accept(")") {
			return true
		}
		if !p.accept(", ") {
			return false
		}
	}
}

// skipTexts reads the values of an ENUM.
func (p *typeParser) skipTexts() bool {
	for {
		if !p.accept("'") {
			return false
		}
		_, rest, ok := strings.Cut(p.rest, "'")
		if !ok {
			return false
		}
		p.rest = rest
		if strings.HasPrefix(p.rest, "'") { // a doubled quote: the text goes on
			continue
		}
		if p.accept(")") {
			return true
		}
		if !p.accept(", ") {
			return false
		}
	}
}
