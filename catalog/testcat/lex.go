package testcat

import (
	"fmt"
	"strings"
)

// statement is one statement's words, with the file lines of "files" apart.
type statement struct {
	line  int // where it begins, from 1
	text  string
	lines []string // the lines that go on with it
}

// statements cuts a text at the lines that don't start with a blank.
func statements(text string) ([]statement, error) {
	var out []statement
	n := 0
	for line := range strings.Lines(text) {
		n++
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#':
		case line[0] != ' ' && line[0] != '\t':
			out = append(out, statement{line: n, text: trimmed})
		case len(out) == 0:
			return nil, fmt.Errorf("line %d goes on with no statement", n)
		default:
			last := &out[len(out)-1]
			last.lines = append(last.lines, trimmed)
		}
	}
	return out, nil
}

// scanner reads words: names, numbers, quoted texts and single signs.
type scanner struct{ rest string }

// word returns the next word, "" at the end. Double quotes are taken off, single ones stay.
func (s *scanner) word() string {
	s.rest = strings.TrimLeft(s.rest, " \t\n")
	if s.rest == "" {
		return ""
	}
	n := 1
	switch c := s.rest[0]; {
	case c == '"' || c == '\'':
		if end := strings.IndexByte(s.rest[1:], c); end >= 0 {
			n = end + 2
		}
	case !strings.ContainsRune("(),=", rune(c)):
		if n = strings.IndexAny(s.rest, "(),= \t\n"); n < 0 {
			n = len(s.rest)
		}
	}
	w := s.rest[:n]
	s.rest = s.rest[n:]
	return strings.Trim(w, `"`)
}

// peek returns the next word without taking it.
func (s *scanner) peek() string { c := *s; return c.word() }

// accept takes the next words when they are these, in any case.
func (s *scanner) accept(words ...string) bool {
	c := *s
	for _, w := range words {
		if !strings.EqualFold(c.word(), w) {
			return false
		}
	}
	*s = c
	return true
}

// want is accept, or an error.
func (s *scanner) want(words ...string) error {
	if !s.accept(words...) {
		return fmt.Errorf("found %q, wanted %q", s.peek(), strings.Join(words, " "))
	}
	return nil
}

// list reads a parenthesised list and returns its items as text, parted by commas outside of parentheses and quotes.
func (s *scanner) list() ([]string, error) {
	if err := s.want("("); err != nil {
		return nil, err
	}
	var items []string
	depth, start, quote := 0, 0, rune(0)
	for i, r := range s.rest {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == ',' && depth == 0, r == ')':
			item := strings.TrimSpace(s.rest[start:i])
			if item != "" || r == ',' || len(items) > 0 {
				items = append(items, item)
			}
			start = i + 1
			if r == ')' {
				s.rest = s.rest[start:]
				return items, nil
			}
		}
	}
	return nil, fmt.Errorf("a parenthesis isn't closed before %q", s.rest)
}
