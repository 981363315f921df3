package output

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
)

// csvWriter writes RFC 4180 with line feeds. NULL is nothing and the empty string is "", as DuckDB's COPY has it. An empty
// line stands between two results.
type csvWriter struct {
	out     *textOut
	header  header
	results int
}

func (w *csvWriter) Begin(columns []Column) error {
	if w.results++; w.results > 1 {
		w.out.add("\n")
	}
	w.header = newHeader(columns)
	for j, c := range columns {
		if j > 0 {
			w.out.add(",")
		}
		w.out.buf = appendCSV(w.out.buf, []byte(c.Name))
	}
	w.out.add("\n")
	return w.out.flush()
}

func (w *csvWriter) Write(batch arrow.RecordBatch) error {
	var text []byte
	return w.out.rows(plain, w.header, batch, func(cells []cell, i int) {
		for j, c := range cells {
			if j > 0 {
				w.out.add(",")
			}
			if isNull(batch.Column(j), i) {
				continue
			}
			text = c(text[:0], i)
			w.out.buf = appendCSV(w.out.buf, text)
		}
		w.out.add("\n")
	})
}

func (w *csvWriter) End() error         { return w.out.flush() }
func (w *csvWriter) Done([]Count) error { return nil }
func (w *csvWriter) Close() error       { return w.out.flush() }

func isNull(arr arrow.Array, i int) bool { return arr.DataType().ID() == arrow.NULL || arr.IsNull(i) }

// appendCSV writes a field, in quotes where it needs them.
func appendCSV(dst, text []byte) []byte {
	if len(text) > 0 && !bytes.ContainsAny(text, ",\"\r\n") {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = append(dst, bytes.ReplaceAll(text, []byte(`"`), []byte(`""`))...)
	return append(dst, '"')
}
