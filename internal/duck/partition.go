package duck

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// PartSQL returns the SELECT of those rows of a SELECT of which a hash of the keys, modulo of, is index. Rows of two tables
// whose keys are equal fall to one index: the hash is of the value in the widest type that it may have in another table.
//
// What sql checks it checks of all its rows: checked values are computed once for each row, below any condition on them.
// DuckDB's joins spread rows by the very same hash, so it is hashed once more: rows of one index would else crowd into a
// part of their tables.
func PartSQL(sql string, keys []ScanColumn, index, of int) (string, error) {
	list := make([]string, len(keys))
	for i, c := range keys {
		t := c.Field.Type.Primitive
		if t.Kind == transform.Fixed {
			t.Kind = transform.Binary
		}
		name, err := typeSQL(widest(t))
		if err != nil {
			return "", err
		}
		list[i] = fmt.Sprintf("CAST(%s AS %s)", quote.Name(c.As), name)
	}
	return fmt.Sprintf("SELECT * FROM (%s) WHERE hash(hash(%s)) %% CAST(%d AS UBIGINT) = CAST(%d AS UBIGINT)",
		sql, strings.Join(list, ", "), of, index), nil
}
