package write

import (
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/exec"
)

// output is what one file is written of: spans of kept files, then parts of the bin.
type output struct {
	spans []span
	parts []duck.SpillPart
}

// newRows returns how many rows come from the bin.
func (o *output) newRows() (sum int64) {
	for _, p := range o.parts {
		sum += p.Rows
	}
	return sum
}

// span is files of a unit, from the first to the last, whole; or rows of one, from begin on and before end.
type span struct {
	first, last int
	begin, end  int64
}

// fullerBy is by how much of its size a file may be larger than the target: a partition of one file of the target size gets one
// file again when it grows by the rows of a statement, and not one and a rest.
const fullerBy = 0.1

// plan says what each file of an item is written of. Files are cut where the target size wants it, all to about the same size.
func (w *worker) plan(it *item, open *exec.OpenFiles) []output {
	target := w.job.target.props.targetBytes
	var oldBytes, oldRows float64 // of what is left
	for i, f := range it.kept.files {
		left, _ := open.Left(i, 0, f.Rows)
		oldRows += float64(left)
		oldBytes += float64(f.Ref.Bytes) * float64(left) / float64(max(f.Rows, 1))
	}
	newBytes := float64(it.part.Bytes)
	if oldRows > 0 { // they take as much as the old ones do, more or less
		newBytes = float64(it.part.Rows) * oldBytes / oldRows
	}
	count := 1 + int((oldBytes+newBytes)/(float64(target)*(1+fullerBy)))
	if count == 1 {
		o := output{spans: []span{{0, len(it.kept.files) - 1, 0, it.kept.files[len(it.kept.files)-1].Rows}}}
		if it.bins != nil {
			o.parts = []duck.SpillPart{it.part}
		}
		return []output{o}
	}
	p := &planning{outputs: make([]output, 1, count), most: count, share: (oldBytes + newBytes) / float64(count)}
	for i, f := range it.kept.files {
		left, _ := open.Left(i, 0, f.Rows)
		p.file(i, f.Rows, float64(f.Ref.Bytes)*float64(left)/float64(max(f.Rows, 1)))
	}
	if it.bins == nil {
		return p.outputs
	}
	const pieces = 4 // of a file, so that files of new rows come out about the same
	perByte := newBytes / float64(max(it.part.Bytes, 1))
	for _, part := range it.bins.spill.Parts(it.bin, max(1, int64(p.share/pieces/perByte))) {
		o := p.next()
		o.parts = append(o.parts, part)
		p.filled += float64(part.Bytes) * perByte
	}
	return p.outputs
}

// planning fills one output after the other.
type planning struct {
	outputs []output
	most    int     // outputs
	share   float64 // bytes of each
	filled  float64 // of the last output
}

// next returns the output that is to be filled.
func (p *planning) next() *output {
	if p.filled >= p.share && len(p.outputs) < p.most {
		p.outputs, p.filled = append(p.outputs, output{}), 0
	}
	return &p.outputs[len(p.outputs)-1]
}

// file adds a file of so many rows, of which so many bytes are left.
func (p *planning) file(at int, rows int64, bytes float64) {
	perRow := bytes / float64(max(rows, 1))
	for begin := int64(0); begin < rows; {
		o := p.next()
		end := rows
		if room := p.share - p.filled; len(p.outputs) < p.most && room < float64(rows-begin)*perRow {
			end = min(rows, begin+1+int64(room/perRow))
		}
		o.spans = append(o.spans, span{at, at, begin, end})
		p.filled += float64(end-begin) * perRow
		begin = end
	}
}
