package catalog

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// Identities, typed so that one can't stand for another.
type (
	// FieldID is a column's or a nested field's ID, unique in a table for ever.
	FieldID int
	// PartitionFieldID is a partition field's ID.
	PartitionFieldID int
	// SpecID is a partition spec's ID.
	SpecID int
	// SnapshotID is a snapshot's ID.
	SnapshotID int64
)

// Ident names a table: its namespace levels and its name.
type Ident []string

// String joins the parts by dots, quoting a part that isn't a plain lower-case name.
func (id Ident) String() string {
	parts := make([]string, len(id))
	for i, p := range id {
		parts[i] = ShownName(p)
	}
	return strings.Join(parts, ".")
}

// ShownName returns a name for people to read: as it is when it is a plain name, else in double quotes. A keyword stays as it is,
// which DuckDB would read as one: what it reads is written by quote.Name.
func ShownName(name string) string {
	plain := name != ""
	for i, r := range name {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9' {
			continue
		}
		plain = false
		break
	}
	if plain {
		return name
	}
	return quote.Name(name)
}

// Type is an Iceberg type: a primitive, or a struct, list or map of types.
type Type struct {
	Primitive transform.Type // of a leaf; its Kind is transform.None for a nested type
	Nested    NestedKind
	Fields    []Field // struct: its fields; list: the element; map: the key, then the value
}

// NestedKind tells structs, lists and maps apart.
type NestedKind uint8

// The nested kinds; NotNested is a primitive.
const (
	NotNested NestedKind = iota
	Struct
	List
	Map
)

// Field is a column or a nested field. Schema evolution keeps the ID and may change all else.
type Field struct {
	ID       FieldID
	Name     string
	Type     Type
	Required bool
	Doc      string
	// InitialDefault (v3) is the value of rows that were written before the field was added; nil when it has no default or
	// isn't primitive.
	InitialDefault transform.Value `json:"-"`
	// HasDefault says that the field has an initial default. That of a struct is the struct of its fields' own defaults, each
	// NULL without one; a struct that has none is NULL where it is missing, whatever its fields say.
	HasDefault bool
	// WriteDefault (v3) is the value that a write stores in rows for which it has none; without one NULL is
	// stored. HasWriteDefault says that there is one, as HasDefault does of the initial one. No plan of a query carries them.
	WriteDefault    transform.Value `json:"-"`
	HasWriteDefault bool            `json:"-"`
	Promoted        bool            // of a column: an older schema has it with another type, in which files may hold it
}

// Schema is one schema of a table.
type Schema struct {
	ID     int
	Fields []Field
	// Identifier are the required primitive fields that together identify a row, by rising ID; nothing enforces it.
	Identifier []FieldID `json:",omitempty"`
}

// Field returns the top-level column with the ID, or false.
func (s *Schema) Field(id FieldID) (Field, bool) {
	for _, f := range s.Fields {
		if f.ID == id {
			return f, true
		}
	}
	return Field{}, false
}

// Path returns the full name of the field with the ID, its parts outermost first, or nil.
func (s *Schema) Path(id FieldID) []string { return pathIn(s.Fields, id) }

func pathIn(fields []Field, id FieldID) []string {
	for _, f := range fields {
		if f.ID == id {
			return []string{f.Name}
		}
		if path := pathIn(f.Type.Fields, id); path != nil {
			return append([]string{f.Name}, path...)
		}
	}
	return nil
}

// PartitionField is one field of a spec. Sources has more than one column only for a multi-argument transform, which is
// carried and never evaluated.
type PartitionField struct {
	ID        PartitionFieldID
	Name      string
	Sources   []FieldID
	Transform transform.Transform
	// SourceType is the source column's type in the newest schema that has it; its Kind is None when no retained schema
	// has the column, or it isn't primitive. Such a field never prunes and is never a key.
	SourceType transform.Type
}

// PartitionSpec is one partition spec of a table. An unpartitioned spec has no fields.
type PartitionSpec struct {
	ID     SpecID
	Fields []PartitionField
}

// SortField is one field of a sort order.
type SortField struct {
	Source     FieldID
	Transform  transform.Transform
	Descending bool
	NullsLast  bool
}

// SortOrder is a table's sort order; ID 0 is unsorted.
type SortOrder struct {
	ID     int
	Fields []SortField
}

// Snapshot is the snapshot that a statement is pinned to.
type Snapshot struct {
	ID          SnapshotID
	Sequence    int64
	TimestampMs int64
	Operation   string
	Summary     map[string]string
}

// Table is one version of a table, pinned to one snapshot: a state of it, or what a run of snapshots up to that one did.
type Table struct {
	Catalog          string // the catalog's name; empty for a table opened by its path
	Ident            Ident
	UUID             string
	FormatVersion    int
	Location         string // as the metadata spells it
	MetadataLocation string
	Schema           *Schema // the schema that queries see
	Specs            map[SpecID]PartitionSpec
	DefaultSpec      SpecID
	Order            SortOrder
	Snapshot         *Snapshot // nil: the table has no snapshot yet and holds no rows
	Version          Version   // as the statement named it
	Properties       map[string]string
	Virtual          bool // it is made of a table's metadata, as t.files is: its rows lie in no data file
	// Handle is the implementation's own reference to this pinned version. Only the Catalog that made the table reads it.
	Handle any
}

// Spec returns the table's current partition spec.
func (t *Table) Spec() PartitionSpec { return t.Specs[t.DefaultSpec] }

// FileFormat is a data file's format.
type FileFormat string

// The formats of the spec.
const (
	Parquet FileFormat = "parquet"
	Avro    FileFormat = "avro"
	ORC     FileFormat = "orc"
	Puffin  FileFormat = "puffin" // of deletion vectors only
)

