package survey

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// deleteIndex finds the delete files that apply to a data file, by the spec's rules of scope and sequence number ("Scan
// Planning"). A survey first marks what it finds for each file, from many goroutines; seal then numbers what is marked,
// and from then on the index doesn't change.
type deleteIndex struct {
	live    int // live delete files of the snapshot, those that aren't here included
	files   []liveDelete
	vectors map[string]int          // by the data file
	targets map[string][]int        // position deletes of one data file
	scopes  map[string]*deleteScope // by spec and partition
	global  deleteScope             // equality deletes only
	marked  []atomic.Bool           // of vectors and of files with a target
	cut     []atomic.Bool           // of files whose guessed target is only the beginning of one
	numbers []int                   // of each file its place in the layout's list, once sealed
}

// deleteScope holds the delete files of one partition.
type deleteScope struct {
	positions  byRising
	equalities byRising
	guessed    map[string][]int // position deletes, by their guessed targets
	lengths    []int            // of the guessed targets
}

// guess adds a file whose target is guessed.
func (s *deleteScope) guess(target string, i int) {
	if s.guessed == nil {
		s.guessed = map[string][]int{}
	}
	s.guessed[target] = append(s.guessed[target], i)
	if !slices.Contains(s.lengths, len(target)) {
		s.lengths = append(s.lengths, len(target))
	}
}

// begins returns the files whose guessed target is the beginning of a path.
func (s *deleteScope) begins(path string) (found []int) {
	for _, n := range s.lengths {
		if n < len(path) {
			found = append(found, s.guessed[path[:n]]...)
		}
	}
	return found
}

// byRising are delete files by rising sequence numbers. The ones that apply to a data file are the last of them.
type byRising struct {
	files  []int
	needed atomic.Int64 // minus how many of the last some data file needs
}

func newDeleteIndex(files []liveDelete) (*deleteIndex, error) {
	x := &deleteIndex{
		files: files, vectors: map[string]int{}, targets: map[string][]int{}, scopes: map[string]*deleteScope{},
		marked: make([]atomic.Bool, len(files)), cut: make([]atomic.Bool, len(files)),
	}
	for i, f := range files {
		switch {
		case f.Kind == catalog.DeletionVector:
			if other, ok := x.vectors[f.Target]; ok {
				return x, twoVectors(&files[other], &f)
			}
			x.vectors[f.Target] = i
		case f.Target != "":
			x.targets[f.Target] = append(x.targets[f.Target], i)
			if f.guessed {
				x.scope(&f).guess(f.Target, i)
			}
		case f.Kind == catalog.EqualityDeletes && f.global:
			x.global.equalities.files = append(x.global.equalities.files, i)
		case f.Kind == catalog.EqualityDeletes:
			s := x.scope(&f)
			s.equalities.files = append(s.equalities.files, i)
		default:
			s := x.scope(&f)
			s.positions.files = append(s.positions.files, i)
		}
	}
	x.global.equalities.sort(files)
	for _, s := range x.scopes {
		s.positions.sort(files)
		s.equalities.sort(files)
	}
	return x, nil
}

func twoVectors(a, b *liveDelete) error {
	return errs.New(errs.Corrupt, "read delete file", b.Ref.Path, "it has a deletion vector of %s at byte %d, and %s has one at byte %d",
		b.Target, b.Offset, a.Ref.Path, a.Offset)
}

func (x *deleteIndex) scope(f *liveDelete) *deleteScope {
	key := catalog.TupleKey(f.Spec, f.Partition)
	s, ok := x.scopes[key]
	if !ok {
		s = &deleteScope{}
		x.scopes[key] = s
	}
	return s
}

func (r *byRising) sort(files []liveDelete) {
	slices.SortStableFunc(r.files, func(a, b int) int { return cmp.Compare(files[a].Sequence, files[b].Sequence) })
}

// last returns how many of the files have at least the sequence number.
func (r *byRising) last(files []liveDelete, least int64) int {
	at, _ := slices.BinarySearchFunc(r.files, least, func(i int, least int64) int { return cmp.Compare(files[i].Sequence, least) })
	return len(r.files) - at
}

// need remembers that the last n files are needed.
func (r *byRising) need(n int) {
	for {
		known := r.needed.Load()
		if int64(-n) >= known || r.needed.CompareAndSwap(known, int64(-n)) {
			return
		}
	}
}

// finding is what applies to one data file: its own deletes, those that may be, and so many of the last ones of shared scopes.
type finding struct {
	own   []int
	cut   []int        // those whose guessed target is the beginning of its path: their rows tell
	scope *deleteScope // nil: none of the file's partition
	shared
}

// shared tells apart what files of one scope share.
type shared struct{ positions, equalities, global int }

