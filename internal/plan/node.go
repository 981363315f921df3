package plan

import (
	"fmt"
	"slices"

	"github.com/tarndb/tarn/catalog"
)

// SourceID tells the inputs of a statement's FROM clauses apart: each mention of a table or of a block has its own, so
// that the two sides of a self-join differ. USING columns of a full join have one too.
type SourceID int

// Col is a column of a source: its field ID for a scan, its output position for a block, the position in USING for a
// full join's merged columns.
type Col struct {
	Source SourceID
	Index  int
}

// Column is a column of a result: its name and DuckDB's name of its type.
type Column struct{ Name, Type string }

// SiftedRows is of how many rows of a table a Bloom filter leaves one, or fewer, where one is worth being made: to read a key for it
// costs about as much as to join three rows.
const SiftedRows = 16

// BloomKeys is how many rows a Bloom filter is made of at most: with more it wouldn't fit into the cache of a core.
const BloomKeys = 2 << 20

// Scan is one mention of a table. Its text name is ViewName.
type Scan struct {
	Source  SourceID
	Table   *catalog.Table
	Alias   string            // as the statement calls it, for people
	Columns []catalog.FieldID // what the statement reads: columns in the schema's order, then metadata columns; never empty
	Names   []string          // the columns' names in the view, which are the engine's own where theirs won't do
	Filter  catalog.Filter    // necessary for a row of this scan to matter; leaves files out
	// Conditions are as necessary as Filter, and tell rows apart. A run may leave rows out by them; the texts of blocks have
	// them too.
	Conditions []Condition
	Dynamic    []string // SQL conditions likewise, which dynamic filters made; Filter has them too
	// Sifts are SQL conditions likewise, which Bloom filters made: they leave out rows only that find no match, and have another text
	// each time that the statement is planned.
	Sifts    []string
	IsSifted bool // they leave one row of SiftedRows at most, or thereabouts
	Sieves   []Sieve
	// Looked says that its rows have been read, for a dynamic filter, before the statement was planned. Lie is what contradicted
	// the partition tuples of its files then: no plan may trust them.
	Looked bool
	Lie    error
	// Whole is, of a scan that is all that a SELECT reads, a filter that holds for exactly the rows that its WHERE takes; nil
	// where there is none.
	Whole *catalog.Filter
}

// Sieve says that a row of its scan matters only if its column has a value that the column Key has in a row of From: integers. Whoever
// runs a part of the query over a part of both scans' rows, with the join that says so, may leave out rows by that. Of a pack it is a
// Bloom filter of few keys, where one of all would be too large.
type Sieve struct {
	From        *Scan
	Key, Column catalog.FieldID
	IsFew       bool // it leaves one row of SiftedRows at most, or thereabouts
	IsForced    bool // however few rows there are
}

// Condition is an SQL condition on the names of a scan's view, about nothing but its row.
type Condition struct {
	SQL      string
	Columns  []catalog.FieldID // those that it is about, each once
	Filtered bool              // Scan.Filter has all that can be said of it
}

// Field returns the table's column, or else its metadata column, of the ID.
func (s *Scan) Field(id catalog.FieldID) (catalog.Field, bool) {
	if f, ok := s.Table.Schema.Field(id); ok {
		return f, true
	}
	return catalog.MetadataColumn(s.Table, id)
}

// Query is a bound SELECT: a tree of relations with the SQL text of each block. Texts name scans and blocks by their
// views, so one text serves for a pack's few files, for all files, and for an empty stub.
type Query struct {
	Scans  []*Scan
	Blocks []*Block // inputs before users; the root is last
	Root   *Block
	SQL    string   // the whole query, ORDER BY and LIMIT included, over the views
	Output []Column // what the client sees
	// Shown has what people know things by of which texts have a name of the engine's own.
	Shown map[string]string
	// Avoid names DuckDB's optimizers that would give wrong rows for this statement.
	Avoid []string
	// FirstRows are the types of the columns of each of the engine's own aggregates, made by Engine.FirstRow, that texts call.
	FirstRows [][]string
}

// Block is one SELECT, or a UNION ALL of blocks.
type Block struct {
	ID     int
	SQL    string // without ORDER BY and LIMIT
	Plain  string // SQL as the statement has it, where a rule put another text in its place; else ""
	From   Rel    // what FROM and the semi-joins of WHERE join together; nil for a union or a block without tables
	Union  []*Block
	Whole  string // not "": the block can't be run in parts, and why; From then lists its inputs for EXPLAIN alone
	Output []Output
	Group  *Grouping // GROUP BY, or a global aggregate; nil without aggregates
	// Distinct, and the windows' PARTITION BY columns: operators that must see all rows of their keys.
	Distinct bool
	Windows  [][]Col
	Order    *Ordering // ORDER BY and LIMIT of the root
	Split    *Split    // how to run it in two steps when it isn't complete in a group; nil when that can't be
	Facts    *Facts    // not nil: the statistics of files may take the place of its Split's core
	Untold   string    // why they can't for the condition alone, for people; "" where that isn't why
	Where    string    // the condition, for people
}

