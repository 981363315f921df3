package sql

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarndb/tarn/internal/errs"
)

// tokenKind tells tokens apart as far as splitting and rewriting need.
type tokenKind uint8

const (
	word   tokenKind = iota // an unquoted name or keyword
	quoted                  // "name" or `name`
	text                    // a string literal: '...', e'...', $$...$$
	symbol                  // any other run: one rune, or <=>
	space                   // white space and comments
)

// token is a piece of the statement's text; tokens cover the text without gaps.
type token struct {
	kind  tokenKind
	start int // byte offset
	text  string
}

// is says whether the token is the keyword, in any case.
func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }

// lex cuts text into tokens. An unterminated string, name or comment is a Syntax error with its position.
func lex(s string) ([]token, error) {
	if at := unreadable(s); at >= 0 {
		return nil, syntaxAt(s, at, "the byte %#02x is no text: statements are UTF-8 without NUL", s[at])
	}
	var out []token
	for i := 0; i < len(s); {
		kind, n := next(s[i:])
		if n < 0 {
			return nil, syntaxAt(s, i, "%s is not closed", unclosed(s[i:]))
		}
		out = append(out, token{kind, i, s[i : i+n]})
		i += n
	}
	return out, nil
}

// unreadable returns where the first byte lies that can't be part of a statement, or -1. DuckDB would end a statement at a
// NUL and take the part before it for the whole.
func unreadable(s string) int {
	for i, r := range s {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// next returns the kind and length in bytes of the token that s starts with; the length is -1 when it is not closed.
func next(s string) (tokenKind, int) {
	c := s[0]
	switch {
	case c == '\'':
		return text, closing(s, 1, '\'')
	case (c == 'e' || c == 'E') && len(s) > 1 && s[1] == '\'':
		return text, closingEscaped(s)
	case c == '"' || c == '`':
		return quoted, closing(s, 1, c)
	case strings.HasPrefix(s, "--"):
		if n := strings.IndexByte(s, '\n'); n >= 0 {
			return space, n + 1
		}
		return space, len(s)
	case strings.HasPrefix(s, "/*"):
		return space, blockComment(s)
	case c == '$':
		if n, ok := dollarQuote(s); ok {
			return text, n
		}
		return symbol, 1
	case strings.HasPrefix(s, "<=>"):
		return symbol, 3
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsSpace(r):
		return space, size
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return word, wordLen(s)
	}
	return symbol, size
}

func wordLen(s string) int {
	for i, r := range s {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(s)
}

// closing returns the length up to and including the closing quote; a doubled quote stands for itself.
func closing(s string, from int, quote byte) int {
	for i := from; i < len(s); i++ {
		if s[i] != quote {
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			i++
			continue
		}
		return i + 1
	}
	return -1
}

func closingEscaped(s string) int {
	for i := 2; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			return i + 1
		}
	}
	return -1
}

// blockComment returns the length of a comment; comments nest, as in PostgreSQL and DuckDB.
func blockComment(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// dollarQuote returns the length of $tag$...$tag$; false when s doesn't start one ($1 is a parameter).
func dollarQuote(s string) (int, bool) {
	end := strings.IndexByte(s[1:], '$')
	if end < 0 {
		return 0, false
	}
	tag := s[:end+2]
	for i, r := range tag[1 : len(tag)-1] {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return 0, false
		}
	}
	n := strings.Index(s[len(tag):], tag)
	if n < 0 {
		return -1, true
	}
	return 2*len(tag) + n, true
}

func unclosed(s string) string {
	switch s[0] {
	case '"', '`':
		return "a quoted name"
	case '/':
		return "a comment"
	}
	return "a string"
}

// syntaxAt returns a Syntax error at a byte offset of the statement, with line and column.
func syntaxAt(s string, at int, format string, args ...any) *errs.Error {
	line := 1 + strings.Count(s[:at], "\n")
	column := 1 + utf8.RuneCountInString(s[strings.LastIndexByte(s[:at], '\n')+1:at])
	e := errs.New(errs.Syntax, "parse", "statement", format, args...)
	e.Object = "line " + itoa(line) + ", column " + itoa(column)
	return e
}
