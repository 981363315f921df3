package duck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// part is those files of a scan that one read_parquet reads: they are of one shape, lack the same columns, and have
// equality deletes over the same columns. Most scans are of one part.
type part struct {
	*Scan
	places []int  // the part's files, by their places in Files
	reads  []read // the columns of read_parquet
}

// read is a column of read_parquet.
type read struct {
	field   catalog.Field // its ID, its name in a file that is read by name, and what it is read as
	initial string        // the value where the file hasn't got it, as SQL
}

// likeness is what the files of a part have in common.
type likeness struct {
	shape     *catalog.Schema
	byName    bool
	constants string
	equality  string
}

// parts splits the scan, by the order of the files.
func (s *Scan) parts() []*part {
	known := map[likeness]*part{}
	var out []*part
	for i := range s.Files {
		like := s.likeness(&s.Files[i])
		if known[like] == nil {
			known[like] = &part{Scan: s}
			out = append(out, known[like])
		}
		known[like].places = append(known[like].places, i)
	}
	return out
}

func (s *Scan) likeness(f *ScanFile) likeness {
	like := likeness{shape: f.Shape, byName: f.ByName}
	if s.Deletes != 0 && len(f.Equality) > 0 {
		like.equality = fmt.Sprint(equalityIDs(f.Equality))
	}
	if len(f.Constants) == 0 {
		return like
	}
	var ids []catalog.FieldID
	for id := range f.Constants {
		if !catalog.IsReserved(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	like.constants = fmt.Sprint(ids)
	return like
}

func equalityIDs(columns []catalog.EqualityColumn) [][]catalog.FieldID {
	out := make([][]catalog.FieldID, len(columns))
	for i, c := range columns {
		out[i] = append([]catalog.FieldID{c.Root.ID}, c.Path...)
	}
	return out
}

// first returns a file that shows what the part's files have in common.
func (p *part) first() *ScanFile { return &p.Files[p.places[0]] }

// place returns the SQL of a row's file, by its place in Files: file_index is the place in the part. It isn't a literal even for
// one file: DuckDB would then evaluate a condition on row positions alone inside the reader, where it is slower.
func (p *part) place() string {
	from := p.places[0]
	switch last := len(p.places) - 1; {
	case p.places[last]-from != last:
		return perFile(p.places, "UBIGINT", func(place int) string { return fmt.Sprint(place) })
	case from > 0:
		return fmt.Sprintf("CAST(file_index + %d AS UBIGINT)", from)
	}
	return "file_index"
}

// perFile returns the SQL of a value of that type which each file of a part has one of.
func perFile(places []int, typ string, literal func(place int) string) string {
	list := make([]string, len(places))
	same := true
	for i, place := range places {
		list[i] = literal(place)
		same = same && list[i] == list[0]
	}
	if same {
		return "CAST(" + list[0] + " AS " + typ + ")"
	}
	return fmt.Sprintf("(CAST([%s] AS %s[]))[CAST(file_index AS BIGINT) + 1]", strings.Join(list, ", "), typ)
}

// source returns the read_parquet call, whose columns have the names of sourceName.
func (p *part) source() (string, error) {
	files := make([]string, len(p.places))
	for i, place := range p.places {
		ref := p.Files[place].Ref
		if ref.Local == "" {
			return "", errs.New(errs.Internal, "scan", ref.Path, "the file doesn't lie on this machine")
		}
		files[i] = QuotePath(ref.Local)
	}
	reads := p.reads
	if len(reads) == 0 { // DuckDB needs one; none of the files has this, and none is read
		reads = []read{{catalog.Field{Name: rowName, Type: catalog.Type{Primitive: transform.Type{Kind: transform.Boolean}}}, "NULL"}}
	}
	fields := make([]string, len(reads))
	for i, r := range reads {
		t, err := fieldSQL(r.field)
		if err != nil {
			return "", err
		}
		key := fmt.Sprint(int(r.field.ID))
		if p.first().ByName {
			key = quote.Text(r.field.Name)
		}
		fields[i] = fmt.Sprintf("%s: {name: %s, type: %s, default_value: %s}",
			key, quote.Text(sourceName(r.field.ID)), quote.Text(t), r.initial)
	}
	hive := "false"
	if p.Late {
		hive = "$1"
	}
	return fmt.Sprintf("read_parquet([%s], schema = MAP {%s}, can_have_nan = true, hive_partitioning = %s%s)",
		strings.Join(files, ", "), strings.Join(fields, ", "), hive, p.cardinality()), nil
}

// cardinality tells read_parquet how many rows there are, if that is known: with a schema it opens no file to find out.
func (p *part) cardinality() string {
	var rows int64
	for _, place := range p.places {
		if p.Files[place].Rows <= 0 {
			return ""
		}
		rows += p.Files[place].Rows
	}
	return fmt.Sprintf(", explicit_cardinality = %d", rows)
}

// sourceName is a column's name inside read_parquet: no virtual column has it.
func sourceName(id catalog.FieldID) string { return fmt.Sprintf("f%d", id) }

// read adds a column to read_parquet, which calls it sourceName, unless it is there already.
func (p *part) read(f catalog.Field, initial string) {
	if !slices.ContainsFunc(p.reads, func(r read) bool { return r.field.ID == f.ID }) {
		p.reads = append(p.reads, read{f, initial})
	}
}
