package lake

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/hive"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/metrics"
	"github.com/tarndb/tarn/internal/namemapping"
	"github.com/tarndb/tarn/internal/survey"
	"github.com/tarndb/tarn/transform"
)

// Import says which Parquet files are to become a table's, where they lie.
type Import struct {
	From string // a folder, or a file
	// Own says that the files become the table's own, as if it had written them: a purge deletes them.
	Own bool
	// Where are the partitions to be taken, by the names of partition fields and as folders spell their values; nil for all.
	Where map[string]string
}

// ImportedFile is a file to be added. Its partition is what its folders say: this is the one place where that counts.
type ImportedFile struct {
	Ref    catalog.FileRef
	Folder string // that says so, for people
	Tuple  []transform.Value
	Names  map[catalog.FieldID]string // what the file calls the table's columns
	// Unproved says that the footer doesn't prove the rows to be of the partition, nor its required columns to have values.
	Unproved bool
	New      NewDataFile
}

// opImport is what errors say was attempted.
const opImport = "add files from"

// LookAtFolder tells what table the Parquet files of a folder would be. The folder's columns are of the types given where files don't have
// them. See hive.Look.
func (c *Catalog) LookAtFolder(ctx context.Context, folder string, types map[string]catalog.Type) (*hive.Layout, error) {
	folder, err := absoluteFolder(folder)
	if err != nil {
		return nil, err
	}
	return hive.Look(ctx, c.dataFiles(), folder, types)
}

// CheckApart fails where a table's files would lie among those of a folder, by whatever name either is known: they could not be told apart any more.
func (c *Catalog) CheckApart(t *catalog.Table, folder string) error {
	folder, err := absoluteFolder(folder)
	if err != nil {
		return err
	}
	own := []string{t.Location}
	for _, key := range folderKeys {
		own = append(own, t.Properties[key])
	}
	for _, place := range own {
		if place == "" {
			continue
		}
		isInside, err := fileio.LeadsInto(c.fio, place, folder)
		isAround := false
		if err == nil && !isInside {
			isAround, err = fileio.LeadsInto(c.fio, folder, place)
		}
		switch {
		case err != nil:
			return errs.Wrap(errs.Internal, "place table", t.Ident.String(), err)
		case isInside || isAround:
			return errs.New(errs.Invalid, "place table", t.Ident.String(), "its files at %s would lie among those of %s", place, folder).
				WithHint("give it another location")
		}
	}
	return nil
}

// CheckOwnPlace fails where the folder that the catalog would put a table in, or one above it within the warehouse, is a symbolic link: what it leads
// to is somebody else's, and the catalog may not see it as the table's.
func (c *Catalog) CheckOwnPlace(id catalog.Ident) error {
	real, err := fileio.Real(c.fio, c.warehouse)
	if err != nil {
		return err
	}
	for n := range id {
		place := c.PlaceOf(id[:n+1])
		real = fileio.Under(real, id[n])
		switch to, err := fileio.Real(c.fio, place); {
		case err != nil:
			return err
		case to != real:
			return errs.New(errs.Invalid, "migrate", place, "it is a symbolic link to %s, and what lies there isn't in the warehouse", to).
				WithHint("CALL system.snapshot makes a table that leaves the files where they are; or move the folder to where the link is")
		}
	}
	return nil
}

// ImportTable returns the table as it will be when files are added to it: with a name mapping, and with what says that they aren't its own.
func (c *Catalog) ImportTable(t *catalog.Table, in Import) (*catalog.Table, error) {
	out := *t
	out.Properties = maps.Clone(t.Properties)
	if out.Properties == nil {
		out.Properties = map[string]string{}
	}
	if _, has := t.Properties[namemapping.Property]; !has {
		mapping, err := namemapping.Text(namemapping.Of(t.Schema.Fields))
		if err != nil {
			return nil, err
		}
		out.Properties[namemapping.Property] = mapping
	}
	if in.Own {
		return &out, nil
	}
	err := NoteImport(out.Properties, in.From)
	return &out, errs.Wrap(errs.Invalid, opImport, in.From, err)
}

// FindImports lists the files of an import and reads their footers. A folder that says no value of a partition field, a file that can't be
// read as the table's, or one that the table has already, is refused: Invalid or Unsupported, naming the folder or file.
func (c *Catalog) FindImports(ctx context.Context, t *catalog.Table, in Import) ([]ImportedFile, error) {
	from, err := absoluteFolder(in.From)
	if err != nil {
		return nil, err
	}
	for name := range in.Where {
		if fieldNamed(t, name) < 0 {
			return nil, errs.New(errs.NotFound, opImport, in.From, "the table has no partition field %q", name)
		}
	}
	modes, err := metrics.ModesOf(t)
	if err != nil {
		return nil, err
	}
	i := &importing{catalog: c, table: t, in: in, modes: modes}
	err = hive.Walk{Files: c.fio, Enter: i.wants, Visit: func(f hive.File) error { return i.file(ctx, f) }}.Run(ctx, from)
	return i.checked(ctx, err)
}

