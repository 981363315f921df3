package task

import (
	"context"
	"fmt"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// Input is one mention of a table and what its files have in common.
type Input struct {
	View      string // its name in SQL texts
	Name      string // for people
	Fields    []catalog.Field
	Names     []string                                   // the fields' names in the view; nil when they are their own
	Deletes   []Delete                                   // what files of the layout name, by their places
	Equality  map[catalog.FieldID]catalog.EqualityColumn // the columns that Deletes compare
	Shapes    []*catalog.Schema                          // those that files name, by their places
	Partition catalog.Type                               // the type of File.Partition; no fields when nobody asks for it
	Repeats   bool                                       // as in catalog.TableLayout: a file may come more than once
	// Conditions are SQL conditions on the view's names. Rows that don't satisfy one can't matter: who reads rows to hold or
	// to send them leaves them out. The statements over the view have the conditions too.
	Conditions []string
	// Dynamic are likewise conditions, which no statement has: each read of the table leaves out rows by them.
	Dynamic  []string
	Sifts    []string // as in plan.Scan
	IsSifted bool     // likewise
}

// Delete is what is read together: one file of position deletes, one deletion vector, or all files of equality deletes of one
// partition, or of all partitions, that compare the same columns. Who runs a graph needs no rule of scope: a data file names
// what applies to it. Of equality deletes those files apply to it whose sequence number is above its own.
type Delete struct {
	Kind           catalog.DeleteKind
	Files          []DeleteFile
	Target         string // as in catalog.DeleteFile, like the fields below
	Offset, Length int64
	Equality       []catalog.FieldID
}

// DeleteFile is one file of a Delete.
type DeleteFile struct {
	Ref      catalog.FileRef
	Sequence int64 // data sequence number
	Rows     int64 // of a deletion vector its positions
	Shape    int   // as in File
}

// File is a data file of a pack, with its group.
type File struct {
	Ref        catalog.FileRef
	Rows       int64
	Group      int
	Spec       catalog.SpecID
	Sequence   int64
	FirstRowID *int64
	Number     int64 // among the files of its mention of a table, in the order in which they are listed
	Deletes    []int // indexes into Input.Deletes
	Newly      []int // likewise, as in catalog.DataFile
	Shape      int   // 1 + an index into Input.Shapes; 0: the file is as the table's schema says
	ByName     bool
	Constants  map[catalog.FieldID][]byte // in catalog.EncodeValue's form
	Partition  [][]byte                   // the values of Input.Partition's fields, likewise
}

// reader turns the files of a layout into those of a graph.
type reader struct {
	in     *Input
	layout *catalog.TableLayout
	places map[catalog.SpecID][]int           // of tuples' values in in.Partition; nil when nobody asks for it
	types  map[catalog.FieldID]transform.Type // of the columns that constants are of
	once   map[string]bool
	listed int64
	known  map[int]int    // place in layout.Deletes -> place in in.Deletes
	shared map[*int][]int // the first element of a list in a layout -> the list in the graph
	scopes map[string]int // equality deletes' partition and columns -> place in in.Deletes
	shapes map[*catalog.Schema]int
}

func newReader(s *plan.Scan, l *catalog.TableLayout) (*reader, *Input) {
	in := &Input{View: s.ViewName(), Name: s.Table.Ident.String(), Fields: fields(s), Names: s.Names, Equality: l.Equality, Repeats: l.Repeats, Dynamic: s.Dynamic, Sifts: s.Sifts, IsSifted: s.IsSifted}
	r := &reader{
		in: in, layout: l, once: map[string]bool{}, types: map[catalog.FieldID]transform.Type{},
		known: map[int]int{}, shared: map[*int][]int{}, scopes: map[string]int{}, shapes: map[*catalog.Schema]int{},
	}
	for _, c := range s.Conditions {
		in.Conditions = append(in.Conditions, c.SQL)
	}
	for _, f := range in.Fields {
		r.types[f.ID] = f.Type.Primitive
		if f.ID == catalog.PartitionID {
			in.Partition = f.Type
			r.places = catalog.PartitionPlaces(s.Table)
		}
	}
	for _, c := range l.Equality {
		r.types[c.Root.ID] = c.Root.Type.Primitive
	}
	return r, in
}

// each calls yield for each file of the layout. No file may come a second time unless the layout says so: its rows would
// count twice, and nobody can tell whether the writer meant that.
func (r *reader) each(ctx context.Context, yield func(catalog.DataFile, File) error) error {
	return r.layout.Files(ctx, func(f catalog.DataFile) error {
		if r.once[f.Ref.Path] && !r.in.Repeats {
			return errs.New(errs.Corrupt, "list files", f.Ref.Path, "the snapshot of %s has the data file twice", r.in.Name)
		}
		r.once[f.Ref.Path] = true
		file, err := r.file(f)
		file.Number, r.listed = r.listed, r.listed+1
		if err == nil {
			err = r.checkPlace(&file)
		}
		if err != nil {
			return errs.Wrap(errs.Internal, "plan", f.Ref.Path, err)
		}
		return yield(f, file)
	})
}

// checkPlace refuses a file whose rows have no place, where they are asked for it.
func (r *reader) checkPlace(f *File) error {
	if !r.in.TellsPlaces() || f.Number < catalog.MostFiles && f.Rows <= catalog.MostRows {
		return nil
	}
	return errs.New(errs.Unsupported, "plan", f.Ref.Path, "it is file %d of the statement and has %d rows: rows are changed in at most %d files of %d rows at once",
		f.Number+1, f.Rows, catalog.MostFiles, catalog.MostRows)
}

func (r *reader) file(f catalog.DataFile) (File, error) {
	out := File{
		Ref: f.Ref, Rows: f.Rows, Spec: f.Spec, Sequence: f.Sequence, FirstRowID: f.FirstRowID,
		Deletes: r.deletes(f.Deletes), Newly: r.deletes(f.Newly), Shape: r.shape(f.Shape), ByName: f.ByName,
	}
	var err error
	for id, v := range f.Constants {
		if out.Constants == nil {
			out.Constants = map[catalog.FieldID][]byte{}
		}
		if out.Constants[id], err = catalog.EncodeValue(r.types[id], v); err != nil {
			return out, err
		}
	}
	if r.places == nil {
		return out, nil
	}
	out.Partition = make([][]byte, len(r.in.Partition.Fields))
	for i, at := range r.places[f.Spec] {
		if at < 0 || i >= len(f.Partition) {
			continue
		}
		if out.Partition[at], err = catalog.EncodeValue(r.in.Partition.Fields[at].Type.Primitive, f.Partition[i]); err != nil {
			return out, err
		}
	}
	return out, nil
}

// deletes returns the graph's places of delete files. Files of one partition share their list, which may be long.
func (r *reader) deletes(at []int) []int {
	if len(at) == 0 {
		return nil
	}
	if out, ok := r.shared[&at[0]]; ok {
		return out
	}
	var out []int
	for _, i := range at {
		place, ok := r.known[i]
		if !ok {
			place = r.delete(&r.layout.Deletes[i])
			r.known[i] = place
		}
		out = append(out, place)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	r.shared[&at[0]] = out
	return out
}

func (r *reader) delete(d *catalog.DeleteFile) int {
	file := DeleteFile{Ref: d.Ref, Sequence: d.Sequence, Rows: d.Rows, Shape: r.shape(d.Shape)}
	place := len(r.in.Deletes)
	if d.Kind == catalog.EqualityDeletes {
		key := fmt.Sprint(d.Equality, catalog.TupleKey(d.Spec, d.Partition))
		if known, ok := r.scopes[key]; ok {
			r.in.Deletes[known].Files = append(r.in.Deletes[known].Files, file)
			return known
		}
		r.scopes[key] = place
	}
	r.in.Deletes = append(r.in.Deletes, Delete{
		Kind: d.Kind, Files: []DeleteFile{file}, Target: d.Target, Offset: d.Offset, Length: d.Length, Equality: d.Equality,
	})
	return place
}

func (r *reader) shape(s *catalog.Schema) int {
	if s == nil {
		return 0
	}
	if _, ok := r.shapes[s]; !ok {
		r.in.Shapes = append(r.in.Shapes, s)
		r.shapes[s] = len(r.in.Shapes)
	}
	return r.shapes[s]
}

// PartitionOf returns the values of the input's partition struct for a file; nil is NULL.
func (in *Input) PartitionOf(f File) ([]transform.Value, error) {
	var out []transform.Value
	for i, b := range f.Partition {
		v, err := catalog.DecodeValue(in.Partition.Fields[i].Type.Primitive, b)
		if err != nil {
			return nil, errs.Wrap(errs.Corrupt, "decode partition of", f.Ref.Path, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// ConstantsOf returns the file's constants as values.
func (in *Input) ConstantsOf(f File) (map[catalog.FieldID]transform.Value, error) {
	var out map[catalog.FieldID]transform.Value
	for id, b := range f.Constants {
		v, err := catalog.DecodeValue(in.typeOf(id), b)
		if err != nil {
			return nil, errs.Wrap(errs.Corrupt, "decode constants of", f.Ref.Path, err)
		}
		if out == nil {
			out = map[catalog.FieldID]transform.Value{}
		}
		out[id] = v
	}
	return out, nil
}

func (in *Input) typeOf(id catalog.FieldID) transform.Type {
	for _, f := range in.Fields {
		if f.ID == id {
			return f.Type.Primitive
		}
	}
	return in.Equality[id].Root.Type.Primitive
}

// ShapeOf returns the shape at place i of a file or a delete file; nil for 0.
func (in *Input) ShapeOf(i int) *catalog.Schema {
	if i == 0 {
		return nil
	}
	return in.Shapes[i-1]
}
