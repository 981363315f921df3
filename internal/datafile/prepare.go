package datafile

import (
	"context"
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Scan is what is read of a table: which columns of which files.
type Scan struct {
	Table   *catalog.Table
	Columns []catalog.FieldID // metadata columns too
	Layout  *catalog.TableLayout
	// Schemas are the columns of each schema of the table, the newest first. Columns that equality deletes compare and that
	// the table has dropped are looked for there; else nobody asks.
	Schemas iter.Seq2[[]catalog.Field, error]
	// Folder is where rewritten files go. Whoever owns it removes it when the scan is over.
	Folder string
}

// Prepare finds out how each file of the layout is to be read, and returns the layout with that filled in: of files Shape,
// ByName, Constants and Ref.Local, of delete files Shape and Ref.Local, and Equality. It reads the files' footers, and fails if
// a scan could give wrong rows: a file is cut or missing, isn't the one that was committed, or stores a column in a way that
// can't be read.
//
// Files in Avro, and Parquet files that DuckDB would misread, are rewritten as Parquet files in the folder, with their rows in
// the same order; Format then says Parquet and Ref.Local names the copy. Of a million files it holds some bytes each.
func (r Reader) Prepare(ctx context.Context, s Scan) (*catalog.TableLayout, error) {
	out := *s.Layout
	wants, err := wantedFields(s.Table, s.Columns)
	if err != nil {
		return nil, err
	}
	if out.Equality, err = equalityColumns(s); err != nil {
		return nil, err
	}
	p := &preparation{
		reader: r, columns: s.Columns, layout: s.Layout, copies: newCopier(r, s.Folder),
		plain: newJudge(s.Table, wants), compared: newJudge(s.Table, withEquality(wants, out.Equality)),
	}
	if err := p.allFiles(ctx); err != nil {
		return nil, err
	}
	if out.Deletes, err = p.deletes(ctx, out.Equality); err != nil {
		return nil, err
	}
	out.Files = p.files
	return &out, nil
}

// wantedFields returns the columns with the IDs. Of metadata columns it returns those that files may hold: rows that were
// rewritten keep their IDs in them. The others come from the layout.
func wantedFields(t *catalog.Table, columns []catalog.FieldID) ([]catalog.Field, error) {
	var wants []catalog.Field
	for _, id := range columns {
		f, ok := t.Schema.Field(id)
		if catalog.IsReserved(id) { // those of a change log are in its schema
			if f, ok = catalog.MetadataColumn(t, id); ok && id != catalog.RowID && id != catalog.LastUpdatedID {
				continue
			}
		}
		if !ok {
			return nil, errs.New(errs.Internal, "prepare scan of", t.Ident.String(), "the table has no column with field ID %d", id)
		}
		if kind, ok := unreadable(f.Type); ok {
			return nil, errs.New(errs.Unsupported, "read column", catalog.ShownName(f.Name)+" of "+t.Ident.String(),
				"values of type %s can't be read", kind).WithHint("name the columns that are wanted; the others can be read")
		}
		if !isWanted(wants, id) {
			wants = append(wants, f)
		}
	}
	return wants, nil
}

// unreadable returns the type within t that no scan reads.
func unreadable(t catalog.Type) (transform.Kind, bool) {
	switch kind := t.Primitive.Kind; kind {
	case transform.Variant, transform.Geometry, transform.Geography:
		return kind, true
	}
	for _, f := range t.Fields {
		if kind, ok := unreadable(f.Type); ok {
			return kind, true
		}
	}
	return transform.None, false
}

// withEquality adds the columns that equality deletes compare. A column may come twice: as queries see it, and as it was
// when it had a field that is compared.
func withEquality(wants []catalog.Field, equality map[catalog.FieldID]catalog.EqualityColumn) []catalog.Field {
	wants = slices.Clone(wants)
	for _, id := range slices.Sorted(maps.Keys(equality)) {
		c := equality[id]
		found := false
		for _, f := range wants {
			if f.ID == c.Root.ID {
				_, sees := pathTo(f, id)
				found = found || sees
			}
		}
		if !found {
			wants = append(wants, c.Root)
		}
	}
	return wants
}

// preparation is what a Prepare knows of a layout's files.
type preparation struct {
	reader   Reader
	columns  []catalog.FieldID // wanted
	layout   *catalog.TableLayout
	copies   *copier
	plain    *judge // for files without equality deletes
	compared *judge // for the others: the columns that are compared are wanted too

	mu       sync.Mutex
	readings []*reading // in the order of the layout's files
}

// judgeOf returns who judges a file.
func (p *preparation) judgeOf(f catalog.DataFile) *judge {
	isEquality := func(i int) bool { return p.layout.Deletes[i].Kind == catalog.EqualityDeletes }
	if slices.ContainsFunc(f.Deletes, isEquality) || slices.ContainsFunc(f.Newly, isEquality) {
		return p.compared
	}
	return p.plain
}

// prepareWorkers is how many files are looked at at a time. Reading a footer waits for the disk or the network more than
// it computes.
func prepareWorkers() int { return 4 * runtime.GOMAXPROCS(0) }

// allFiles reads the footers of all files.
func (p *preparation) allFiles(ctx context.Context) error {
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(prepareWorkers())
	next := 0
	listed := p.layout.Files(ctx, func(f catalog.DataFile) error {
		at := next
		next++
		workers.Go(func() error {
			r, err := p.file(ctx, f)
			if err != nil {
				return err
			}
			p.remember(at, r)
			return nil
		})
		return ctx.Err()
	})
	// A failed check cancels the listing, so that its own error says less than the check's.
	if err := workers.Wait(); err != nil {
		return err
	}
	return listed
}

func (p *preparation) remember(at int, r *reading) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.readings) <= at {
		p.readings = append(p.readings, nil)
	}
	p.readings[at] = r
}

