package sql

import (
	"fmt"
	"strings"
)

// typeNames maps names of types without parameters, Spark's and those of the Iceberg spec that mean nothing else in Spark, to
// the spec's. TIMESTAMP has a time zone, as in Spark.
var typeNames = map[string]string{
	"boolean": "boolean", "tinyint": "int", "byte": "int", "smallint": "int", "short": "int", "int": "int", "integer": "int",
	"bigint": "long", "long": "long", "float": "float", "real": "float", "double": "double", "date": "date",
	"timestamp": "timestamptz", "timestamp_ltz": "timestamptz", "timestamp_ntz": "timestamp", "string": "string",
	"binary": "binary", "variant": "variant", "void": "unknown",
	"timestamptz": "timestamptz", "timestamp_ns": "timestamp_ns", "timestamptz_ns": "timestamptz_ns", "time": "time",
	"uuid": "uuid", "unknown": "unknown", "geometry": "geometry", "geography": "geography",
}

// deepest is how many types may lie within each other. Everything that walks over a type is called once a level, so that text of
// some megabytes could use up the stack, which ends the process.
const deepest = 100

// dataType reads a type.
func (p *parser) dataType() (DataType, error) {
	t, ok := p.peek()
	if !ok || t.kind != word {
		return DataType{}, p.wanted("a type")
	}
	if p.depth == deepest {
		return DataType{}, syntaxAt(p.src, t.start, "more than %d types lie within each other", deepest)
	}
	p.depth++
	defer func() { p.depth-- }()
	low := strings.ToLower(t.text)
	p.pos++
	switch low {
	case "struct":
		return p.structType()
	case "array", "list":
		return p.nestedType("list", "element")
	case "map":
		return p.nestedType("map", "key", "value")
	case "decimal", "dec", "numeric":
		return p.decimalType()
	case "char", "varchar", "character":
		if _, err := p.typeLength(); err != nil {
			return DataType{}, err
		}
		return DataType{Name: "string"}, nil
	case "fixed":
		n, err := p.typeLength()
		return DataType{Name: fmt.Sprintf("fixed[%d]", n)}, err
	}
	name, ok := typeNames[low]
	if !ok {
		return DataType{}, syntaxAt(p.src, t.start, "found %q, wanted a type such as BIGINT, STRING, DECIMAL(9, 2), TIMESTAMP or ARRAY<INT>", t.text)
	}
	if low == "double" {
		p.acceptAny("precision")
	}
	if p.isBracket() {
		return DataType{}, p.wantedNoParameters(low)
	}
	return DataType{Name: name}, nil
}

func (p *parser) wantedNoParameters(name string) error {
	t, _ := p.peek()
	if name == "geometry" || name == "geography" {
		return p.unsupportedAt(t.start, "%s in another coordinate system than OGC:CRS84 can't be written", name)
	}
	return syntaxAt(p.src, t.start, "%s takes no parameters", name)
}

// typeLength reads the length in (n), or in [n] as the spec writes it.
func (p *parser) typeLength() (int64, error) {
	closing := ")"
	if p.accept("[") {
		closing = "]"
	} else if !p.accept("(") {
		return 0, p.wanted("a length in parentheses")
	}
	n, err := p.integer("a length", 1<<31-1)
	if err == nil {
		err = p.expect(closing)
	}
	return n, err
}

// decimalType reads (precision, scale), which are 10 and 0 without.
func (p *parser) decimalType() (DataType, error) {
	precision, scale := int64(10), int64(0)
	if p.isBracket() {
		open := p.tokens[p.pos].start
		given := []int64{}
		err := p.bracketed(func() error {
			n, err := p.integer("precision and scale", 1<<31-1)
			given = append(given, n)
			return err
		})
		if err != nil {
			return DataType{}, err
		}
		precision = given[0]
		if len(given) > 1 {
			scale = given[1]
		}
		if len(given) > 2 || precision < 1 || precision > 38 || scale > precision {
			return DataType{}, syntaxAt(p.src, open, "wanted a precision of 1 to 38 and a scale of 0 to the precision, as in DECIMAL(9, 2)")
		}
	}
	return DataType{Name: fmt.Sprintf("decimal(%d, %d)", precision, scale)}, nil
}

// nestedType reads <type> or <type, type>, the fields being called names.
func (p *parser) nestedType(kind string, names ...string) (DataType, error) {
	out := DataType{Name: kind}
	sign := "<"
	for _, name := range names {
		if !p.accept(sign) {
			return out, p.wanted(sign)
		}
		sign = ","
		typ, err := p.dataType()
		if err != nil {
			return out, err
		}
		out.Fields = append(out.Fields, Column{Path: []string{name}, Type: typ, NotNull: name == "key"})
	}
	if !p.accept(">") {
		return out, p.wanted(">")
	}
	return out, nil
}

// structType reads <name: type NOT NULL COMMENT 'text', ...>. The colon may be missing.
func (p *parser) structType() (DataType, error) {
	out := DataType{Name: "struct"}
	if !p.accept("<") {
		return out, p.wanted("<")
	}
	err := p.list(func() error {
		name, err := p.identifier("a field's name")
		if err != nil {
			return err
		}
		p.accept(":")
		field := Column{Path: []string{name}}
		if field.Type, err = p.dataType(); err != nil {
			return err
		}
		if field.NotNull, err = p.notNull(); err == nil {
			field.Comment, err = p.comment()
		}
		out.Fields = append(out.Fields, field)
		return err
	})
	if err == nil && !p.accept(">") {
		err = p.wanted(", or >")
	}
	return out, err
}

func (p *parser) notNull() (bool, error) {
	if !p.acceptAny("not") {
		return false, nil
	}
	return true, p.expect("null")
}

func (p *parser) comment() (string, error) {
	if !p.acceptAny("comment") {
		return "", nil
	}
	return p.literalText("a comment in quotes")
}
