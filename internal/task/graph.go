package task

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// Graph is the work of one statement: its cores, each independent of the others, then the final step.
type Graph struct {
	Cores     []Core
	Final     *Final        // nil: the rows of Cores[0] are the answer
	Output    []plan.Column // what the client sees
	Avoid     []string      // optimizers of DuckDB that are off for all of it
	FirstRows [][]string    // the types of each aggregate of duck.Conn.FirstRow that texts call
}

// Core is one SQL text run pack by pack.
type Core struct {
	Name   string  // the table that collects its rows
	SQL    string  // over Views and the tables' views
	Short  string  // the same over the tables' Short columns besides, while they are short; "": nothing else
	Limit  int64   // rows that are enough; -1: all are wanted
	Grows  bool    // it may give as many rows as it reads, or more
	Views  []View  // in the order of their making
	Tables []Table // the scans, in the order of Pack.Inputs
	Keys   []Key   // what the groups are values of
	Groups []Group // those that are run
	Packs  []Pack  // the largest first
	Bins   int     // how many bins rows are routed to; each pack reads one, and the packs of one group the same
	Tree   *Tree   // how the tables are joined, for Check
	// Dropped counts the groups that can't give rows and the files that go unread with them or with a side of a group
	// that can't matter.
	Dropped Dropped
}

// Tree is the relation that a core is made over, as far as it decides which rows may be divided among packs.
type Tree struct {
	Table       int           // of a leaf: its place in Core.Tables
	Kind        plan.JoinKind // of a join
	Left, Right *Tree
	Strict      []bool // of a join, for each key: rows in which it is NULL have no match
	Union       []*Tree
	Everywhere  []int // of a leaf: the places of the tables that it is computed from in each pack
	Whole       bool  // an operator on top of it must see all rows of each of its keys
}

// View is a name and the query behind it.
type View struct{ Name, SQL string }

// Table is one mention of a table.
type Table struct {
	Input
	Sources []Source // one per key of the core: the column that carries it; none for a table that is read everywhere
	// Also are further columns: equal keys and equal values of these, place by place, are in all rows that have to do with each
	// other, so that a group may be divided by a hash of them all.
	Also    []catalog.FieldID
	Files   int   // all files that the survey left, read or dropped
	Dropped int   // of Files, those that aren't read
	Bytes   int64 // of Files
	// Everywhere are the files of a table that each pack reads whole. Their groups mean nothing.
	Everywhere []File
	// Routed are the files whose rows are sent to their bins one by one, by the keys that their columns have. Their groups
	// mean nothing.
	Routed []File
	// Strays tells of the routed rows of no group of the core whether they can matter: bit k of the place is set for rows in
	// which key k's column is NULL. Those that can matter go to a bin that depends on their keys alone.
	Strays []bool
	Short  []ShortColumn // what Core.Short reads besides the view's columns
	// Sieves may leave out rows of the table in a pack.
	Sieves []Sieve
}

// Sieve says that a row of a table in a pack matters only if its column has a value that the column Key of another table has in the
// pack, in a row that satisfies the other table's conditions. Both are of integers.
type Sieve struct {
	Table       int // the other one's place in Core.Tables; none of its rows are routed
	Key, Column catalog.FieldID
	IsFew       bool  // it leaves one row of plan.SiftedRows at most, or thereabouts
	LeastRows   int64 // that the table must have in a pack for it to be worth it
}

// ShortColumn is the short form of a column of text.
type ShortColumn struct {
	Field catalog.FieldID
	As    string // its name beside the view's columns
}

// Source is the column of a table whose transform is a group's value.
type Source struct {
	Field     catalog.FieldID
	Type      transform.Type
	Transform transform.Transform
}

// Key is one layout key of a core.
type Key struct {
	Text string         // for people: bucket(16, customer_id)
	Type transform.Type // of the group's value
}

// Group is one group: a value per key in the spec's binary form, nil for NULL.
type Group struct {
	Values [][]byte
}

// Pack is the unit of work, run as one statement: whole groups, or one of several packs that share a group.
type Pack struct {
	Groups []int    // indexes into Core.Groups, ascending
	Inputs [][]File // per table; none of a table that is read everywhere
	Bytes  int64    // of Inputs
	Bin    int      // which of the core's bins of routed rows it reads
	Slice  *Slice   // not nil: it has a part of one table's files of its group, and all of the others'
	Part   Part     // which rows of its files and of its bin it takes
	Alone  bool     // it runs by itself, with all threads and all memory
	// Tuple, not nil, is the partition tuple of all of its rows in the table that they are written to, in the spec's binary form,
	// nil for NULL. No other pack has it.
	Tuple [][]byte
}

// Slice says of a pack of one group that the table's files, and rows routed there, are divided among Of packs. The routed
// rows are read by the first.
type Slice struct{ Table, Index, Of int }

// Part takes those rows of each table of which a hash of the columns of the keys and of Also, modulo Of, is Index. The zero value takes all.
type Part struct{ Index, Of int }

// Dropped counts what isn't read.
type Dropped struct {
	Groups     int
	NullGroups int // of Groups, those in which a key is NULL
	Files      int
	Bytes      int64
}

// Final is the step that runs once, over tables read whole and the cores' rows.
type Final struct {
	SQL    string
	Views  []View
	Tables []Whole
}

// Whole is a table that the final step reads whole.
type Whole struct {
	Input
	Files []File // of group 0, which means nothing here
	// Look says that nothing else but this step's text reads the table: rows that its conditions leave out aren't read, and the
	// others are checked against Claims.
	Look   bool
	Claims []Claim
}

// Claim is what partition tuples say of a column's values: the transform of them in all rows of a file.
type Claim struct {
	Source
	Values map[int][]byte // by the files' places, in catalog.EncodeValue's form, nil for NULL; a file without one claims nothing
}

// Value returns a group's value of one key; nil for NULL.
func (c *Core) Value(group, key int) (transform.Value, error) {
	return catalog.DecodeValue(c.Keys[key].Type, c.Groups[group].Values[key])
}
