package duck

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// Spill is rows of a table, parted into bins: the first ones may be held in memory, all others lie on disk, one file for each bin.
// Several writers may add to it at once, each row to the bin that the caller says; then bins are read, by any instance and as often
// as wanted, and dropped.
//
// It is a format of our own: DuckDB's COPY with PARTITION_BY was measured with 3 M rows of two longs, on one thread: 0.4 to 0.6
// CPU s for 16 bins, 2.0 for 500, and of rows of 1 kB 64 bins didn't fit into 200 MiB. What is written are the bytes of DuckDB's
// vectors, so that each value of each type comes back as it was.
type Spill struct {
	prefix  string // of the files' paths
	columns []ScanColumn
	types   []bindings.LogicalType
	names   []string // of types
	lanes   []lane
	bins    []spillBin
	room    atomic.Int64 // bytes that may still be held in memory
}

// spillBin is one bin: its blocks in memory, and its file.
type spillBin struct {
	mu      sync.Mutex
	blocks  []spillBlock
	rows    int64
	bytes   int64 // of all that was written
	hasFile bool
	end     int64 // of the file
}

// spillBlock is a part of a bin that was made of up to a vector of rows.
type spillBlock struct {
	isHeld        bool // in memory; else it lies in the bin's file, at its offset
	held          []byte
	offset, bytes int64
	rows          int
}

