package bind

import (
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
)

// column is a column of a source.
type column struct {
	name string // as statements write it
	// as is the name in texts. It is name itself unless DuckDB couldn't tell that one from another, or mustn't take it for
	// part of a star: then it is the engine's own, and mentions are rewritten to it.
	as   string
	view string // of a scan's column: its name in the view, before the mention gives names of its own
	col  plan.Col
	// hidden is set of a metadata column: no part of *, and found only where no other column has the name. It is read only
	// when it is used.
	hidden, used bool
}

// isRenamed says whether texts have another name for the column.
func (c column) isRenamed() bool { return c.as != c.name }

// find returns the place of the column that a name means, or -1.
func (s *source) find(name string) int {
	if at := s.meant(name); len(at) == 1 {
		return at[0]
	}
	return -1
}

// meant returns the places of the columns that a name may mean: the one spelled so, else those spelled so but for case,
// else the metadata column. Of several that texts don't tell apart either, DuckDB takes the first.
func (s *source) meant(name string) []int {
	var exact, alike, hidden []int
	for i, c := range s.columns {
		switch {
		case c.isRenamed() && c.as == name:
			return []int{i} // a mention that was rewritten
		case !strings.EqualFold(c.name, name):
		case c.hidden:
			hidden = append(hidden, i)
		case c.name == name:
			exact = append(exact, i)
		default:
			alike = append(alike, i)
		}
	}
	all := slices.Concat(exact, alike)
	switch {
	case len(all) > 0 && !s.anyRenamed(all):
		return all[:1]
	case len(exact) > 0:
		return exact
	case len(alike) > 0:
		return alike
	}
	return hidden
}

func (s *source) anyRenamed(at []int) bool {
	for _, i := range at {
		if s.columns[i].isRenamed() {
			return true
		}
	}
	return false
}

// mention notes that the statement names a column and returns its name in texts.
func (s *source) mention(at int) string {
	s.columns[at].used = true
	return s.columns[at].as
}

// own returns the columns that texts know by the engine's own names, of hidden ones those that are used.
func (s *source) own() []column {
	var out []column
	for _, c := range s.columns {
		if c.isRenamed() && (c.used || !c.hidden) {
			out = append(out, c)
		}
	}
	return out
}

// visible returns the columns that a star means.
func (s *source) visible() []column {
	var out []column
	for _, c := range s.columns {
		if !c.hidden {
			out = append(out, c)
		}
	}
	return out
}