// Passes returns the column of FROM that the output column at i is, where a condition on the one may as well be put on the
// other: the block passes rows on one by one, or groups by the column. Windows, LIMIT and set operations look at other rows
// too: in (SELECT k, row_number() OVER (ORDER BY v) AS n FROM t) a row less gives others another n.
func (b *Block) Passes(i int) (Col, bool) {
	if b.Whole != "" || len(b.Windows) > 0 || b.Union != nil || b.Output[i].Col == nil {
		return Col{}, false
	}
	in := *b.Output[i].Col
	return in, b.Group == nil || slices.Contains(b.Group.Keys, in)
}

// Output is an output column of a block; Col is the column that it passes through unchanged, or nil.
type Output struct {
	Name string
	Col  *Col
}

// Grouping is a block's GROUP BY; Keys has the plain columns among its expressions. A global aggregate has no keys.
type Grouping struct {
	Keys []Col
	Text string
}

// Ordering is the root's ORDER BY and LIMIT over its output columns, and hidden ones after them.
type Ordering struct {
	SQL    string // the block with the hidden sort columns tarn_o0, tarn_o1, ... at the end
	Hidden int    // how many there are
	By     string // "2 DESC NULLS LAST, tarn_o0"; empty for a bare LIMIT
	Limit  *int64 // rows; nil for none
	Offset int64  // rows
}

// Split runs a block in two steps: Core in each pack, its rows collected in the table CoreName, then Upper once.
type Split struct {
	Core, Upper string
	Partial     bool // the core aggregates already; else it hands up the rows that the upper query needs
	// Needs are columns of which no value but NULL may lie in two groups: each of the core's keys must be carried by all of
	// them. Where that can't be had, Else is the way to take; nil when there is none.
	Needs []Col
	Else  *Split
	Short *Short // nil: the core groups by no text that a short form may stand for
}

// Short is a Split's core that groups by numbers in place of short texts.
type Short struct {
	Core    string // reads each of Columns under its ShortName, which it turns back
	Columns []Col  // of scans
}

// ShortName is the name of the column with the numbers.
func (c Col) ShortName() string { return fmt.Sprintf("tarn_short_%d_%d", c.Source, c.Index) }

// Facts is a Split's core that aggregates all rows of one scan, without groups, into what statistics of files may tell.
type Facts struct {
	Scan  *Scan
	Parts []Part // the core's columns
	Text  string // for people: "count(*), min(x)"
}

// Part is a column of a core: Of tells of which column of the table what is told.
type Part struct {
	Column // its name and type
	What   Fact
	Of     catalog.FieldID
}

// Fact is an aggregate that statistics may tell.
type Fact uint8

// The facts: how many rows there are, in how many of them a column isn't NULL, and its least and greatest value.
const (
	CountRows Fact = iota
	CountValues
	Least
	Greatest
)

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds. A cross join is an inner join without equalities.
const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Semi
	Anti
)

// String returns the kind as EXPLAIN prints it.
func (k JoinKind) String() string {
	return [...]string{"inner", "left", "right", "full", "semi", "anti"}[k]
}

// Rel is a relation in a FROM clause: a *ScanRel, *BlockRel, *Join or *Opaque.
type Rel interface{ rel() }

// ScanRel is a table's mention.
type ScanRel struct{ Scan *Scan }

// BlockRel is a derived table's or a CTE's mention.
type BlockRel struct {
	Source SourceID
	Block  *Block
	Alias  string
}

// Equality is a conjunct "left column = right column", or IS NOT DISTINCT FROM.
type Equality struct {
	Left, Right Col
	NullSafe    bool
}

// Join joins two relations. On has the equalities between plain columns of both sides; whatever else the condition says
// is evaluated within the group and needs no mention. Merged is the source of a full join's USING columns.
type Join struct {
	Kind        JoinKind
	Left, Right Rel
	On          []Equality
	Merged      *SourceID
	Text        string // the condition, for people
}

// IsFilter says whether only rows of the left side come out: a semi-join or an anti-join.
func (j *Join) IsFilter() bool { return j.Kind == Semi || j.Kind == Anti }

// OnlyMatched says of which sides a row matters only together with a row of the other side that satisfies the condition:
// where it has none, it may as well be left out. Of the other sides such a row comes out by itself.
func (j *Join) OnlyMatched() (left, right bool) {
	left = j.Kind == Inner || j.Kind == Right || j.Kind == Semi
	right = j.Kind != Right && j.Kind != Full
	return left, right
}

// Opaque is what can't be run in parts, and why.
type Opaque struct {
	Why    string
	Inputs []Rel
}

func (*ScanRel) rel()  {}
func (*BlockRel) rel() {}
func (*Join) rel()     {}
func (*Opaque) rel()   {}
