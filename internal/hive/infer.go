package hive

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// seen is what the values of one level of folders are written as, so far.
type seen struct {
	name                  string
	any                   bool // that isn't NULL
	isInt, isLong, isDate bool
}

func newSeen(name string) *seen { return &seen{name: name, isInt: true, isLong: true, isDate: true} }

// add looks at a value. Only texts that a value of the type is written as count: 007 is a string, since as a number it would lose
// its zeros.
func (s *seen) add(l Level) {
	if l.IsNull {
		return
	}
	s.any = true
	s.isInt = s.isInt && isWritten(transform.Int, l.Text)
	s.isLong = s.isLong && isWritten(transform.Long, l.Text)
	s.isDate = s.isDate && isWritten(transform.Date, l.Text)
}

func isWritten(kind transform.Kind, text string) bool {
	t := transform.Type{Kind: kind}
	v, err := transform.ParseValue(t, text)
	return err == nil && transform.FormatValue(t, v) == text
}

func (s *seen) typeOf() catalog.Type {
	kind := transform.String
	switch {
	case !s.any:
	case s.isInt:
		kind = transform.Int
	case s.isLong:
		kind = transform.Long
	case s.isDate:
		kind = transform.Date
	}
	return catalog.Type{Primitive: transform.Type{Kind: kind}}
}
