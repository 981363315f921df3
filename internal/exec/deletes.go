package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/task"
)

// deleteStore holds what the delete files of a run say. Each is read once, by the pack that first needs it, and let go when
// no pack will need it any more: what the running packs need is in memory, not what the table has.
type deleteStore struct {
	mu    sync.Mutex
	parts map[string]*deletePart
	keys  map[*task.Delete]string
}

// deletePart is a task.Delete. Mentions of one table share it.
type deletePart struct {
	users int // that still need it
	once  sync.Once
	err   error
	// positions are the deleted rows by data file; a deletion vector has one entry, under its target.
	positions map[string]*deletes.Positions
	values    *deletes.Values
}

// newDeleteStore counts who needs what: packs, units of each core's routing, the core itself for the tables that each pack
// reads whole, and the final step.
func newDeleteStore(g *task.Graph, units [][]unit) *deleteStore {
	s := &deleteStore{parts: map[string]*deletePart{}, keys: map[*task.Delete]string{}}
	for i := range g.Cores {
		c := &g.Cores[i]
		for _, u := range units[i] {
			s.count(&c.Tables[u.table].Input, u.files)
		}
		for t := range c.Tables {
			s.count(&c.Tables[t].Input, c.Tables[t].Everywhere)
		}
		for p := range c.Packs {
			for t := range c.Tables {
				s.count(&c.Tables[t].Input, c.Packs[p].Inputs[t])
			}
		}
	}
	if g.Final != nil {
		for i := range g.Final.Tables {
			s.count(&g.Final.Tables[i].Input, g.Final.Tables[i].Files)
		}
	}
	return s
}

func (s *deleteStore) count(in *task.Input, files []task.File) {
	for _, at := range needed(files) {
		key := s.key(in, &in.Deletes[at])
		if s.parts[key] == nil {
			s.parts[key] = &deletePart{}
		}
		s.parts[key].users++
	}
}

// key tells parts apart by all that they are made of. Tables may share a file, and give it another sequence number; versions
// of one table may compare a column in other types, and vectors of two data files may lie in one place.
func (s *deleteStore) key(in *task.Input, d *task.Delete) string {
	if key, ok := s.keys[d]; ok {
		return key
	}
	var key strings.Builder
	fmt.Fprintln(&key, d.Kind, d.Offset, d.Length, d.Target)
	for _, id := range d.Equality {
		fmt.Fprintln(&key, id, in.Equality[id].Root.Type)
	}
	for _, f := range d.Files {
		fmt.Fprintln(&key, f.Sequence, f.Rows, f.Ref.Path)
	}
	s.keys[d] = key.String()
	return key.String()
}

// needed returns the places of the deletes that files name, each once.
func needed(files []task.File) []int {
	var out []int
	seen := map[int]bool{}
	for _, f := range files {
		for _, list := range [][]int{f.Deletes, f.Newly} {
			for _, at := range list {
				if !seen[at] {
					seen[at] = true
					out = append(out, at)
				}
			}
		}
	}
	return out
}

// lend makes the deletes of files known to the connection's instance, for a scan of those files. The id is 0 when no row of
// theirs is deleted. Release, which is never nil, ends that.
func (s *deleteStore) lend(ctx context.Context, db *duck.DB, conn *duck.Conn, in *task.Input, files []task.File) (id int64, release func(), err error) {
	if len(needed(files)) == 0 {
		return 0, func() {}, nil
	}
	spec, err := s.spec(ctx, conn, in, files)
	if err != nil {
		return 0, func() {}, err
	}
	id, forget, err := db.RegisterDeletes(spec)
	if err != nil {
		return 0, func() {}, err
	}
	return id, forget, nil
}

// spec returns which rows of each of the files are left out. It reads the deletes that nobody has needed yet.
func (s *deleteStore) spec(ctx context.Context, conn *duck.Conn, in *task.Input, files []task.File) (duck.DeletesSpec, error) {
	parts := map[int]*deletePart{}
	for _, at := range needed(files) {
		part := s.part(in, &in.Deletes[at])
		part.once.Do(func() { part.err = part.read(ctx, conn, in, &in.Deletes[at]) })
		if part.err != nil {
			return duck.DeletesSpec{}, part.err
		}
		parts[at] = part
	}
	spec := duck.DeletesSpec{Files: make([]duck.FileDeletes, len(files))}
	for i := range files {
		spec.Files[i] = fileDeletes(in, &files[i], parts)
	}
	return spec, nil
}

func (s *deleteStore) part(in *task.Input, d *task.Delete) *deletePart {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts[s.key(in, d)]
}

func (s *deleteStore) release(in *task.Input, places []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range places {
		key := s.key(in, &in.Deletes[at])
		if part := s.parts[key]; part.users > 1 {
			part.users--
		} else {
			delete(s.parts, key)
		}
	}
}

// releasePack ends the need of a pack.
func (s *deleteStore) releasePack(c *task.Core, p *task.Pack) {
	for t := range c.Tables {
		if !isEverywhere(&c.Tables[t]) {
			s.release(&c.Tables[t].Input, needed(p.Inputs[t]))
		}
	}
}

// releaseEverywhere ends the need of a core for the deletes of the tables that each of its packs reads whole.
func (s *deleteStore) releaseEverywhere(c *task.Core) {
	for t := range c.Tables {
		s.release(&c.Tables[t].Input, needed(c.Tables[t].Everywhere))
	}
}

// fileDeletes returns which rows of a file are left out.
func fileDeletes(in *task.Input, f *task.File, parts map[int]*deletePart) duck.FileDeletes {
	columns := equalityColumns(in, f)
	out := duck.FileDeletes{Sequence: f.Sequence, Deleted: rowSet(in, f, f.Deletes, columns, parts)}
	if f.Newly != nil {
		only := rowSet(in, f, f.Newly, columns, parts)
		out.Only = &only
	}
	return out
}

// rowSet returns the rows of a file that the deletes at places have. Columns are the file's equality columns.
func rowSet(in *task.Input, f *task.File, places []int, columns []catalog.FieldID, parts map[int]*deletePart) duck.RowSet {
	var out duck.RowSet
	shared := false // what out.Positions points to is a part's own
	for _, at := range places {
		part := parts[at]
		if part.values != nil {
			test := duck.EqualityTest{Set: part.values, Scopes: []int{0}}
			for _, id := range in.Deletes[at].Equality {
				test.Columns = append(test.Columns, slices.Index(columns, id))
			}
			out.Equality = append(out.Equality, test)
			continue
		}
		more := part.positions[f.Ref.Path]
		switch {
		case more == nil:
		case out.Positions == nil:
			out.Positions, shared = more, true
		case shared:
			union := &deletes.Positions{}
			union.Union(out.Positions)
			union.Union(more)
			out.Positions, shared = union, false
		default:
			out.Positions.Union(more)
		}
	}
	return out
}

// equalityColumns returns the columns that the equality deletes of a file compare, in the order of their first mention.
func equalityColumns(in *task.Input, f *task.File) []catalog.FieldID {
	var out []catalog.FieldID
	for _, list := range [][]int{f.Deletes, f.Newly} {
		for _, at := range list {
			for _, id := range in.Deletes[at].Equality {
				if !slices.Contains(out, id) {
					out = append(out, id)
				}
			}
		}
	}
	return out
}