// file finds out how one file is read.
func (p *preparation) file(ctx context.Context, f catalog.DataFile) (*reading, error) {
	j := p.judgeOf(f)
	r, err := p.readingOf(ctx, j, "read data file", source{f.Ref, f.Format, f.Rows})
	if err == nil {
		_, err = j.constants(f, r)
		err = named("read data file", f.Ref.Path, err)
	}
	return r, err
}

// named makes an error name the file that it is about, unless it does.
func named(op, path string, err error) error {
	if err == nil || errs.IsAbout(err, path) {
		return err
	}
	return errs.Wrap(errs.Internal, op, path, err)
}

// source is a file to be read: what its manifest entry says of it.
type source struct {
	ref    catalog.FileRef
	format catalog.FileFormat
	rows   int64
}

// readingOf finds out how a file is read, copying it when it can't be read as it is.
func (p *preparation) readingOf(ctx context.Context, j *judge, op string, s source) (r *reading, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() { err = named(op, s.ref.Path, err) }()
	var foot footer
	switch s.format {
	case catalog.Parquet:
		if foot, err = p.reader.footer(ctx, s.ref); err != nil {
			return nil, err
		}
		if err := s.check(foot.size, foot.rows); err != nil {
			return nil, err
		}
		r = j.reading(foot, false)
		if r.err != nil || !r.rewrite {
			return r, r.err
		}
		foot, err = p.copies.parquet(ctx, j, s)
	case catalog.Avro:
		foot, err = p.copies.avro(ctx, j, s)
	default:
		return nil, errs.New(errs.Unsupported, "", "", "it is of format %s; parquet and avro can be read", s.format)
	}
	if err != nil {
		return nil, err
	}
	r = j.reading(foot, true)
	if r.err == nil && r.rewrite {
		return nil, errs.New(errs.Unsupported, "", "", "its columns are stored in a way that can't be read")
	}
	return r, r.err
}

// check compares a file with what its manifest entry says of it.
func (s source) check(size, rows int64) error {
	if size != s.ref.Bytes {
		return errs.New(errs.Corrupt, "", "", "it has %d bytes, but its manifest entry says %d: it isn't the file that was committed", size, s.ref.Bytes)
	}
	if rows != s.rows {
		return errs.New(errs.Corrupt, "", "", "it has %d rows, but its manifest entry says %d", rows, s.rows)
	}
	return nil
}

// files lists the layout's files once more, with all that was found out.
func (p *preparation) files(ctx context.Context, yield func(catalog.DataFile) error) error {
	next := 0
	return p.layout.Files(ctx, func(f catalog.DataFile) error {
		if next >= len(p.readings) {
			return errs.New(errs.Internal, "read data file", f.Ref.Path, "it wasn't listed before")
		}
		r, j := p.readings[next], p.judgeOf(f)
		next++
		constants, err := j.constants(f, r)
		if err != nil {
			return named("read data file", f.Ref.Path, err)
		}
		f.Constants = p.withChange(constants, f.Constants)
		f.Shape, f.ByName = r.shape, r.byName
		switch {
		case r.copied:
			f.Ref.Local, f.Format = p.copies.path(j, f.Ref.Path), catalog.Parquet
		case f.Ref.Local == "":
			f.Ref.Local, err = p.reader.Files.Local(f.Ref.Path)
		}
		if err != nil {
			return err
		}
		return yield(f)
	})
}

// withChange adds to a file's constants those of the wanted columns of the change log, which the layout has.
func (p *preparation) withChange(own, change map[catalog.FieldID]transform.Value) map[catalog.FieldID]transform.Value {
	for _, id := range p.columns {
		v, ok := change[id]
		if !ok {
			continue
		}
		if own == nil {
			own = map[catalog.FieldID]transform.Value{}
		}
		own[id] = v
	}
	return own
}