// NewSpill makes a spill of rows of columns. Its files are called prefix and their bin's number. The caller closes it.
func (c *Conn) NewSpill(prefix string, columns []ScanColumn, bins int) (*Spill, error) {
	s := &Spill{prefix: prefix, columns: columns, bins: make([]spillBin, bins)}
	for _, column := range columns {
		name, err := fieldSQL(column.Field)
		if err == nil {
			err = s.addType(c, name)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Hold has the spill keep up to so many bytes in memory, those that come first: a bin of few rows then costs no file. It is called
// before rows are added.
func (s *Spill) Hold(bytes int64) { s.room.Store(bytes) }

func (s *Spill) addType(c *Conn, name string) error {
	t, err := c.logicalType(name)
	if err != nil {
		return err
	}
	s.types, s.names = append(s.types, t), append(s.names, typeName(t))
	l, err := laneOf(t)
	s.lanes = append(s.lanes, l)
	return errs.Wrap(errs.Internal, "spill rows", name, err)
}

// Close removes all that is left of the spill. Nobody reads it any more.
func (s *Spill) Close() error {
	var failed error
	for i := range s.bins {
		failed = errors.Join(failed, s.Drop(i))
	}
	for i := range s.types {
		bindings.DestroyLogicalType(&s.types[i])
	}
	s.types = nil
	return failed
}

// Rows returns how many rows a bin has.
func (s *Spill) Rows(bin int) int64 {
	b := &s.bins[bin]
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rows
}

// SpillPart is a part of a bin, in the order in which its rows came.
type SpillPart struct {
	from, to    int // blocks
	Rows, Bytes int64
}

// Whole returns all of a bin as one part.
func (s *Spill) Whole(bin int) SpillPart {
	b := &s.bins[bin]
	b.mu.Lock()
	defer b.mu.Unlock()
	p := SpillPart{to: len(b.blocks), Rows: b.rows}
	for _, block := range b.blocks {
		p.Bytes += block.bytes
	}
	return p
}

// Parts cuts a bin into parts of at most so many bytes, or of one block.
func (s *Spill) Parts(bin int, bytes int64) []SpillPart {
	b := &s.bins[bin]
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []SpillPart
	for i, block := range b.blocks {
		last := len(out) - 1
		if last < 0 || out[last].Bytes+block.bytes > bytes {
			out = append(out, SpillPart{from: i})
			last++
		}
		out[last].to = i + 1
		out[last].Rows += int64(block.rows)
		out[last].Bytes += block.bytes
	}
	return out
}

// Bytes returns how much was written, dropped bins included.
func (s *Spill) Bytes() (sum int64) {
	for i := range s.bins {
		b := &s.bins[i]
		b.mu.Lock()
		sum += b.bytes
		b.mu.Unlock()
	}
	return sum
}

// Drop removes a bin's rows. Nobody reads the bin any more.
func (s *Spill) Drop(bin int) error {
	b := &s.bins[bin]
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, block := range b.blocks {
		s.room.Add(int64(len(block.held)))
	}
	hasFile := b.hasFile
	b.blocks, b.rows, b.hasFile, b.end = nil, 0, false, 0
	if !hasFile {
		return nil
	}
	if err := os.Remove(s.path(bin)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errs.Wrap(errs.Resource, "remove spilled rows", s.path(bin), err)
	}
	return nil
}

func (s *Spill) path(bin int) string { return s.prefix + strconv.Itoa(bin) }

// write appends blocks, whose offsets count from the first of data, to a bin.
func (s *Spill) write(bin int, data []byte, blocks []spillBlock) error {
	b := &s.bins[bin]
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.holds(int64(len(data))) {
		data = slices.Clone(data)
		for i := range blocks {
			at := blocks[i].offset
			blocks[i].isHeld, blocks[i].held = true, data[at:at+blocks[i].bytes]
		}
	} else if err := s.append(bin, data, blocks); err != nil {
		return err
	}
	for _, block := range blocks {
		b.blocks = append(b.blocks, block)
		b.rows += int64(block.rows)
	}
	b.bytes += int64(len(data))
	return nil
}

// holds says whether so many bytes more may be held in memory, and counts them.
func (s *Spill) holds(bytes int64) bool {
	if s.room.Add(-bytes) >= 0 {
		return true
	}
	s.room.Add(bytes)
	return false
}

// append writes data to the end of a bin's file. The file is open for no longer than that: there may be more bins than a process may
// have files.
func (s *Spill) append(bin int, data []byte, blocks []spillBlock) error {
	b := &s.bins[bin]
	f, err := os.OpenFile(s.path(bin), os.O_WRONLY|os.O_CREATE, 0o600)
	at := b.end
	if err == nil {
		b.hasFile = true
		_, err = f.WriteAt(data, at)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return spillFault(s.path(bin), err)
	}
	for i := range blocks {
		blocks[i].offset += at
	}
	b.end = at + int64(len(data))
	return nil
}

// spillFault is the error of a spill that can't be written: whatever the system says, it is the place for temporary files
// that won't do.
func spillFault(path string, err error) error {
	e := &errs.Error{Kind: errs.Resource, Op: "spill rows", Object: path, Err: err}
	return e.WithHint("free disk space, or set the folder for temporary files to one that has room")
}

// blockBytes is how large blocks should be at most. A reader holds one or two.
const blockBytes = 1 << 20

// SpillWriter adds rows to a spill. It serves one goroutine, and holds chunks until they take so many bytes: few large
// writes instead of many small ones.
type SpillWriter struct {
	spill  *Spill
	limit  int64
	held   int64
	chunks []*Chunk
	views  []laneView
	bins   [][]int32 // per chunk, those of its rows
	counts []int     // per bin, its rows
	order  []place   // the rows by bin
	buf    []byte
	blocks []spillBlock
}

// Writer returns a writer that holds up to about holdBytes.
func (s *Spill) Writer(holdBytes int64) *SpillWriter {
	return &SpillWriter{spill: s, limit: holdBytes, views: make([]laneView, len(s.lanes)), counts: make([]int, len(s.bins))}
}

// Add adds the rows of a chunk, whose first columns are the spill's, each to its bin, and returns how many; those of bin -1 are left out. The chunk becomes the
// writer's, also when there is an error.
func (w *SpillWriter) Add(ch *Chunk, bins []int32) (kept int, err error) {
	if err := w.check(ch); err != nil {
		ch.Close()
		return 0, err
	}
	for _, bin := range bins {
		if bin >= 0 {
			w.counts[bin]++
			kept++
		}
	}
	if kept == 0 {
		ch.Close()
		return 0, nil
	}
	w.keep(ch, bins)
	for i := range w.views {
		w.views[i].add(&w.spill.lanes[i], bindings.DataChunkGetVector(ch.handle, bindings.IdxT(i)), ch.Rows())
	}
	// A chunk has room for a whole vector of rows, however few it has.
	w.held += ch.bytes() + int64((vectorRows-ch.Rows())*len(w.views)*valueBytes)
	if w.held < w.limit {
		return kept, nil
	}
	return kept, w.Flush()
}

// check compares the types of a chunk with those of the spill, as whose bytes its values are taken. Columns that follow the
// spill's are left out of it: they are what the rows were parted by.
func (w *SpillWriter) check(ch *Chunk) error {
	isSame := len(ch.result.columns) >= len(w.spill.names)
	for i := 0; isSame && i < len(w.spill.names); i++ {
		isSame = ch.result.columns[i].Type == w.spill.names[i]
	}
	if !isSame {
		return errs.New(errs.Internal, "spill rows", w.spill.prefix, "rows of types %v came, not %v", ch.result.columns, w.spill.names)
	}
	return nil
}

// keep keeps a chunk and a copy of the bins, in the place of one that was kept before.
func (w *SpillWriter) keep(ch *Chunk, bins []int32) {
	at := len(w.chunks)
	w.chunks = append(w.chunks, ch)
	if at == len(w.bins) {
		w.bins = append(w.bins, nil)
	}
	w.bins[at] = append(w.bins[at][:0], bins...)
}

// Flush writes the rows that are held.
func (w *SpillWriter) Flush() error {
	defer w.Close()
	rows := w.sort()
	if rows == 0 {
		return nil
	}
	perBlock := min(max(1, int(blockBytes*int64(rows)/w.held)), vectorRows)
	from := 0
	for bin, to := range w.counts { // sort left where each bin ends
		if err := w.flushBin(bin, w.order[from:to], perBlock); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// sort puts the rows that are held in the order of their bins, and returns how many they are. Counts are then where each
// bin ends.
func (w *SpillWriter) sort() (rows int) {
	for bin, n := range w.counts {
		w.counts[bin] = rows
		rows += n
	}
	w.order = slices.Grow(w.order[:0], rows)[:rows]
	for i := range w.chunks {
		for row, bin := range w.bins[i] {
			if bin >= 0 {
				w.order[w.counts[bin]] = place{int32(i), int32(row)}
				w.counts[bin]++
			}
		}
	}
	return rows
}

func (w *SpillWriter) flushBin(bin int, places []place, perBlock int) error {
	w.buf, w.blocks = w.buf[:0], w.blocks[:0]
	for len(places) > 0 {
		n := min(perBlock, len(places))
		if err := w.appendBlock(places[:n]); err != nil {
			return err
		}
		places = places[n:]
		if len(w.buf) < blockBytes && len(places) > 0 {
			continue
		}
		if err := w.spill.write(bin, w.buf, w.blocks); err != nil {
			return err
		}
		w.buf, w.blocks = w.buf[:0], w.blocks[:0]
	}
	return nil
}

// appendBlock appends a block: for each column how many bytes it takes, and those.
func (w *SpillWriter) appendBlock(places []place) error {
	start := len(w.buf)
	for i := range w.views {
		at := len(w.buf)
		w.buf = w.spill.lanes[i].encode(append(w.buf, 0, 0, 0, 0), &w.views[i], places)
		size := len(w.buf) - at - 4
		if size > math.MaxUint32 {
			return errs.New(errs.Resource, "spill rows", w.spill.columns[i].As, "%d rows have %d MiB in the column", len(places), size>>20)
		}
		binary.LittleEndian.PutUint32(w.buf[at:], uint32(size))
	}
	w.blocks = append(w.blocks, spillBlock{offset: int64(start), bytes: int64(len(w.buf) - start), rows: len(places)})
	return nil
}

// Close lets go of what is held and not written.
func (w *SpillWriter) Close() {
	for _, ch := range w.chunks {
		ch.Close()
	}
	clear(w.chunks)
	w.chunks, w.held = w.chunks[:0], 0
	for i := range w.views {
		w.views[i].clear()
	}
	clear(w.counts)
}
