package duck

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// ScanColumn is a column of a scan.
type ScanColumn struct {
	Field catalog.Field // a top-level column of the table, read by its ID, or one of catalog's metadata columns
	As    string        // its name in the result
}

// ScanCheck says that a column's rows are checked as RegisterKeyCheck said.
type ScanCheck struct {
	Field catalog.FieldID
	Check int64
}

// ScanFile is a data file and what reading it takes besides its bytes.
type ScanFile struct {
	Ref    catalog.FileRef
	Shape  *catalog.Schema // as in catalog.DataFile; files of one shape are read together
	ByName bool            // as in catalog.DataFile
	// Constants are the values of columns that the file lacks and its partition tuple gives, nil for NULL, and those of the
	// metadata columns of changes. They win over what the file has and over initial defaults.
	Constants  map[catalog.FieldID]transform.Value
	Spec       catalog.SpecID
	Partition  []transform.Value // the values of the fields of _partition's type, by their places; nil is NULL
	Sequence   int64             // data sequence number
	FirstRowID *int64
	Number     int64 // what =place tells the file by
	Rows       int64 // for DuckDB's order of joins; 0: unknown, it then guesses wildly
	// Equality has the columns that the equality deletes of the file compare. They are read besides Columns.
	Equality []catalog.EqualityColumn
}

// Scan is a read of Parquet files. A file without a Shape must have field IDs, and nested columns must lie in it as their
// types in Columns and Equality say: DuckDB reads all else as NULL, silently.
type Scan struct {
	Columns []ScanColumn
	Files   []ScanFile  // which must lie on this machine
	Checks  []ScanCheck // of columns that are read
	Deletes int64       // of RegisterDeletes, whose files are Files; 0: no row is deleted
	// From and To, if To isn't 0, leave in only rows at positions from From and before To of each file: row groups outside
	// aren't read.
	From, To int64
	// Filter is an SQL condition on the result's names; "" is none. It stands below the checks: a row that it drops isn't
	// checked, and row groups that it rules out aren't read. Deleted rows are neither filtered nor checked.
	Filter string
	// Sieve is likewise a condition, but stands above the checks: a row is checked before it may be dropped. DuckDB leaves it there, since
	// the functions that check are volatile.
	Sieve string
	// Late has DuckDB plan the statement only once: it needs LateArgs.
	Late bool
}

// LateArgs are the arguments of a statement with scans that are Late and have files, however many those are. DuckDB plans a
// statement over files when it is prepared, and again when it is run. With an argument of read_parquet it can't before it
// runs.
var LateArgs = []any{false}

// Names inside a scan, which no column has: they carry DuckDB's virtual columns past columns of those very names.
const (
	placeName = "tarn file index"
	posName   = "tarn row position"
	rowName   = "tarn row"
)

func keyName(i int) string { return fmt.Sprintf("tarn key %d", i) }

// ScanSQL returns a SELECT of the scan's columns in their order. A scan of no columns gives its rows without any value of
// theirs, for counting.
func ScanSQL(s Scan) (string, error) {
	if len(s.Files) == 0 {
		return emptySQL(s.Columns)
	}
	var texts []string
	for _, p := range s.parts() {
		text, err := p.sql()
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " UNION ALL "), nil
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
		parts[i] = fmt.Sprintf("unnest(CAST([] AS %s[])) AS %s", t, quote.Name(c.As))
	}
	if len(parts) == 0 {
		parts = []string{"unnest(CAST([] AS BOOLEAN[])) AS " + quote.Name(rowName)}
	}
	return "SELECT " + strings.Join(parts, ", "), nil
}

// sql returns the SELECT of the part's rows. From the files up: rows that aren't deleted, of those the rows that pass the
// filter, of those the checked values, of those the rows that pass the sieve.
func (p *part) sql() (string, error) {
	text, err := p.checked()
	if err == nil && p.Sieve != "" {
		text = "SELECT * FROM (" + text + ") WHERE " + p.Sieve
	}
	return text, err
}

// checked returns the SELECT without the sieve.
func (p *part) checked() (string, error) {
	inner, err := p.inner()
	if err != nil {
		return "", err
	}
	source, err := p.source()
	if err != nil {
		return "", err
	}
	text := "SELECT " + inner + " FROM " + source + p.rangeSQL()
	if p.Deletes != 0 {
		text = "SELECT * FROM (" + text + ") WHERE " + p.keptSQL()
	}
	if len(p.Checks) == 0 && p.Filter == "" && p.Deletes == 0 {
		return text, nil
	}
	outer, err := p.outer()
	if err != nil {
		return "", err
	}
	text = "SELECT " + outer + " FROM (" + text + ")"
	if p.Filter != "" {
		text += " WHERE " + p.Filter
	}
	return text, nil
}

// rangeSQL returns the condition on the positions of rows.
func (p *part) rangeSQL() string {
	if p.To == 0 {
		return ""
	}
	return fmt.Sprintf(" WHERE file_row_number >= %d AND file_row_number < %d", p.From, p.To)
}

// inner returns the select list that gives columns their names.
func (p *part) inner() (string, error) {
	var list []string
	add := func(expr string, err error, name string) error {
		list = append(list, expr+" AS "+quote.Name(name))
		return err
	}
	for _, c := range p.Columns {
		expr, err := p.column(c.Field)
		if err := add(expr, err, c.As); err != nil {
			return "", err
		}
	}
	if len(list) == 0 {
		list = append(list, "true AS "+quote.Name(rowName))
	}
	if len(p.Checks) > 0 || p.Deletes != 0 {
		list = append(list, p.place()+" AS "+quote.Name(placeName))
	}
	if p.Deletes == 0 {
		return strings.Join(list, ", "), nil
	}
	list = append(list, "file_row_number AS "+quote.Name(posName))
	for i, e := range p.first().Equality {
		expr, err := p.equality(e)
		if err := add(expr, err, keyName(i)); err != nil {
			return "", err
		}
	}
	return strings.Join(list, ", "), nil
}

// keptSQL returns the condition on rows that aren't deleted.
func (p *part) keptSQL() string {
	if p.keptInC() {
		return fmt.Sprintf("%s(%d, %s, %s)", keptAtName, p.Deletes, quote.Name(placeName), quote.Name(posName))
	}
	var keys strings.Builder
	for i := range p.first().Equality {
		keys.WriteString(", " + quote.Name(keyName(i)))
	}
	return fmt.Sprintf("%s(%d, %s, %s%s)", keptName, p.Deletes, quote.Name(placeName), quote.Name(posName), keys.String())
}

// outer returns the select list that puts the checks in the columns' places.
func (p *part) outer() (string, error) {
	if len(p.Columns) == 0 {
		return quote.Name(rowName), nil
	}
	parts := make([]string, len(p.Columns))
	checked := 0
	for i, c := range p.Columns {
		name := quote.Name(c.As)
		parts[i] = name
		for _, check := range p.Checks {
			if check.Field == c.Field.ID {
				parts[i] = fmt.Sprintf("%s(%d, %s, %s)", verifyName(c.Field.Type.Primitive), check.Check, parts[i], quote.Name(placeName))
				checked++
			}
		}
		if parts[i] != name {
			parts[i] += " AS " + name
		}
	}
	if checked < len(p.Checks) {
		return "", errs.New(errs.Internal, "scan", p.Files[0].Ref.Path, "a check is of a column that isn't read")
	}
	return strings.Join(parts, ", "), nil
}