// FileRef names the bytes of one file. Path is what the metadata says and what people are shown; Local is where it lies
// on this machine, filled by the FileIO that owns it. Only package duck turns one into SQL text.
type FileRef struct {
	Path  string
	Local string
	Bytes int64
}

// DataFile is one live data file of the pinned snapshot.
type DataFile struct {
	Ref       FileRef
	Format    FileFormat
	Spec      SpecID
	Partition []transform.Value // one value per field of the file's own spec, in its order; nil is NULL
	Rows      int64
	// Contradicts has a bit for each partition field (by its place in the spec) whose column bounds say that the tuple is
	// wrong, or that the file's rows aren't all of one value. Such a field can't be trusted as a key for this file.
	Contradicts uint64
	Sequence    int64 // data sequence number; 0 for files of format version 1
	// FirstRowID is the row ID of the file's first row, for rows without one in the file; nil before format version 3.
	FirstRowID *int64
	// Whole says that every row of the file satisfies the filter that a survey was asked to prove.
	Whole bool
	// Deletes are the delete files that apply to the file by the spec's rules of scope and sequence number: indexes into
	// TableLayout.Deletes, ascending. Files may share the slice.
	Deletes []int
	// Shape is the file's own schema, with the table's field IDs, when its columns can't be read by their IDs alone: nested
	// fields have changed since, or it has no IDs and the table's name mapping gives them. Nil otherwise. Files of one shape
	// share it.
	Shape *Schema
	// ByName says that the file has no field IDs: its columns are found by the names that Shape, which isn't nil then, has
	// for them at every depth.
	ByName bool
	// Newly, of a scan of changes, has delete files too: only rows that they delete come out. Nil otherwise.
	Newly []int
	// Constants are the values of columns that the file lacks and its partition tuple gives, by the spec's "Column
	// Projection", and, of a scan of changes, those of the columns of the change log; nil when there are none.
	Constants map[FieldID]transform.Value
}

// GroupSum is what one partition tuple of one spec holds after filtering, in files whose bounds contradict the same fields of
// it.
type GroupSum struct {
	Spec      SpecID
	Partition []transform.Value
	Files     int
	Rows      int64
	Bytes     int64
	// Contradicts is that of the files; Liars has one such file for each bit, by the field's place in the spec.
	Contradicts uint64
	Liars       map[int]string
}

// ScanCounts says what a survey saw and left out, in manifests, files and bytes.
type ScanCounts struct {
	Manifests         int   // data manifests in the snapshot
	ManifestsPruned   int   // skipped by their partition summaries
	Files             int   // live data files in the snapshot, pruned manifests included
	FilesPruned       int   // of Files, left out by any means
	PrunedByPartition int   // of files in manifests read, by partition tuple
	PrunedByBounds    int   // of files in manifests read, by column bounds or null counts
	DeleteFiles       int   // live delete files in the snapshot, each deletion vector counting as one
	Rows              int64 // of the files kept, deleted ones included
	Bytes             int64 // of the files kept
}

// TableLayout is what a filter leaves of a pinned table, as planning sees it.
type TableLayout struct {
	Table  *Table
	Counts ScanCounts
	Groups []GroupSum // sorted by spec, then by the tuple's canonical bytes, then by the fields that are contradicted
	// Deletes are the live delete files that may apply to a file of the layout, in a fixed order.
	Deletes []DeleteFile
	// Equality has the columns that Deletes compare by value.
	Equality map[FieldID]EqualityColumn
	// Repeats says that a data file may come more than once, as it does in a scan of changes. Its rows are then no groups.
	Repeats bool
	// Sums has what the statistics of the surviving files say of the columns that SurveySums was asked for. It is nil when they
	// don't tell the rows: in a plain Survey, of tables that have no data files, and of what was appended or changed.
	Sums map[FieldID]ColumnSum
	// Files calls yield for each surviving file. It re-reads manifests, so that a million files need not be held; it
	// stops at the first error, yield's own included. The order is the same each time.
	Files func(ctx context.Context, yield func(DataFile) error) error
}

// Catalog finds tables. Every method returns errs kinds: NotFound, Corrupt, Unsupported, Invalid.
type Catalog interface {
	// Name is the name under which statements address it.
	Name() string
	// ListNamespaces returns all namespaces, nested ones included, sorted.
	ListNamespaces(ctx context.Context) ([]Ident, error)
	// ListTables returns the tables directly in a namespace, sorted.
	ListTables(ctx context.Context, namespace Ident) ([]Ident, error)
	// LoadTable pins a version of the table. NotFound also says that there is no such version.
	LoadTable(ctx context.Context, id Ident, v Version) (*Table, error)
}

// Surveyor plans scans of tables that its Catalog loaded.
type Surveyor interface {
	// Survey streams over the pinned snapshot's manifests and returns what filter can't rule out. What the manifests show
	// that can't be read rightly is refused as Unsupported here, by its name; the files themselves aren't opened.
	Survey(ctx context.Context, t *Table, filter Filter) (*TableLayout, error)
	// SurveySums is Survey with Sums of top-level columns of primitive types.
	SurveySums(ctx context.Context, t *Table, filter Filter, columns []FieldID) (*TableLayout, error)
}

// String writes the type as Iceberg's DDL does: long, decimal(9,2), struct<a: int, b: string>, list<int>, map<string, int>.
func (t Type) String() string {
	parts := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		parts[i] = f.Type.String()
		if t.Nested == Struct {
			parts[i] = ShownName(f.Name) + ": " + parts[i]
		}
	}
	inner := "<" + strings.Join(parts, ", ") + ">"
	switch t.Nested {
	case Struct:
		return "struct" + inner
	case List:
		return "list" + inner
	case Map:
		return "map" + inner
	}
	return t.Primitive.String()
}
