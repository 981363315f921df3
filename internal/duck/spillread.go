package duck

/*
#include "spill.h"

extern void tarnDuckBindSpill(void *info);
extern void tarnDuckInitSpill(void *info);
extern void tarnDuckReadSpill(void *info, void *output);
extern void tarnDuckEndSpill(void *data);
*/
import "C"

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// spilledName is the table function tarn_spilled(bin): the rows of a bin that Read made known.
const spilledName = "tarn_spilled"

// spilled is a bin that statements may read, or a part of it.
type spilled struct {
	*Spill
	bin  int
	part SpillPart
}

// spillScan is one reading of a bin, by one thread or several.
type spillScan struct {
	*spilled
	columns []int // per column of the output, which of the spill's it is; -1: one of which only the number of rows counts
	file    *os.File
	blocks  []spillBlock
	mu      sync.Mutex
	next    int // of blocks
	buffers sync.Pool
}

// The bins and the readings that DuckDB knows by number: it passes nothing but memory of C's on.
var (
	spills    sync.Map // int64 -> *spilled
	scans     sync.Map // int64 -> *spillScan
	lastSpill atomic.Int64
)

// Read makes a bin known and returns the SELECT of its rows, for any instance, under the columns' names and in their order.
// Release forgets it, once no statement with that SELECT runs.
func (s *Spill) Read(bin int) (sql string, release func()) { return s.ReadPart(bin, s.Whole(bin)) }

// ReadPart is Read of a part of a bin. One thread gets its rows in their order.
func (s *Spill) ReadPart(bin int, part SpillPart) (sql string, release func()) {
	id := lastSpill.Add(1)
	spills.Store(id, &spilled{Spill: s, bin: bin, part: part})
	return fmt.Sprintf("SELECT * FROM %s(%d)", spilledName, id), func() { spills.Delete(id) }
}

// registerSpilled makes the table function known to the instance of c.
func registerSpilled(c *Conn) error {
	f := bindings.CreateTableFunction()
	defer bindings.DestroyTableFunction(&f)
	number := bindings.CreateLogicalType(bindings.TypeBigInt)
	defer bindings.DestroyLogicalType(&number)
	bindings.TableFunctionSetName(f, spilledName)
	bindings.TableFunctionAddParameter(f, number)
	bindings.TableFunctionSupportsProjectionPushdown(f, true)
	bindings.TableFunctionSetBind(f, unsafe.Pointer(C.tarnDuckBindSpill))
	bindings.TableFunctionSetInit(f, unsafe.Pointer(C.tarnDuckInitSpill))
	bindings.TableFunctionSetFunction(f, unsafe.Pointer(C.tarnDuckReadSpill))
	if bindings.RegisterTableFunction(c.handle, f) == bindings.StateError {
		return errs.New(errs.Internal, "register function", spilledName, "refused")
	}
	return nil
}

// guarded runs do. Neither an error nor a panic may cross into C++.
func guarded(fail func(string), do func() error) {
	defer func() {
		if p := recover(); p != nil {
			fail(fmt.Sprintf("%sreading spilled rows panicked: %v", bugMark, p))
		}
	}()
	if err := do(); err != nil {
		fail(err.Error())
	}
}

//export tarnDuckBindSpill
func tarnDuckBindSpill(info unsafe.Pointer) {
	bind := bindings.BindInfo{Ptr: info}
	guarded(func(msg string) { bindings.BindSetError(bind, msg) }, func() error {
		arg := bindings.BindGetParameter(bind, 0)
		defer bindings.DestroyValue(&arg)
		id := bindings.GetInt64(arg)
		s, ok := spills.Load(id)
		if !ok {
			return fmt.Errorf("%sspilled rows %d are not registered", bugMark, id)
		}
		s.(*spilled).describe(bind)
		bindings.BindSetBindData(bind, unsafe.Pointer(C.tarn_number(C.int64_t(id))), unsafe.Pointer(C.tarn_free))
		return nil
	})
}

func (s *spilled) describe(bind bindings.BindInfo) {
	for i, c := range s.columns {
		bindings.BindAddResultColumn(bind, c.As, s.types[i])
	}
	bindings.BindSetCardinality(bind, bindings.IdxT(s.part.Rows), true)
}

