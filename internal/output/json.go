package output

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
)

// jsonWriter writes each result as one document on a line of its own:
// {"columns": [{"name": "a", "type": "INTEGER"}], "rows": [[1], [2]]}.
type jsonWriter struct {
	out    *textOut
	header header
	rows   int64
}

func (w *jsonWriter) Begin(columns []Column) error {
	w.header, w.rows = newHeader(columns), 0
	w.out.add(`{"columns": [`)
	for j, c := range columns {
		if j > 0 {
			w.out.add(", ")
		}
		w.out.add(`{"name": `)
		w.out.buf = appendJSONString(w.out.buf, c.Name)
		w.out.add(`, "type": `)
		w.out.buf = appendJSONString(w.out.buf, c.Type)
		w.out.add("}")
	}
	w.out.add(`], "rows": [`)
	return nil
}

func (w *jsonWriter) Write(batch arrow.RecordBatch) error {
	return w.out.rows(asJSON, w.header, batch, func(cells []cell, i int) {
		if w.rows++; w.rows > 1 {
			w.out.add(", ")
		}
		w.out.add("[")
		for j, c := range cells {
			if j > 0 {
				w.out.add(", ")
			}
			w.out.buf = c(w.out.buf, i)
		}
		w.out.add("]")
	})
}

func (w *jsonWriter) End() error {
	w.out.add("]}\n")
	return w.out.flush()
}

func (w *jsonWriter) Done(counts []Count) error {
	w.out.add(`{"columns": [], "rows": [], "counts": {`)
	for j, c := range counts {
		if j > 0 {
			w.out.add(", ")
		}
		w.out.buf = appendJSONString(w.out.buf, c.Name)
		w.out.add(": ")
		w.out.buf = strconv.AppendInt(w.out.buf, c.Value, 10)
	}
	w.out.add("}}\n")
	return w.out.flush()
}

func (w *jsonWriter) Close() error { return w.out.flush() }

// jsonLinesWriter writes each row as an object on a line of its own. A column name that stands twice gets a number, for
// an object has no key twice.
type jsonLinesWriter struct {
	out    *textOut
	header header
	heads  []string // `"name": `
}

func (w *jsonLinesWriter) Begin(columns []Column) error {
	w.header = newHeader(columns)
	w.heads = nil
	for _, name := range uniqueNames(columns) {
		w.heads = append(w.heads, string(appendJSONString(nil, name))+": ")
	}
	return nil
}

// uniqueNames gives the second column called a the name a_1, and so on.
func uniqueNames(columns []Column) []string {
	taken := make(map[string]bool)
	for _, c := range columns {
		taken[c.Name] = true
	}
	names := make([]string, len(columns))
	seen := make(map[string]bool)
	for i, c := range columns {
		names[i] = c.Name
		for n := 1; seen[names[i]] || n > 1 && taken[names[i]]; n++ {
			names[i] = c.Name + "_" + strconv.Itoa(n)
		}
		seen[names[i]] = true
	}
	return names
}

func (w *jsonLinesWriter) Write(batch arrow.RecordBatch) error {
	return w.out.rows(asJSON, w.header, batch, func(cells []cell, i int) {
		w.out.add("{")
		for j, c := range cells {
			if j > 0 {
				w.out.add(", ")
			}
			w.out.add(w.heads[j])
			w.out.buf = c(w.out.buf, i)
		}
		w.out.add("}\n")
	})
}

func (w *jsonLinesWriter) End() error         { return w.out.flush() }
func (w *jsonLinesWriter) Done([]Count) error { return nil }
func (w *jsonLinesWriter) Close() error       { return w.out.flush() }
