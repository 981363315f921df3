package duck

import (
	"strings"

	"github.com/tarndb/tarn/internal/quote"
)

// EqualitySQL returns a SELECT of the columns in the file's Equality, in their order: of a file of equality deletes, what
// Chunk.EachKey makes the keys of.
func EqualitySQL(f ScanFile) (string, error) {
	p := &part{Scan: &Scan{Files: []ScanFile{f}}, places: []int{0}}
	list := make([]string, len(f.Equality))
	for i, e := range f.Equality {
		expr, err := p.equality(e)
		if err != nil {
			return "", err
		}
		list[i] = expr + " AS " + quote.Name(keyName(i))
	}
	source, err := p.source()
	return "SELECT " + strings.Join(list, ", ") + " FROM " + source, err
}