func (x *deleteIndex) find(f *catalog.DataFile) finding {
	var found finding
	if len(x.files) == 0 {
		return found
	}
	vector, covered := x.vectors[f.Ref.Path]
	covered = covered && x.files[vector].Sequence >= f.Sequence
	if covered {
		// The vector holds all positions: what position delete files say was put into it.
		found.own = []int{vector}
	}
	for _, i := range x.targets[f.Ref.Path] {
		if !covered && x.files[i].Sequence >= f.Sequence {
			found.own = append(found.own, i)
		}
	}
	newer := f.Sequence + 1 // equality deletes must be newer than the data
	if f.Sequence == math.MaxInt64 {
		return found
	}
	found.global = x.global.equalities.last(x.files, newer)
	var room [64]byte
	if found.scope = x.scopes[string(catalog.AppendTupleKey(room[:0], f.Spec, f.Partition))]; found.scope == nil {
		return found
	}
	found.equalities = found.scope.equalities.last(x.files, newer)
	if covered {
		return found
	}
	found.positions = found.scope.positions.last(x.files, f.Sequence)
	for _, i := range found.scope.begins(f.Ref.Path) {
		if x.files[i].Sequence >= f.Sequence {
			found.cut = append(found.cut, i)
		}
	}
	return found
}

// mark remembers what applies to the file.
func (x *deleteIndex) mark(f *catalog.DataFile) {
	found := x.find(f)
	for _, i := range found.own {
		x.marked[i].Store(true)
	}
	for _, i := range found.cut {
		x.marked[i].Store(true)
		x.cut[i].Store(true)
	}
	x.global.equalities.need(found.global)
	if found.scope != nil {
		found.scope.positions.need(found.positions)
		found.scope.equalities.need(found.equalities)
	}
}

// seal returns the delete files that apply to any file, in the order of the manifests, and refuses those that can't be read.
func (x *deleteIndex) seal(fio fileio.Files) ([]catalog.DeleteFile, error) {
	x.markNeeded(&x.global.equalities)
	for _, s := range x.scopes {
		x.markNeeded(&s.positions)
		x.markNeeded(&s.equalities)
	}
	var list []catalog.DeleteFile
	x.numbers = make([]int, len(x.files))
	for i := range x.files {
		if !x.marked[i].Load() {
			continue
		}
		d, err := x.files[i].located(fio)
		if err != nil {
			return nil, err
		}
		if x.cut[i].Load() {
			d.Target = "" // it is of its partition
		}
		x.numbers[i] = len(list)
		list = append(list, d)
	}
	return list, nil
}

func (x *deleteIndex) markNeeded(r *byRising) {
	for _, i := range r.files[len(r.files)+int(r.needed.Load()):] {
		x.marked[i].Store(true)
	}
}

// located returns the delete file with where it lies, or why it can't be read.
func (d *liveDelete) located(fio fileio.Files) (catalog.DeleteFile, error) {
	out := d.DeleteFile
	err := d.refuse()
	if err == nil {
		out.Ref.Local, err = fio.Local(d.Ref.Path)
	}
	return out, err
}

// refuse fails for a delete file that can't be read: its rows would come back.
func (d *liveDelete) refuse() error {
	switch {
	case d.encrypted:
		return fileio.Encrypted(d.Ref.Path)
	case d.Kind == catalog.DeletionVector, d.Format == catalog.Parquet, d.Format == catalog.Avro:
		return nil
	}
	return errs.New(errs.Unsupported, "read delete file", d.Ref.Path, "it is of format %s; only parquet and avro can be read", d.Format).
		WithHint("compact the table with its own engine so that no such delete files are left")
}

// sharedDeletes are the lists that many files have: most have no deletes of their own.
type sharedDeletes map[sharedKey][]int

type sharedKey struct {
	scope *deleteScope
	shared
}

// listFor returns the numbers of the delete files that apply to the file, ascending.
func (x *deleteIndex) listFor(f *catalog.DataFile, known sharedDeletes) []int {
	found := x.find(f)
	if len(found.own)+len(found.cut) > 0 {
		return x.list(found)
	}
	if found.shared == (shared{}) {
		return nil
	}
	key := sharedKey{found.scope, found.shared}
	list, ok := known[key]
	if !ok {
		list = x.list(found)
		known[key] = list
	}
	return list
}

func (x *deleteIndex) list(found finding) []int {
	var list []int
	for _, i := range x.places(found) {
		list = append(list, x.numbers[i])
	}
	slices.Sort(list)
	return list
}

// places returns where the found delete files are in the index.
func (x *deleteIndex) places(found finding) []int {
	list := slices.Concat(found.own, found.cut)
	list = append(list, x.global.equalities.files[len(x.global.equalities.files)-found.global:]...)
	if s := found.scope; s != nil {
		list = append(list, s.positions.files[len(s.positions.files)-found.positions:]...)
		list = append(list, s.equalities.files[len(s.equalities.files)-found.equalities:]...)
	}
	return list
}
