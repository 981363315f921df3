package duck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// Virtual columns of read_parquet that no row has NULL in. A star leaves them out, and a file's own column of the name hides one.
const (
	fileIndex = "file_index" // UBIGINT
	fileName  = "filename"
	rowNumber = "file_row_number"
)

// unfiltered returns the SQL of a column's value by which no filter on it reaches DuckDB's Parquet reader, which would leave out
// rows by statistics and bloom filters: a CASE of two columns, the other being a virtual one.
func unfiltered(column, virtual string) string {
	always := virtual + " >= 0"
	if virtual == fileName {
		always = virtual + " <> ''"
	}
	return "CASE WHEN " + always + " THEN " + column + " END"
}

// isMistrusted says whether the reader's filters leave out values of a type that they shouldn't. Bounds of floats leave NaN
// out by the Parquet format, and DuckDB, whose NaN is above all numbers, takes them as bounds of all values: "x > 5" and
// max(x) would miss NaN. Bloom filters have the bits of values: 0.0 isn't found where only -0.0 is, though they are equal, and
// a half float not at all. Those of bytes it asks for the text of the value: "x = '\x80'" would find nothing, as would a join.
func isMistrusted(t catalog.Type) bool {
	switch t.Primitive.Kind {
	case transform.Float, transform.Double, transform.Binary, transform.Fixed:
		return true
	}
	return slices.ContainsFunc(t.Fields, func(f catalog.Field) bool { return isMistrusted(f.Type) })
}

// mistrusts is isMistrusted of DuckDB's type.
func mistrusts(t bindings.LogicalType) bool {
	return contains(t, bindings.TypeFloat, bindings.TypeDouble, bindings.TypeBlob)
}

// contains says whether a type is of one of the ids, or has such a type inside.
func contains(t bindings.LogicalType, ids ...bindings.Type) bool {
	inner := func(child bindings.LogicalType) bool {
		defer bindings.DestroyLogicalType(&child)
		return contains(child, ids...)
	}
	switch id := bindings.GetTypeId(t); id {
	case bindings.TypeList:
		return inner(bindings.ListTypeChildType(t))
	case bindings.TypeArray:
		return inner(bindings.ArrayTypeChildType(t))
	case bindings.TypeMap:
		return inner(bindings.MapTypeKeyType(t)) || inner(bindings.MapTypeValueType(t))
	case bindings.TypeStruct:
		for i := range bindings.StructTypeChildCount(t) {
			if inner(bindings.StructTypeChildType(t, i)) {
				return true
			}
		}
		return false
	default:
		return slices.Contains(ids, id)
	}
}

// UnfilteredList returns the select list in whose stead files, the SQL of Parquet files in a FROM clause, have a star that is right
// under any filter; "" says that their own star is. A star has no virtual columns: the list has those besides that are
// mentioned. Errors are those of reading the files' footers, and of refuseNanoseconds.
func (c *Conn) UnfilteredList(ctx context.Context, files, names string, mentioned, isUsed func(name string) bool) (string, error) {
	stmt, err := c.prepare(ctx, "SELECT * FROM "+files)
	if err != nil {
		return "", err
	}
	defer bindings.DestroyPrepare(&stmt)
	if err := c.refuseNanoseconds(ctx, stmt, names, isUsed); err != nil {
		return "", err
	}
	own, mistrusted := map[string]bool{}, []string(nil)
	for i := range bindings.PreparedStatementColumnCount(stmt) {
		name := bindings.PreparedStatementColumnName(stmt, i)
		own[strings.ToLower(name)] = true
		typ := bindings.PreparedStatementColumnLogicalType(stmt, i)
		if mistrusts(typ) {
			mistrusted = append(mistrusted, name)
		}
		bindings.DestroyLogicalType(&typ)
	}
	if len(mistrusted) == 0 {
		return "", nil
	}
	virtual := fileIndex
	if own[virtual] {
		virtual = fileName
	}
	if own[virtual] {
		return "", errs.New(errs.Unsupported, "read", files, "columns %s and %s hide what tells its rows apart from their values", fileIndex, fileName)
	}
	for i, name := range mistrusted {
		mistrusted[i] = unfiltered(quote.Name(name), virtual) + " AS " + quote.Name(name)
	}
	list := fmt.Sprintf("* REPLACE (%s)", strings.Join(mistrusted, ", "))
	for _, name := range []string{fileIndex, fileName, rowNumber} {
		if !own[name] && mentioned(name) {
			list += ", " + name
		}
	}
	return list, nil
}
