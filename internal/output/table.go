package output

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

const (
	// sampleRows and sampleBytes bound the rows that are held back to size the columns by: enough to fill any screen.
	sampleRows  = 1000
	sampleBytes = 1 << 20
	// minWidth is what a column keeps when a table is squeezed onto a terminal; below it no value can be made out.
	minWidth = 6
)

// tableWriter writes each result as a table for people. The first rows size the columns; a wider value that comes later
// is cut on a terminal, and elsewhere moves its line to the right.
type tableWriter struct {
	out     *textOut
	opts    Options
	header  header
	widths  []int // nil while sampling
	sample  [][]string
	bytes   int
	rows    int64
	results int
}

func (w *tableWriter) Begin(columns []Column) error {
	if w.results++; w.results > 1 {
		w.out.add("\n")
	}
	w.header = newHeader(columns)
	w.widths, w.sample, w.bytes, w.rows = nil, nil, 0, 0
	return nil
}

func (w *tableWriter) Write(batch arrow.RecordBatch) error {
	var text []byte
	return w.out.rows(plain, w.header, batch, func(cells []cell, i int) {
		row := make([]string, len(cells))
		for j, c := range cells {
			text = c(text[:0], i)
			row[j] = w.clip(visible(string(text)))
			w.bytes += len(row[j])
		}
		w.rows++
		if w.widths != nil {
			w.line(row)
			return
		}
		w.sample = append(w.sample, row)
		if len(w.sample) >= sampleRows || w.bytes >= sampleBytes {
			w.head()
		}
	})
}

// clip shortens a value that couldn't be shown whole anyway, so that a sample of huge values stays small.
func (w *tableWriter) clip(text string) string {
	if w.opts.Width == 0 {
		return text
	}
	return fit(text, w.opts.Width)
}

func (w *tableWriter) End() error {
	if w.widths == nil {
		w.head()
	}
	w.out.add("(" + countRows(w.rows) + ")\n")
	return w.out.flush()
}

func (w *tableWriter) Done(counts []Count) error {
	for _, c := range counts {
		w.out.add(c.Name + ": " + groupDigits(c.Value) + "\n")
	}
	return w.out.flush()
}

func (w *tableWriter) Close() error { return w.out.flush() }

// head fixes the widths by the sample, then writes the heading and the sample.
func (w *tableWriter) head() {
	names := make([]string, len(w.header.columns))
	w.widths = make([]int, len(w.header.columns))
	for j, c := range w.header.columns {
		names[j] = w.clip(visible(c.Name))
		w.widths[j] = textWidth(names[j])
		for _, row := range w.sample {
			w.widths[j] = max(w.widths[j], textWidth(row[j]))
		}
	}
	if w.opts.Width > 0 {
		const perColumn = len(" x |") - len("x")
		squeeze(w.widths, w.opts.Width-perColumn*len(w.widths)+1)
	}
	if w.opts.Bold {
		w.out.add("\x1b[1m")
	}
	w.line(names)
	if w.opts.Bold {
		w.out.buf = append(w.out.buf[:len(w.out.buf)-1], "\x1b[0m\n"...)
	}
	for j, width := range w.widths {
		if j > 0 {
			w.out.add("┼")
		}
		w.out.add(strings.Repeat("─", width+2))
	}
	w.out.add("\n")
	for _, row := range w.sample {
		w.line(row)
	}
	w.sample = nil
}

func (w *tableWriter) line(row []string) {
	for j, text := range row {
		if j > 0 {
			w.out.add(" │")
		}
		if w.opts.Width > 0 {
			text = fit(text, w.widths[j])
		}
		padding := strings.Repeat(" ", max(0, w.widths[j]-textWidth(text)))
		switch {
		case w.header.types[j].isNumber():
			w.out.add(" " + padding + text)
		case j == len(row)-1:
			w.out.add(" " + text) // nothing follows: no blanks at the line's end
		default:
			w.out.add(" " + text + padding)
		}
	}
	w.out.add("\n")
}

// squeeze lowers the widest columns until all fit into room, or none is wider than minWidth.
func squeeze(widths []int, room int) {
	total, widest := 0, 0
	for _, w := range widths {
		total += w
		widest = max(widest, w)
	}
	for limit := widest - 1; total > room && limit >= minWidth; limit-- {
		for j, w := range widths {
			if total > room && w > limit {
				widths[j] = limit
				total--
			}
		}
	}
}

func countRows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return groupDigits(n) + " rows"
}

// groupDigits writes a number with a comma before each three digits.
func groupDigits(n int64) string {
	text := strconv.FormatInt(n, 10)
	first := len(text) % 3
	var b strings.Builder
	for i := range len(text) {
		if i > 0 && i%3 == first && text[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
