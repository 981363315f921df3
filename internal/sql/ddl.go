package sql

// CreateNamespace makes a namespace.
type CreateNamespace struct {
	Namespace   []string
	IfNotExists bool
	Properties  []Property // COMMENT and LOCATION are the properties comment and location
}

// DropNamespace drops a namespace; without Cascade it must be empty.
type DropNamespace struct {
	Namespace []string
	IfExists  bool
	Cascade   bool
}

// CreateTable makes a table, or gives an existing one a new definition.
type CreateTable struct {
	Table       []string
	IfNotExists bool
	OrReplace   bool // CREATE OR REPLACE TABLE
	Replace     bool // REPLACE TABLE: the table must be there
	Columns     []Column
	Partitions  []Term
	Comment     string // "": none
	Location    string // "": where the catalog puts tables
	Properties  []Property
	As          *Query // CREATE TABLE ... AS: its text begins at the query's place in the statement; nil: none
	AsAt        int    // byte offset of the query in the statement
}

// DropTable drops a table; Purge deletes its files too.
type DropTable struct {
	Table    []string
	IfExists bool
	Purge    bool
}

// RenameTable gives a table another name; one of a single part stays in the namespace.
type RenameTable struct{ Table, To []string }

// AlterTable changes a table. The changes are one commit.
type AlterTable struct {
	Table   []string
	Changes []Change
}

func (CreateNamespace) statement() {}
func (DropNamespace) statement()   {}
func (CreateTable) statement()     {}
func (DropTable) statement()       {}
func (RenameTable) statement()     {}
func (AlterTable) statement()      {}

// Property is a key with its value.
type Property struct{ Key, Value string }

// Column is a column that a statement defines, or a field of a struct.
type Column struct {
	Path    []string // more than one part: a field within a column
	Type    DataType
	NotNull bool
	Default *Literal // nil: none
	Comment string
	Place   *Place // of ADD COLUMN; nil: the last
}

// Place says where among its siblings a column goes: the first, or behind another.
type Place struct {
	First bool
	After string
}

// DataType is a type. Name is the Iceberg spec's name with its parameters, such as decimal(9, 2), or struct, list or map;
// Fields are those of a struct, the element of a list, the key and the value of a map.
type DataType struct {
	Name   string
	Fields []Column
}

// LiteralKind says how a literal is written.
type LiteralKind uint8

// The kinds of literals.
const (
	NullLiteral LiteralKind = iota
	BooleanLiteral
	NumberLiteral
	StringLiteral
	BinaryLiteral    // X'0aff': Text has the hex digits
	DateLiteral      // DATE '...'
	TimestampLiteral // TIMESTAMP '...', TIMESTAMP_NTZ '...', TIMESTAMP_LTZ '...'
)

// Literal is a constant. Text is its value without quotes.
type Literal struct {
	Kind LiteralKind
	Text string
}

// Term is a column or a transform of one, as partition fields and sort orders have it. Transform is the spec's text, such
// as bucket[16].
type Term struct {
	Transform string
	Column    []string
}

// Change is one of the changes of ALTER TABLE below.
type Change interface{ change() }

// AddColumns adds columns and nested fields.
type AddColumns struct{ Columns []Column }

// DropColumns drops columns and nested fields; IfExists passes over those that aren't there.
type DropColumns struct {
	Paths    [][]string
	IfExists bool
}

// RenameColumn gives a column or a nested field another name, in its place.
type RenameColumn struct {
	Path []string
	Name string
}

// AlterColumn changes one thing of a column: what isn't nil.
type AlterColumn struct {
	Path    []string
	Type    *DataType
	NotNull *bool
	Comment *string
	Place   *Place
	Default *Literal // DROP DEFAULT is a NULL
}

// SetProperties sets properties of the table.
type SetProperties struct{ Properties []Property }

// UnsetProperties removes properties of the table; those that it doesn't have are passed over, as in Spark.
type UnsetProperties struct{ Keys []string }

// SetLocation says where new files of the table go.
type SetLocation struct{ Location string }

// AddPartitionField adds a field to the partition spec; an empty Name is made as Iceberg makes it.
type AddPartitionField struct {
	Term Term
	Name string
}

// DropPartitionField drops the field of the term, or the one of that name when the term is a name that no column has.
type DropPartitionField struct{ Term Term }

// ReplacePartitionField is a drop and an add in one.
type ReplacePartitionField struct {
	Old, New Term
	Name     string
}

// WriteOrder sets how rows are laid out by writes. No Fields: unordered. An empty Distribution leaves write.distribution-mode
// as it is.
type WriteOrder struct {
	Fields       []OrderField
	Distribution string
}

// OrderField is a term of a sort order. NULLs are the least values: last where Descending, unless said otherwise.
type OrderField struct {
	Term       Term
	Descending bool
	NullsLast  bool
}

// SetIdentifierFields says which columns identify a row.
type SetIdentifierFields struct{ Paths [][]string }

// DropIdentifierFields takes columns out of those that identify a row.
type DropIdentifierFields struct{ Paths [][]string }

// CreateRef makes a branch or a tag, or moves it. Nil and zero values leave to the table what they don't say.
type CreateRef struct {
	Name          string
	IsTag         bool
	Create        bool // it may be missing
	Replace       bool // it may be there
	IfNotExists   bool
	Snapshot      *int64 // nil: the current one
	MaxRefAgeMs   int64
	MaxSnapshotMs int64
	MinSnapshots  int
}

// DropRef drops a branch or a tag.
type DropRef struct {
	Name     string
	IsTag    bool
	IfExists bool
}

func (AddColumns) change()            {}
func (DropColumns) change()           {}
func (RenameColumn) change()          {}
func (AlterColumn) change()           {}
func (SetProperties) change()         {}
func (UnsetProperties) change()       {}
func (SetLocation) change()           {}
func (AddPartitionField) change()     {}
func (DropPartitionField) change()    {}
func (ReplacePartitionField) change() {}
func (WriteOrder) change()            {}
func (SetIdentifierFields) change()   {}
func (DropIdentifierFields) change()  {}
func (CreateRef) change()             {}
func (DropRef) change()               {}