type importing struct {
	catalog *Catalog
	table   *catalog.Table
	in      Import
	modes   *metrics.Modes
	files   []ImportedFile
}

// said is what a folder's name says of a partition field.
type said struct {
	field int // its place in the spec
	value transform.Value
}

// read takes a folder's name for a value of a partition field.
func (i *importing) read(l hive.Level) (said, error) {
	at := fieldNamed(i.table, l.Name)
	if at < 0 {
		return said{}, errs.New(errs.Invalid, opImport, l.Folder, "the table isn't partitioned by %q", l.Name).WithHint("its partition spec must be that of the folders")
	}
	s := said{field: at}
	if l.IsNull {
		return s, nil
	}
	f := i.table.Spec().Fields[at]
	var err error
	s.value, err = f.Transform.ParseHuman(f.SourceType, l.Text)
	return s, errs.Wrap(errs.Invalid, opImport, l.Folder, err)
}

// fieldNamed returns the place of the partition field that folders call name; -1 for none.
func fieldNamed(t *catalog.Table, name string) int {
	return slices.IndexFunc(t.Spec().Fields, func(f catalog.PartitionField) bool {
		if f.Transform.Op == transform.Void {
			return false
		}
		path := t.Schema.Path(f.Sources[0])
		return strings.EqualFold(f.Name, name) || f.Transform.Op == transform.Identity && len(path) == 1 && strings.EqualFold(path[0], name)
	})
}

// wants says whether a folder's partition is one of those to be taken.
func (i *importing) wants(l hive.Level) (bool, error) {
	s, err := i.read(l)
	if err != nil {
		return false, err
	}
	f := i.table.Spec().Fields[s.field]
	for name, text := range i.in.Where {
		if fieldNamed(i.table, name) != s.field {
			continue
		}
		v, err := f.Transform.ParseHuman(f.SourceType, text)
		if err != nil {
			return false, errs.Wrap(errs.Invalid, opImport, i.in.From, err)
		}
		if catalog.TupleKey(0, []transform.Value{v}) != catalog.TupleKey(0, []transform.Value{s.value}) {
			return false, nil
		}
	}
	return true, nil
}

// tuple returns the partition that the folders of a file say.
func (i *importing) tuple(f hive.File) ([]transform.Value, error) {
	spec := i.table.Spec()
	tuple, known := make([]transform.Value, len(spec.Fields)), make([]bool, len(spec.Fields))
	for _, l := range f.Levels {
		s, err := i.read(l)
		if err != nil {
			return nil, err
		}
		if known[s.field] {
			return nil, errs.New(errs.Invalid, opImport, l.Folder, "a folder above it says a value of %q too", l.Name)
		}
		tuple[s.field], known[s.field] = s.value, true
	}
	for at, field := range spec.Fields {
		if !known[at] && field.Transform.Op != transform.Void {
			return nil, errs.New(errs.Invalid, opImport, f.Folder, "no folder of %s says its value of the partition field %q", f.Path, field.Name).
				WithHint("folders are named as Hive names them: %s=VALUE", field.Name)
		}
	}
	return tuple, nil
}

// file takes a file that was found.
func (i *importing) file(ctx context.Context, f hive.File) error {
	path, folder := f.Path, f.Folder
	tuple, err := i.tuple(f)
	if err != nil {
		return err
	}
	added, err := i.catalog.dataFiles().ReadAdded(ctx, i.table, path)
	if err != nil {
		return err
	}
	m, _, err := metrics.FromLeaves(added.Meta, added.IDs, i.table.Schema, i.modes)
	if err != nil {
		return errs.Wrap(errs.Corrupt, opImport, path, err)
	}
	if m.Rows == 0 {
		return nil
	}
	local, err := i.catalog.fio.Local(path)
	if err != nil {
		return err
	}
	out := ImportedFile{Ref: catalog.FileRef{Path: path, Local: local, Bytes: added.Size}, Folder: folder, Tuple: tuple, Names: added.Names}
	if err := i.checkFile(&out, m); err != nil {
		return err
	}
	out.New, err = i.catalog.DataFile(i.table, &WrittenFile{Ref: out.Ref, Metrics: m}, tuple, 0)
	i.files = append(i.files, out)
	return err
}

