package duck

import (
	"context"
	"fmt"
	"strings"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

// refuseNanoseconds fails with Unsupported where a column in use of Parquet files has moments in nanoseconds: DuckDB's type of moments has
// microseconds, and its reader cuts the rest off without a word. Spark refuses such files likewise. stmt selects all of the
// files' columns, and names is the SQL of the files' names. Timestamps without a zone keep their nanoseconds.
func (c *Conn) refuseNanoseconds(ctx context.Context, stmt bindings.PreparedStatement, names string, isUsed func(name string) bool) error {
	var flat []string
	nested := false
	for i := range bindings.PreparedStatementColumnCount(stmt) {
		name := bindings.PreparedStatementColumnName(stmt, i)
		typ := bindings.PreparedStatementColumnLogicalType(stmt, i)
		if isUsed(strings.ToLower(name)) && contains(typ, bindings.TypeTimestampTZ) {
			nested = nested || bindings.GetTypeId(typ) != bindings.TypeTimestampTZ
			flat = append(flat, quote.Text(name))
		}
		bindings.DestroyLogicalType(&typ)
	}
	if len(flat) == 0 {
		return nil
	}
	query := fmt.Sprintf("SELECT name || chr(0) || file_name FROM parquet_schema(%s) WHERE logical_type LIKE 'TimestampType(isAdjustedToUTC=1%%NANOS=Nano%%'", names)
	if !nested { // else the schema's names may be those of fields
		query += fmt.Sprintf(" AND name IN (%s)", strings.Join(flat, ", "))
	}
	found, err := c.texts(ctx, query+" LIMIT 1")
	if err != nil || len(found) == 0 {
		return err
	}
	name, file, _ := strings.Cut(found[0], "\x00")
	return errs.New(errs.Unsupported, "read Parquet file", file, "its column %q has timestamps with a zone in nanoseconds, which would be cut to microseconds", name).
		WithHint("leave the column out, or write the file with microseconds")
}