//export tarnDuckInitSpill
func tarnDuckInitSpill(info unsafe.Pointer) {
	init := bindings.InitInfo{Ptr: info}
	guarded(func(msg string) { bindings.InitSetError(init, msg) }, func() error {
		id := *(*int64)(bindings.InitGetBindData(init))
		s, ok := spills.Load(id)
		if !ok {
			return fmt.Errorf("%sspilled rows %d are no longer registered", bugMark, id)
		}
		scan, err := s.(*spilled).open()
		if err != nil {
			return err
		}
		for i := range bindings.InitGetColumnCount(init) {
			at := bindings.InitGetColumnIndex(init, i)
			if at >= bindings.IdxT(len(scan.lanes)) {
				scan.columns = append(scan.columns, -1)
			} else {
				scan.columns = append(scan.columns, int(at))
			}
		}
		reading := lastSpill.Add(1)
		scans.Store(reading, scan)
		bindings.InitSetInitData(init, unsafe.Pointer(C.tarn_number(C.int64_t(reading))), unsafe.Pointer(C.tarnDuckEndSpill))
		bindings.InitSetMaxThreads(init, bindings.IdxT(max(1, len(scan.blocks))))
		return nil
	})
}

func (s *spilled) open() (*spillScan, error) {
	b := &s.bins[s.bin]
	b.mu.Lock()
	defer b.mu.Unlock()
	scan := &spillScan{spilled: s, blocks: b.blocks[min(s.part.from, len(b.blocks)):min(s.part.to, len(b.blocks))]}
	if !slices.ContainsFunc(scan.blocks, func(b spillBlock) bool { return !b.isHeld }) {
		return scan, nil
	}
	var err error
	scan.file, err = os.Open(s.path(s.bin))
	return scan, err
}

//export tarnDuckEndSpill
func tarnDuckEndSpill(data unsafe.Pointer) {
	if scan, ok := scans.LoadAndDelete(*(*int64)(data)); ok && scan.(*spillScan).file != nil {
		_ = scan.(*spillScan).file.Close()
	}
	C.tarn_free(data)
}

//export tarnDuckReadSpill
func tarnDuckReadSpill(info, output unsafe.Pointer) {
	function, chunk := bindings.FunctionInfo{Ptr: info}, bindings.DataChunk{Ptr: output}
	guarded(func(msg string) { bindings.FunctionSetError(function, msg) }, func() error {
		scan, ok := scans.Load(*(*int64)(bindings.FunctionGetInitData(function)))
		if !ok {
			return fmt.Errorf("%sthe reading of spilled rows has ended", bugMark)
		}
		rows, err := scan.(*spillScan).fill(chunk)
		if err != nil {
			return err
		}
		bindings.DataChunkSetSize(chunk, bindings.IdxT(rows))
		return nil
	})
}

// fill puts the next blocks into a chunk, as many as it has room for, and returns how many rows that are.
func (s *spillScan) fill(chunk bindings.DataChunk) (rows int, err error) {
	blocks := s.claim()
	if len(blocks) == 0 {
		return 0, nil
	}
	if blocks[0].isHeld {
		for _, b := range blocks {
			if err := s.decode(&laneReader{b.held}, chunk, rows, b.rows); err != nil {
				return 0, err
			}
			rows += b.rows
		}
		return rows, nil
	}
	last := blocks[len(blocks)-1]
	size := int(last.offset + last.bytes - blocks[0].offset)
	buf, _ := s.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer s.buffers.Put(buf)
	*buf = slices.Grow((*buf)[:0], size)[:size]
	if _, err := s.file.ReadAt(*buf, blocks[0].offset); err != nil {
		return 0, fmt.Errorf("read spilled rows: %w", err)
	}
	r := laneReader{*buf}
	for _, b := range blocks {
		if err := s.decode(&r, chunk, rows, b.rows); err != nil {
			return 0, err
		}
		rows += b.rows
	}
	return rows, nil
}

// claim returns the blocks that the caller is to read; none at the end. They follow each other in the file, or all are held.
func (s *spillScan) claim() []spillBlock {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.next
	rows, bytes := 0, int64(0)
	for ; s.next < len(s.blocks); s.next++ {
		b := &s.blocks[s.next]
		rows, bytes = rows+b.rows, bytes+b.bytes
		isOther := b.isHeld != s.blocks[from].isHeld
		if s.next > from && (isOther || rows > vectorRows || bytes > blockBytes) {
			break
		}
	}
	return s.blocks[from:s.next]
}

// decode puts a block's columns that are asked for into a chunk.
func (s *spillScan) decode(r *laneReader, chunk bindings.DataChunk, row, rows int) error {
	lanes := make([]laneReader, len(s.lanes))
	for i := range lanes {
		n, err := r.number()
		if err != nil {
			return err
		}
		if lanes[i].rest, err = r.take(n); err != nil {
			return err
		}
	}
	for i, at := range s.columns {
		if at < 0 {
			continue
		}
		lane := lanes[at]
		if err := s.lanes[at].decode(&lane, bindings.DataChunkGetVector(chunk, bindings.IdxT(i)), row, rows); err != nil {
			return err
		}
	}
	return nil
}
