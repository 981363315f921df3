package output

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// markdownWriter writes each result as a table in GitHub's Markdown.
type markdownWriter struct {
	out     *textOut
	header  header
	results int
}

// markdownText keeps a value within its cell and from being taken for HTML.
var markdownText = strings.NewReplacer("|", `\|`, "\r\n", "<br>", "\n", "<br>", "\r", "<br>", "&", "&amp;", "<", "&lt;")

func (w *markdownWriter) Begin(columns []Column) error {
	if w.results++; w.results > 1 {
		w.out.add("\n")
	}
	w.header = newHeader(columns)
	for _, c := range columns {
		w.out.add("| " + markdownText.Replace(c.Name) + " ")
	}
	w.out.add("|\n")
	for _, t := range w.header.types {
		if t.isNumber() {
			w.out.add("| ---: ")
		} else {
			w.out.add("| --- ")
		}
	}
	w.out.add("|\n")
	return w.out.flush()
}

func (w *markdownWriter) Write(batch arrow.RecordBatch) error {
	var text []byte
	return w.out.rows(plain, w.header, batch, func(cells []cell, i int) {
		for _, c := range cells {
			text = c(text[:0], i)
			w.out.add("| " + markdownText.Replace(string(text)) + " ")
		}
		w.out.add("|\n")
	})
}

func (w *markdownWriter) End() error         { return w.out.flush() }
func (w *markdownWriter) Done([]Count) error { return nil }
func (w *markdownWriter) Close() error       { return w.out.flush() }
