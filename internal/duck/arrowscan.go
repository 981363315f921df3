package duck

/*
#include "spill.h"

extern void tarnDuckBindArrow(void *info);
extern void tarnDuckInitArrow(void *info);
extern void tarnDuckReadArrow(void *info, void *output);
extern void tarnDuckUnbindArrow(void *data);
extern void tarnDuckEndArrow(void *data);
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/arrowfile"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

// arrowName is the table function tarn_arrow(paths): the rows of Arrow files, one after the other, with the columns of the first.
// The others have them too, by their names, of the same types.
const arrowName = "tarn_arrow"

const readArrow = "read Arrow file"

// arrowSource is what a statement reads.
type arrowSource struct {
	paths   []string
	columns []arrowColumn // of the first file
	limit   int64         // of the memory of a batch
	rows    int64         // about how many
}

// arrowScan is one reading, by one thread or several.
type arrowScan struct {
	*arrowSource
	want   []int // per column of the output, which of the source's it is; -1: one of which only the number of rows counts
	spaces sync.Pool

	mu     sync.Mutex
	opened int             // how many of the files were opened
	file   *arrowfile.File // nil between two files
	fills  []arrowFill     // of the file, per column of the output
	rest   arrowRange      // what is left of the batch
}

// arrowFill is where a column of the output is in a file, and how it comes into a vector.
type arrowFill struct {
	column int // -1: nowhere
	name   string
	fill   fillFunc
}

// arrowRange is rows of a batch.
type arrowRange struct {
	path   string
	fills  []arrowFill
	batch  arrow.RecordBatch
	from   int   // of the batch's rows
	rows   int   // how many
	before int64 // rows of the file before those
	bytes  int64 // that the batch takes
}

// What DuckDB knows by number: it passes nothing but memory of C's on.
var (
	arrowSources sync.Map // int64 -> *arrowSource
	arrowScans   sync.Map // int64 -> *arrowScan
	lastArrow    atomic.Int64
)

// ArrowSource returns the SQL of a FROM clause that reads Arrow files: those of names, which are paths or patterns as DuckDB knows
// them. A name that none is there for is NotFound.
func (c *Conn) ArrowSource(ctx context.Context, names []string) (string, error) {
	var paths []string
	for _, name := range names {
		found, err := c.texts(ctx, "SELECT file FROM glob("+quote.Text(name)+") ORDER BY file")
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "", errs.New(errs.NotFound, readArrow, name, "there is no such file")
		}
		for _, path := range found {
			paths = append(paths, quote.Text(path))
		}
	}
	return arrowName + "([" + strings.Join(paths, ", ") + "])", nil
}

// arrowLimit returns how much memory a batch may take beside an instance with so much: batches are Go's, and DuckDB's limit doesn't
// count them. 0 is an instance without a limit of its own.
func arrowLimit(memory int64) int64 {
	const least, most = 32 << 20, 1 << 30
	if memory == 0 {
		return most
	}
	return max(memory/4, least)
}

// registerArrow makes the table function known to the instance of c.
func registerArrow(c *Conn) error {
	f := bindings.CreateTableFunction()
	defer bindings.DestroyTableFunction(&f)
	text := bindings.CreateLogicalType(bindings.TypeVarchar)
	defer bindings.DestroyLogicalType(&text)
	list := bindings.CreateListType(text)
	defer bindings.DestroyLogicalType(&list)
	bindings.TableFunctionSetName(f, arrowName)
	bindings.TableFunctionAddParameter(f, list)
	bindings.TableFunctionSupportsProjectionPushdown(f, true)
	bindings.TableFunctionSetExtraInfo(f, unsafe.Pointer(C.tarn_number(C.int64_t(arrowLimit(c.db.memory)))), unsafe.Pointer(C.tarn_free))
	bindings.TableFunctionSetBind(f, unsafe.Pointer(C.tarnDuckBindArrow))
	bindings.TableFunctionSetInit(f, unsafe.Pointer(C.tarnDuckInitArrow))
	bindings.TableFunctionSetFunction(f, unsafe.Pointer(C.tarnDuckReadArrow))
	if bindings.RegisterTableFunction(c.handle, f) == bindings.StateError {
		return errs.New(errs.Internal, "register function", arrowName, "refused")
	}
	return nil
}

// carrying runs do. Neither an error nor a panic may cross into C++.
func carrying(fail func(string), do func() error) {
	defer func() {
		if p := recover(); p != nil {
			fail(fmt.Sprintf("%sreading an Arrow file panicked: %v", bugMark, p))
		}
	}()
	if err := do(); err != nil {
		fail(carry(err))
	}
}

//export tarnDuckBindArrow
func tarnDuckBindArrow(info unsafe.Pointer) {
	bind := bindings.BindInfo{Ptr: info}
	carrying(func(msg string) { bindings.BindSetError(bind, msg) }, func() error {
		s := &arrowSource{paths: listParameter(bind), limit: *(*int64)(bindings.BindGetExtraInfo(bind))}
		if err := s.describe(bind); err != nil {
			return err
		}
		id := lastArrow.Add(1)
		arrowSources.Store(id, s)
		bindings.BindSetBindData(bind, unsafe.Pointer(C.tarn_number(C.int64_t(id))), unsafe.Pointer(C.tarnDuckUnbindArrow))
		return nil
	})
}

// listParameter returns the one argument, a list of texts.
func listParameter(bind bindings.BindInfo) []string {
	arg := bindings.BindGetParameter(bind, 0)
	defer bindings.DestroyValue(&arg)
	all := make([]string, bindings.GetListSize(arg))
	for i := range all {
		one := bindings.GetListChild(arg, bindings.IdxT(i))
		all[i] = bindings.GetVarchar(one)
		bindings.DestroyValue(&one)
	}
	return all
}

// describe tells DuckDB the columns of the first file.
func (s *arrowSource) describe(bind bindings.BindInfo) error {
	if len(s.paths) == 0 {
		return errs.New(errs.Invalid, readArrow, "", "the list of files is empty")
	}
	file, err := arrowfile.Open(s.paths[0], s.limit)
	if err != nil {
		return err
	}
	defer file.Close()
	columns, types, err := arrowColumns(file.Schema())
	defer destroyTypes(types)
	if err != nil {
		return errs.Wrap(errs.Unsupported, readArrow, s.paths[0], err)
	}
	for i, c := range columns {
		bindings.BindAddResultColumn(bind, c.name, types[i])
	}
	s.columns = columns
	// A guess, for the order of joins: numbers of 64 bits, and other files like the first.
	s.rows = file.SizeBytes() * int64(len(s.paths)) / int64(8*len(columns))
	bindings.BindSetCardinality(bind, bindings.IdxT(s.rows), false)
	return nil
}

//export tarnDuckUnbindArrow
func tarnDuckUnbindArrow(data unsafe.Pointer) {
	arrowSources.Delete(*(*int64)(data))
	C.tarn_free(data)
}

//export tarnDuckInitArrow
func tarnDuckInitArrow(info unsafe.Pointer) {
	init := bindings.InitInfo{Ptr: info}
	carrying(func(msg string) { bindings.InitSetError(init, msg) }, func() error {
		s, ok := arrowSources.Load(*(*int64)(bindings.InitGetBindData(init)))
		if !ok {
			return errs.New(errs.Internal, readArrow, "", "the files are no longer known")
		}
		scan := &arrowScan{arrowSource: s.(*arrowSource)}
		for i := range bindings.InitGetColumnCount(init) {
			at := int(bindings.InitGetColumnIndex(init, i))
			if at >= len(scan.columns) {
				at = -1
			}
			scan.want = append(scan.want, at)
		}
		id := lastArrow.Add(1)
		arrowScans.Store(id, scan)
		bindings.InitSetInitData(init, unsafe.Pointer(C.tarn_number(C.int64_t(id))), unsafe.Pointer(C.tarnDuckEndArrow))
		bindings.InitSetMaxThreads(init, bindings.IdxT(1+scan.rows/vectorRows))
		return nil
	})
}

//export tarnDuckEndArrow
func tarnDuckEndArrow(data unsafe.Pointer) {
	if scan, ok := arrowScans.LoadAndDelete(*(*int64)(data)); ok && scan.(*arrowScan).file != nil {
		_ = scan.(*arrowScan).file.Close()
	}
	C.tarn_free(data)
}

//export tarnDuckReadArrow
func tarnDuckReadArrow(info, output unsafe.Pointer) {
	function, chunk := bindings.FunctionInfo{Ptr: info}, bindings.DataChunk{Ptr: output}
	carrying(func(msg string) { bindings.FunctionSetError(function, msg) }, func() error {
		scan, ok := arrowScans.Load(*(*int64)(bindings.FunctionGetInitData(function)))
		if !ok {
			return errs.New(errs.Internal, readArrow, "", "the reading has ended")
		}
		rows, err := scan.(*arrowScan).fill(chunk)
		if err != nil {
			return err
		}
		bindings.DataChunkSetSize(chunk, bindings.IdxT(rows))
		return nil
	})
}

// fill puts the next rows into a chunk, and returns how many they are: none at the end.
func (s *arrowScan) fill(chunk bindings.DataChunk) (int, error) {
	r, err := s.claim()
	if err != nil || r.rows == 0 {
		return 0, err
	}
	space, _ := s.spaces.Get().(*fillSpace)
	if space == nil {
		space = &fillSpace{}
	}
	defer s.spaces.Put(space)
	rows := make([]int, r.rows)
	for i := range rows {
		rows[i] = r.from + i
	}
	for i := range r.fills {
		if r.fills[i].column < 0 {
			continue
		}
		if err := r.put(space, bindings.DataChunkGetVector(chunk, bindings.IdxT(i)), i, rows); err != nil {
			return 0, r.blame(space, chunk, i, err)
		}
	}
	return r.rows, nil
}

// put fills a vector with the i-th column. Offsets and the like that don't fit together make Arrow's accessors panic.
func (r *arrowRange) put(s *fillSpace, v bindings.Vector, i int, rows []int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errs.New(errs.Corrupt, "", "", "its parts don't fit together: %v", p)
		}
	}()
	// An element of a list takes a bit at least, where lists don't share them.
	s.elements = int(min(8*r.bytes, 1<<40)) + 1<<24
	return r.fills[i].fill.put(s, v, 0, r.batch.Column(r.fills[i].column), rows)
}

// blame returns err, which putting the i-th column into a vector gave, with the row that it is about. It is found by trying.
func (r *arrowRange) blame(s *fillSpace, chunk bindings.DataChunk, i int, err error) error {
	where := ""
	for row := range r.rows {
		if one := r.put(s, bindings.DataChunkGetVector(chunk, bindings.IdxT(i)), i, []int{r.from + row}); one != nil {
			where, err = fmt.Sprintf(", row %d", r.before+int64(row)+1), one
			break
		}
	}
	return errs.New(errs.KindOf(err), readArrow, r.path, "column %q%s: %v", r.fills[i].name, where, err).WithHint("%s", errs.HintOf(err))
}

// chunkBytes is about how many bytes of a batch become one chunk, so that long rows don't come by the thousand.
const chunkBytes = 4 << 20

// claim takes the next rows, which nobody else gets. None are the end.
func (s *arrowScan) claim() (arrowRange, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.rest.rows == 0 {
		if more, err := s.advance(); err != nil || !more {
			return arrowRange{}, err
		}
	}
	out := s.rest
	perRow := max(1, s.rest.bytes/s.rest.batch.NumRows())
	out.rows = int(min(int64(out.rows), vectorRows, max(1, chunkBytes/perRow)))
	s.rest.from += out.rows
	s.rest.rows -= out.rows
	s.rest.before += int64(out.rows)
	return out, nil
}

// advance reads the next batch, of the next file where this one has no more; false at the end of all.
func (s *arrowScan) advance() (more bool, err error) {
	if s.file == nil {
		if s.opened == len(s.paths) {
			return false, nil
		}
		path := s.paths[s.opened]
		s.opened++
		if s.file, err = arrowfile.Open(path, s.limit); err != nil {
			return false, err
		}
		if s.fills, err = s.fillsOf(s.file.Schema(), path); err != nil {
			return false, err
		}
		s.rest = arrowRange{path: path, fills: s.fills}
	}
	s.rest.batch = nil // before the next is read, so that its memory may be used
	batch, bytes, err := s.file.Next()
	if errors.Is(err, io.EOF) {
		err, s.file = s.file.Close(), nil
		return true, errs.Wrap(errs.Resource, readArrow, s.rest.path, err)
	}
	if err != nil {
		return false, err
	}
	s.rest.batch, s.rest.from, s.rest.rows, s.rest.bytes = batch, 0, int(batch.NumRows()), bytes
	return true, nil
}

// fillsOf finds the columns of the output in a file.
func (s *arrowScan) fillsOf(schema *arrow.Schema, path string) ([]arrowFill, error) {
	columns, types, err := arrowColumns(schema)
	destroyTypes(types)
	if err != nil {
		return nil, errs.Wrap(errs.Unsupported, readArrow, path, err)
	}
	byName := map[string]int{}
	for i, c := range columns {
		byName[strings.ToLower(c.name)] = i
	}
	// All of the first file's, so that what a list of files gives doesn't depend on the columns that are asked for.
	own := make([]arrowFill, len(s.columns))
	for i, c := range s.columns {
		at, ok := byName[strings.ToLower(c.name)]
		if !ok || columns[at].typ != c.typ {
			found := "isn't there"
			if ok {
				found = "is " + columns[at].typ
			}
			return nil, errs.New(errs.Invalid, readArrow, path, "column %q %s, and is %s in %s, which is read with it", c.name, found, c.typ, filepath.Base(s.paths[0])).
				WithHint("read files of other columns by themselves, and put them together with UNION ALL BY NAME")
		}
		own[i] = arrowFill{at, c.name, columns[at].fill}
	}
	out := make([]arrowFill, len(s.want))
	for i, w := range s.want {
		if out[i].column = -1; w >= 0 {
			out[i] = own[w]
		}
	}
	return out, nil
}
