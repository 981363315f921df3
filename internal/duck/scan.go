package duck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// ScanColumn is a column of a scan.
type ScanColumn struct {
	Field catalog.Field // a top-level column of the table; read by its ID
	As    string        // its name in the result
}

// ScanCheck says that a column's rows are checked as RegisterKeyCheck said.
type ScanCheck struct {
	Field catalog.FieldID
	Check int64
}

// Scan is a read of Parquet files. Their field IDs must be there, and nested columns must lie in them as the table's
// current schema says: DuckDB reads all else as NULL, silently.
type Scan struct {
	Columns []ScanColumn
	Files   []catalog.FileRef // which must lie on this machine
	Checks  []ScanCheck       // of columns that are read
	// Filter is an SQL condition on the result's names; "" is none. It stands below the checks: a row that it drops isn't
	// checked, and row groups that it rules out aren't read.
	Filter string
}

// fileIndexName carries DuckDB's file_index past a column that has that very name.
const fileIndexName = "tarn file index"

// ScanSQL returns a SELECT of the scan's columns in their order. A scan of no columns gives its rows without any value of
// theirs, for counting.
func ScanSQL(s Scan) (string, error) {
	if len(s.Files) == 0 {
		return emptySQL(s.Columns)
	}
	source, err := sourceSQL(s)
	if err != nil {
		return "", err
	}
	if len(s.Columns) == 0 {
		source = "SELECT true AS \"tarn row\" FROM " + source
	} else {
		source = "SELECT " + s.inner() + " FROM " + source
	}
	if len(s.Checks) == 0 && s.Filter == "" {
		return source, nil
	}
	outer, err := s.outer()
	if err != nil {
		return "", err
	}
	text := "SELECT " + outer + " FROM (" + source + ")"
	if s.Filter != "" {
		text += " WHERE " + s.Filter
	}
	return text, nil
}

// emptySQL returns a relation of the columns' types without rows. DuckDB must not know that it has none: it would then
// drop an anti-join with it and, as nothing reads it any more, the other side's key with its check.
func emptySQL(columns []ScanColumn) (string, error) {
	parts := make([]string, len(columns))
	for i, c := range columns {
		t, err := fieldSQL(c.Field)
		if err != nil {
			return "", err
		}
		parts[i] = fmt.Sprintf("unnest(CAST([] AS %s[])) AS %s", t, quoteName(c.As))
	}
	if len(parts) == 0 {
		parts = []string{`unnest(CAST([] AS BOOLEAN[])) AS "tarn row"`}
	}
	return "SELECT " + strings.Join(parts, ", "), nil
}

// sourceSQL returns the read_parquet call, whose columns have the names of sourceName.
func sourceSQL(s Scan) (string, error) {
	files := make([]string, len(s.Files))
	for i, f := range s.Files {
		if f.Local == "" {
			return "", errs.New(errs.Internal, "scan", f.Path, "the file doesn't lie on this machine")
		}
		files[i] = quotePath(f.Local)
	}
	columns := s.Columns
	if len(columns) == 0 { // DuckDB needs one; none of the files has this, and none is read
		columns = []ScanColumn{{Field: catalog.Field{ID: 0, Type: catalog.Type{Primitive: transform.Type{Kind: transform.Boolean}}}}}
	}
	var fields []string
	seen := map[catalog.FieldID]bool{} // a column may be asked for twice
	for _, c := range columns {
		if seen[c.Field.ID] {
			continue
		}
		seen[c.Field.ID] = true
		t, err := fieldSQL(c.Field)
		if err != nil {
			return "", err
		}
		initial, err := defaultSQL(c.Field)
		if err != nil {
			return "", err
		}
		fields = append(fields, fmt.Sprintf("%d: {name: %s, type: %s, default_value: %s}",
			c.Field.ID, quoteText(sourceName(c.Field.ID)), quoteText(t), initial))
	}
	return fmt.Sprintf("read_parquet([%s], schema = MAP {%s}, hive_partitioning = false)",
		strings.Join(files, ", "), strings.Join(fields, ", ")), nil
}

// sourceName is a column's name inside read_parquet: no virtual column has it.
func sourceName(id catalog.FieldID) string { return fmt.Sprintf("f%d", id) }

// inner returns the select list that gives columns their names.
func (s Scan) inner() string {
	parts := make([]string, 0, len(s.Columns)+1)
	for _, c := range s.Columns {
		parts = append(parts, columnSQL(c.Field)+" AS "+quoteName(c.As))
	}
	if len(s.Checks) > 0 {
		parts = append(parts, "file_index AS "+quoteName(fileIndexName))
	}
	return strings.Join(parts, ", ")
}

// columnSQL returns a column's value, kept from DuckDB's Parquet reader where filters in the reader go wrong. Bounds of
// floats leave NaN out by the Parquet format, and DuckDB, whose NaN is above all numbers, takes them as bounds of all
// values: "x > 5" and max(x) would miss NaN. Bloom filters of bytes it asks for the text of the value: "x = '\x80'" would
// find nothing, as would a join. Where a file holds a column in a narrower type than the table, it can't convert a join's
// filter and fails. No filter reaches the reader through a CASE of two columns.
func columnSQL(f catalog.Field) string {
	if f.Promoted || isMistrusted(f.Type) {
		return "CASE WHEN file_index >= 0 THEN " + sourceName(f.ID) + " END"
	}
	return sourceName(f.ID)
}

func isMistrusted(t catalog.Type) bool {
	switch t.Primitive.Kind {
	case transform.Float, transform.Double, transform.Binary, transform.Fixed:
		return true
	}
	return slices.ContainsFunc(t.Fields, func(f catalog.Field) bool { return isMistrusted(f.Type) })
}

// outer returns the select list that puts the checks in the columns' places.
func (s Scan) outer() (string, error) {
	if len(s.Columns) == 0 {
		return `"tarn row"`, nil
	}
	parts := make([]string, len(s.Columns))
	checked := 0
	for i, c := range s.Columns {
		name := quoteName(c.As)
		parts[i] = name
		for _, check := range s.Checks {
			if check.Field == c.Field.ID {
				parts[i] = fmt.Sprintf("%s(%d, %s, %s)", verifyName(c.Field.Type.Primitive), check.Check, parts[i], quoteName(fileIndexName))
				checked++
			}
		}
		if parts[i] != name {
			parts[i] += " AS " + name
		}
	}
	if checked < len(s.Checks) {
		return "", errs.New(errs.Internal, "scan", s.Files[0].Path, "a check is of a column that isn't read")
	}
	return strings.Join(parts, ", "), nil
}

// defaultSQL returns the value of f in files that were written before it was added. DuckDB casts the text to the
// column's type.
func defaultSQL(f catalog.Field) (string, error) {
	switch {
	case !f.HasDefault && f.InitialDefault == nil:
		return "NULL", nil
	case f.InitialDefault == nil || f.Type.Nested != catalog.NotNested:
		return "", errs.New(errs.Unsupported, "read column", f.Name, "a default of a nested type can't be read")
	}
	if b, ok := f.InitialDefault.([]byte); ok {
		return quoteText(blobText(b)), nil
	}
	return quoteText(transform.FormatValue(f.Type.Primitive, f.InitialDefault)), nil
}

// blobText returns bytes as DuckDB casts them from text.
func blobText(b []byte) string {
	var text strings.Builder
	for _, c := range b {
		fmt.Fprintf(&text, `\x%02X`, c)
	}
	return text.String()
}
