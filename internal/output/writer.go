package output

import (
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tarndb/tarn/internal/errs"
)

// Column is a result column: its name and its type as DuckDB names it.
type Column struct {
	Name string
	Type string
}

// Count is one number that a statement without rows reports, such as rows inserted.
type Count struct {
	Name  string
	Value int64
}

// Writer writes the results of statements, one after another. For a statement with rows: Begin, any number of Write,
// End. For one without: Done, which writes nothing in formats that HasCounts isn't true of. Close ends the output; it must be called, and doesn't close the writer beneath. A Writer
// keeps no batch beyond the call. It is for one goroutine.
type Writer interface {
	Begin(columns []Column) error
	Write(batch arrow.RecordBatch) error
	End() error
	Done(counts []Count) error
	Close() error
}

// Options are what a format may want to know of where it writes.
type Options struct {
	Width int  // of the terminal in columns; 0 for no limit: then tables cut nothing
	Bold  bool // the terminal shows bold text
}

// The formats.
const (
	Table    = "table"
	CSV      = "csv"
	JSON     = "json"
	JSONL    = "jsonl"
	Markdown = "markdown"
	Parquet  = "parquet"
	Arrow    = "arrow"
)

// Formats lists the formats' names.
var Formats = []string{Table, CSV, JSON, JSONL, Markdown, Parquet, Arrow}

// IsBinary says whether a format is for files and not for terminals or pipes.
func IsBinary(format string) bool { return format == Parquet || format == Arrow }

// HasCounts says whether a format tells the counts of a statement without rows. The others are for rows alone, so that what reads
// them meets nothing else.
func HasCounts(format string) bool { return format == Table || format == JSON }

// New returns a writer of the format onto w.
func New(format string, w io.Writer, opts Options) (Writer, error) {
	text := &textOut{w: w}
	switch format {
	case Table:
		return &tableWriter{out: text, opts: opts}, nil
	case CSV:
		return &csvWriter{out: text}, nil
	case JSON:
		return &jsonWriter{out: text}, nil
	case JSONL:
		return &jsonLinesWriter{out: text}, nil
	case Markdown:
		return &markdownWriter{out: text}, nil
	case Parquet, Arrow:
		return &columnarWriter{format: format, w: w}, nil
	}
	err := errs.New(errs.Syntax, "choose format", format, "there is no such format: want one of %s", strings.Join(Formats, ", "))
	if near := errs.Nearest(format, Formats); near != "" {
		return nil, err.WithHint("did you mean %s?", near)
	}
	return nil, err
}

// flushBytes is how much text is gathered before it is written: larger gains nothing, smaller costs system calls.
const flushBytes = 64 << 10

// textOut gathers text. A failed write ends the output for good.
type textOut struct {
	w   io.Writer
	buf []byte
	err error
}

func (o *textOut) add(text string) { o.buf = append(o.buf, text...) }

func (o *textOut) flush() error {
	if o.err == nil && len(o.buf) > 0 {
		_, err := o.w.Write(o.buf)
		o.err = errs.Wrap(errs.Resource, "write", "the output", err)
	}
	o.buf = o.buf[:0]
	return o.err
}

// rows calls row for each row of a batch, with a cell for each column, and flushes as the text grows.
func (o *textOut) rows(s style, h header, batch arrow.RecordBatch, row func(cells []cell, i int)) error {
	cells := make([]cell, len(h.columns))
	for j := range cells {
		var err error
		if cells[j], err = s.bind(h.types[j], batch.Column(j)); err != nil {
			return errs.Wrap(errs.Unsupported, "write column", h.columns[j].Name, err)
		}
	}
	for i := range int(batch.NumRows()) {
		row(cells, i)
		if len(o.buf) >= flushBytes {
			if err := o.flush(); err != nil {
				return err
			}
		}
	}
	return o.flush()
}

// header is a result's columns with their parsed types. The names in a batch's own schema are not to be relied on.
type header struct {
	columns []Column
	types   []duckType
}

func newHeader(columns []Column) header {
	h := header{columns: columns, types: make([]duckType, len(columns))}
	for i, c := range columns {
		h.types[i] = parseDuckType(c.Type)
	}
	return h
}
