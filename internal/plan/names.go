package plan

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// Prefix starts every name that is the engine's own: of views, and of columns that texts must know by another name.
const Prefix = "tarn_"

// IsOwn says whether a name is the engine's own.
func IsOwn(name string) bool { return strings.HasPrefix(strings.ToLower(name), Prefix) }

// own finds the engine's own names in a text.
var own = regexp.MustCompile(Prefix + `\w+`)

// ForPeople returns an error's text with what people know things by in the place of names of the engine's own.
func (q *Query) ForPeople(text string) string {
	if !strings.Contains(text, Prefix) {
		return text
	}
	return own.ReplaceAllStringFunc(text, func(name string) string { return cmp.Or(q.Shown[name], name) })
}

// ViewName returns the name under which SQL texts mention the scan.
func (s *Scan) ViewName() string { return ScanName(s.Source) }

// ScanName returns the view name of a scan's source.
func ScanName(id SourceID) string { return "tarn_t" + strconv.Itoa(int(id)) }

// ViewName returns the name under which SQL texts mention the block's whole result.
func (b *Block) ViewName() string { return "tarn_b" + strconv.Itoa(b.ID) }

// CoreName returns the name under which Split.Upper mentions the rows that the packs handed up.
func (b *Block) CoreName() string { return "tarn_c" + strconv.Itoa(b.ID) }
