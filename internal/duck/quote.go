package duck

import (
	"context"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tarndb/tarn/internal/quote"
)

// QuotePath returns a path as an SQL string that read_parquet takes for that one file: a glob sign stands for itself only
// in brackets.
func QuotePath(path string) string { return quote.Text(globSigns.Replace(path)) }

var globSigns = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// quoteWhenNeeded returns a name as DuckDB prints it inside a type: quoted when it is a keyword, or has signs other than
// letters, digits and underscores.
func quoteWhenNeeded(name string) string {
	plain := name != "" && (name[0] < '0' || name[0] > '9') && !isKeyword(name)
	for _, r := range name {
		plain = plain && (r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if plain {
		return name
	}
	return quote.Name(name)
}

// keywords are those of the DuckDB that is linked in, in lower case. They are the same for all instances.
var keywords struct {
	sync.RWMutex
	known map[string]bool
}

func isKeyword(name string) bool {
	keywords.RLock()
	defer keywords.RUnlock()
	return keywords.known[strings.ToLower(name)]
}

// learnKeywords asks c for DuckDB's keywords, unless that was done before.
func learnKeywords(c *Conn) error {
	keywords.RLock()
	known := keywords.known != nil
	keywords.RUnlock()
	if known {
		return nil
	}
	names, err := c.texts(context.Background(), `SELECT keyword_name FROM duckdb_keywords()`)
	if err != nil {
		return err
	}
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[strings.ToLower(name)] = true
	}
	keywords.Lock()
	defer keywords.Unlock()
	keywords.known = set
	return nil
}

// texts runs sql and returns its first column, which is VARCHAR without NULLs.
func (c *Conn) texts(ctx context.Context, sql string, args ...any) ([]string, error) {
	var all []string
	err := c.Stream(ctx, sql, func(chunk *Chunk) error {
		rec, err := chunk.Record()
		chunk.Close()
		if err != nil {
			return err
		}
		defer rec.Release()
		column := rec.Column(0).(*array.String)
		for i := range column.Len() {
			all = append(all, strings.Clone(column.Value(i)))
		}
		return nil
	}, args...)
	return all, err
}
