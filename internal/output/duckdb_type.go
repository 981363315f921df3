package output

import (
	"strconv"
	"strings"
)

// duckType is a parsed DuckDB type name. Its name is in upper case, "LIST", "STRUCT", "MAP" and "UNION" for nested types.
// The zero duckType is an unknown one: values are then spelled by their Arrow type alone.
type duckType struct {
	name   string
	fields []duckField // struct and union: the members; list: the element; map: key and value
	params []int       // of a decimal: precision and scale
}

type duckField struct {
	name string // empty for elements, keys, values and members of an unnamed struct
	typ  duckType
}

// child returns the type of the i-th field, or the unknown type.
func (t duckType) child(i int) duckType {
	if i < len(t.fields) {
		return t.fields[i].typ
	}
	return duckType{}
}

// isNumber says whether values of the type are aligned to the right.
func (t duckType) isNumber() bool {
	switch t.name {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
		"FLOAT", "DOUBLE", "DECIMAL", "BIGNUM":
		return true
	}
	return false
}

// maxTypeDepth bounds nesting, so that no name can exhaust the stack.
const maxTypeDepth = 100

// parseDuckType reads a type name as DuckDB's typeof prints it. A name that it can't read gives the unknown type.
func parseDuckType(text string) duckType {
	p := typeParser{text: text}
	t := p.parse(0)
	p.space()
	if p.bad || p.text != "" {
		return duckType{}
	}
	return t
}

// typeParser reads the front of text. After a mistake bad is set and nothing it returns means anything.
type typeParser struct {
	text string
	bad  bool
}

func (p *typeParser) space() { p.text = strings.TrimLeft(p.text, " ") }

// accept consumes token if it comes next.
func (p *typeParser) accept(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.text, token)
	if ok {
		p.text = rest
	}
	return ok
}

func (p *typeParser) expect(token string) {
	if !p.accept(token) {
		p.bad = true
	}
}

func (p *typeParser) parse(depth int) duckType {
	if depth > maxTypeDepth {
		p.bad = true
		return duckType{}
	}
	t := duckType{name: p.words()}
	if p.accept("(") {
		p.arguments(&t, depth)
	}
	// A name such as "TIMESTAMP(6) WITH TIME ZONE" isn't printed by DuckDB, so what follows is only a list's brackets.
	for !p.bad && p.accept("[") {
		p.text = strings.TrimLeft(p.text, "0123456789")
		p.expect("]")
		t = duckType{name: "LIST", fields: []duckField{{typ: t}}}
	}
	return t
}

// words reads a type's name, which may be several words or quoted.
func (p *typeParser) words() string {
	p.space()
	if strings.HasPrefix(p.text, `"`) {
		return p.quoted('"')
	}
	end := strings.IndexAny(p.text, "()[],")
	if end < 0 {
		end = len(p.text)
	}
	name := strings.ToUpper(strings.TrimSpace(p.text[:end]))
	p.text = p.text[end:]
	if name == "" {
		p.bad = true
	}
	return name
}

// quoted reads a text in quotes, where the quote itself stands twice.
func (p *typeParser) quoted(quote byte) string {
	var out strings.Builder
	for i := 1; i < len(p.text); i++ {
		if p.text[i] != quote {
			out.WriteByte(p.text[i])
			continue
		}
		if i+1 < len(p.text) && p.text[i+1] == quote {
			out.WriteByte(quote)
			i++
			continue
		}
		p.text = p.text[i+1:]
		return out.String()
	}
	p.bad = true
	return ""
}

// arguments reads what stands in parentheses. The labels of an enum are skipped: Arrow knows them.
func (p *typeParser) arguments(t *duckType, depth int) {
	for !p.bad {
		p.space()
		switch {
		case t.name == "STRUCT" || t.name == "UNION":
			t.fields = append(t.fields, p.member(depth))
		case t.name == "MAP":
			t.fields = append(t.fields, duckField{typ: p.parse(depth + 1)})
		case strings.HasPrefix(p.text, "'"):
			p.quoted('\'')
		default:
			t.params = append(t.params, p.number())
		}
		if p.accept(")") {
			return
		}
		p.expect(",")
	}
}

func (p *typeParser) number() int {
	rest := strings.TrimLeft(p.text, "0123456789")
	n, err := strconv.Atoi(p.text[:len(p.text)-len(rest)])
	if err != nil {
		p.bad = true
	}
	p.text = rest
	return n
}

// member reads "name TYPE" of a struct, or the type alone of a struct whose members have no names.
func (p *typeParser) member(depth int) duckField {
	before := p.text
	name := ""
	if strings.HasPrefix(p.text, `"`) {
		name = p.quoted('"')
	} else if end := strings.IndexAny(p.text, " (),["); end > 0 && p.text[end] == ' ' {
		name, p.text = p.text[:end], p.text[end:]
	}
	p.space()
	if name != "" && (p.text == "" || strings.ContainsRune("(),[", rune(p.text[0]))) || isTypeWord(name, p.text) {
		p.text, name = before, ""
	}
	return duckField{name: name, typ: p.parse(depth + 1)}
}

// isTypeWord says that name, followed by rest, is the first word of a type of several words and not a member's name.
func isTypeWord(name, rest string) bool {
	return (name == "TIMESTAMP" || name == "TIME") && strings.HasPrefix(rest, "WITH TIME ZONE")
}