// checkFile refuses what the footer and the tuple show to be wrong, and says whether they leave anything open.
func (i *importing) checkFile(f *ImportedFile, m *metrics.Metrics) error {
	spec := i.table.Spec()
	entry := manifest.Entry{File: manifest.File{ValueCounts: m.Values, NullCounts: m.Nulls, NaNCounts: m.NaNs, Lower: m.Lower, Upper: m.Upper}}
	if bits := survey.Contradictions(spec, i.table.Schema, f.Tuple, &entry); bits != 0 {
		for at, p := range spec.Fields {
			if bits&(1<<at) != 0 {
				return errs.New(errs.Invalid, opImport, f.Folder, "it says that %s is %s, and not all rows of %s are so by its statistics", p.Name, p.Transform.Human(p.SourceType, f.Tuple[at]), f.Ref.Path)
			}
		}
	}
	for at, p := range spec.Fields {
		if p.Transform.Op == transform.Void {
			continue
		}
		path := i.table.Schema.Path(p.Sources[0])
		_, has := f.Names[p.Sources[0]]
		switch {
		case len(path) > 1:
			return errs.New(errs.Unsupported, opImport, f.Folder, "the partition field %q is of a field within a struct, which can't be checked", p.Name)
		case has:
			f.Unproved = f.Unproved || !isProved(p, f.Tuple[at], m)
		case p.Transform.Op != transform.Identity && f.Tuple[at] != nil:
			return errs.New(errs.Invalid, opImport, f.Folder, "it says that %s is %s, and %s has no column %q of which that could be so", p.Name,
				p.Transform.Human(p.SourceType, f.Tuple[at]), f.Ref.Path, path[0])
		}
	}
	for _, column := range i.table.Schema.Fields {
		if err := i.checkRequired(f, m, column); err != nil {
			return err
		}
	}
	return nil
}

// isProved says whether a footer's statistics prove that all rows have a partition's value: that both bounds are it. Bounds of texts and bytes may
// be cut, and those of floats leave NaN out.
func isProved(p catalog.PartitionField, v transform.Value, m *metrics.Metrics) bool {
	id := int(p.Sources[0])
	nulls, counted := m.Nulls[id]
	if v == nil {
		return counted && nulls == m.Rows
	}
	switch p.SourceType.Kind {
	case transform.Boolean, transform.Int, transform.Long, transform.Date, transform.Timestamp, transform.TimestampTZ:
		b, err := transform.EncodeBound(p.SourceType, v)
		return err == nil && p.Transform.Op == transform.Identity && counted && nulls == 0 && bytes.Equal(b, m.Lower[id]) && bytes.Equal(b, m.Upper[id])
	}
	return false
}

// checkRequired refuses NULLs in a column that is NOT NULL.
func (i *importing) checkRequired(f *ImportedFile, m *metrics.Metrics, column catalog.Field) error {
	if !column.Required {
		return nil
	}
	at := slices.IndexFunc(i.table.Spec().Fields, func(p catalog.PartitionField) bool {
		return p.Transform.Op == transform.Identity && p.Sources[0] == column.ID
	})
	_, has := f.Names[column.ID]
	nulls, counted := m.Nulls[int(column.ID)]
	switch {
	case at >= 0 && f.Tuple[at] == nil, at < 0 && !has && column.InitialDefault == nil, has && counted && nulls > 0:
		return errs.New(errs.Invalid, opImport, f.Folder, "the column %q is NOT NULL in the table, and has NULLs in %s", column.Name, f.Ref.Path)
	case has && !counted:
		f.Unproved = true
	}
	return nil
}

// checked returns the files unless the table has one of them already.
func (i *importing) checked(ctx context.Context, err error) ([]ImportedFile, error) {
	if err != nil || i.table.Snapshot == nil || len(i.files) == 0 {
		return i.files, err
	}
	mine := map[string]bool{}
	for _, f := range i.files {
		mine[fileio.Plain(f.Ref.Path)] = true
	}
	h, err := i.catalog.handleOf(i.table)
	if err != nil {
		return nil, err
	}
	path, err := i.catalog.liveAmong(ctx, i.table.Specs, h.snapshot, mine)
	if err == nil && path != "" {
		err = errs.New(errs.Exists, opImport, i.in.From, "the table has the file %s already", path)
	}
	return i.files, err
}

// CommitImports adds files to the table as one snapshot, after it has got the properties of how, which ImportTable made.
func (c *Catalog) CommitImports(ctx context.Context, t, how *catalog.Table, in Import, files []ImportedFile) (catalog.SnapshotID, error) {
	if !maps.Equal(t.Properties, how.Properties) {
		if err := c.noteImport(ctx, t, how, in); err != nil {
			return 0, err
		}
	}
	// Not as an append, which goes beside any other: another writer may be adding the same files, and a table with a file twice
	// can't be read.
	change := commit.Change{Kind: commit.Overwrite}
	for _, f := range files {
		change.Add = append(change.Add, f.New.File)
	}
	done, err := c.Commit(ctx, t, change)
	return done.Snapshot, err
}

// noteImport gives the table the properties of how that it hasn't.
func (c *Catalog) noteImport(ctx context.Context, t, how *catalog.Table, in Import) error {
	const name = namemapping.Property
	_, err := c.Evolve(ctx, t, opImport, func(s evolve.State) (evolve.State, error) {
		s.Properties = maps.Clone(s.Properties)
		if mapping := how.Properties[name]; t.Properties[name] != mapping {
			if _, has := s.Properties[name]; has {
				return s, errs.New(errs.Conflict, "", "", "another writer gave the table a name mapping")
			}
			s.Properties[name] = mapping
		}
		if in.Own {
			return s, nil
		}
		return s, NoteImport(s.Properties, in.From) // beside what others may have noted meanwhile
	})
	return err
}
