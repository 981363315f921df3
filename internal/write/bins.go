package write

import (
	"cmp"
	"slices"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/transform"
)

// value is a partition value.
type value = transform.Value

const (
	// ownBins is how many tuples have a bin, and so a file, of their own. Each costs an open and a write whenever a writer
	// writes what it holds.
	ownBins = 512
	// sharedBins is how many bins the tuples beyond those share. Their rows are read and parted once more.
	sharedBins = 64
)

// bins are the rows that were added, by their tuples.
type bins struct {
	depth  int
	tuples *duck.Tuples
	spill  *duck.Spill
}

// newBins makes bins without rows. Tuples that share a bin at one depth are told apart at the next.
func (j *Job) newBins(w *worker, depth int) (*bins, error) {
	own, shared := ownBins, sharedBins
	if len(j.target.types) == 0 {
		own, shared = 1, 0
	}
	prefix, err := j.spillPrefix()
	if err != nil {
		return nil, err
	}
	b := &bins{depth: depth, tuples: duck.NewTuples(j.target.types, own, shared, byte(depth))}
	if b.spill, err = w.conn.NewSpill(prefix, j.target.columns, b.tuples.Bins()); err == nil && depth == 0 {
		b.spill.Hold(j.heldRowBytes())
	}
	return b, err
}

// heldRowBytes is how many bytes of rows stay in memory until they are written to files: an eighth of what Go's heap may take where
// there is a limit, beside the edits, which may take three fourths.
func (j *Job) heldRowBytes() int64 {
	const most, share = 16 << 20, 8
	if j.opts.MemoryBytes > 0 {
		return min(most, exec.GoHeapBytes(j.opts.MemoryBytes)/share)
	}
	return most
}

func (b *bins) close() error {
	if b.spill == nil {
		return nil
	}
	err := b.spill.Close()
	b.spill = nil
	return err
}

// Writer adds rows to a job's bins. It serves one goroutine.
type Writer struct {
	target *Target
	bins   *bins
	router *duck.TupleRouter
	spill  *duck.SpillWriter
	used   []bool // bins
}

// HeldBytes is how many bytes a Writer holds besides what DuckDB counts, as exec.Sink has it: rows that it was given, and
// those of a bin as they are written.
func (j *Job) HeldBytes() int64 { return 2 * j.holdBytes() }

func (b *bins) writer(t *Target, holdBytes int64) *Writer {
	return &Writer{target: t, bins: b, router: b.tuples.Router(len(t.columns)), spill: b.spill.Writer(holdBytes), used: make([]bool, b.tuples.Bins())}
}

// Add adds the rows of a chunk of RowsSQL. The chunk becomes the writer's, also when there is an error.
func (w *Writer) Add(ch *duck.Chunk) error { return w.AddSome(ch, nil) }

// AddSome adds those rows of a chunk of RowsSQL or ChangesSQL that keep says; nil is all.
func (w *Writer) AddSome(ch *duck.Chunk, keep []bool) error {
	to, err := w.router.Route(ch, keep)
	if err != nil {
		ch.Close()
		return err
	}
	for _, bin := range to {
		if bin >= 0 {
			w.used[bin] = true
		}
	}
	_, err = w.spill.Add(ch, to)
	return err
}

// Partitions returns the keys of the partitions of all rows that were added; false says that they are too many to be told.
func (w *Writer) Partitions() (keys []string, ok bool) {
	own := w.bins.tuples.Own()
	for bin, used := range w.used {
		switch {
		case used && bin >= len(own):
			return nil, false
		case used:
			keys = append(keys, w.target.key(own[bin]))
		}
	}
	return keys, true
}

// Flush writes the rows that are held. It must be called before what made the chunks is closed.
func (w *Writer) Flush() error { return w.spill.Flush() }

// Close lets go of what is held.
func (w *Writer) Close() { w.spill.Close() }

// item is what one worker writes at a time: a bin, files that are rewritten, or both.
type item struct {
	bins   *bins // nil: no bin
	bin    int
	shared bool    // its rows are of several tuples
	tuple  []value // of the spec, of one that isn't shared
	part   duck.SpillPart
	kept   *keptFiles // nil: none
}

// bytes are about how many the item reads.
func (it *item) bytes() int64 {
	sum := it.part.Bytes
	if it.kept != nil {
		sum += it.kept.bytes()
	}
	return sum
}

func byFallingBytes(a, b item) int { return cmp.Compare(b.bytes(), a.bytes()) }

// items returns the bins that have rows, the largest first.
func (b *bins) items(t *Target) []item {
	var out []item
	own := b.tuples.Own()
	for bin := range b.tuples.Bins() {
		it := item{bins: b, bin: bin, part: b.spill.Whole(bin), shared: bin >= len(own)}
		if it.part.Rows == 0 {
			continue
		}
		if !it.shared {
			it.tuple = t.tuple(own[bin])
		}
		out = append(out, it)
	}
	slices.SortStableFunc(out, byFallingBytes)
	return out
}
