package hive

import (
	"context"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/datafile"
	"github.com/tarndb/tarn/internal/errs"
)

// Layout is what a tree of Parquet files is as a table.
type Layout struct {
	// Columns are those of all files in the order in which they come up, then those of folders alone. They have no IDs, and all may
	// be NULL.
	Columns []catalog.Field
	Levels  []string // the columns that folders say values of, the outermost first
}

// Look reads the names of all folders and the footers of all files. Columns of different types become one where Iceberg may promote one
// type to the other. A column that only folders have is of the type that types says, or else an int, a long, a date or a string, the first
// that all of its values are written as. Files that aren't Parquet, that can't be of one table, or whose folders aren't of the same
// columns are refused, and so is a tree without files.
func Look(ctx context.Context, files datafile.Reader, from string, types map[string]catalog.Type) (*Layout, error) {
	l := &looking{files: files}
	err := Walk{Files: files.Files, Visit: func(f File) error { return l.file(ctx, f) }}.Run(ctx, from)
	if err != nil {
		return nil, err
	}
	if l.first == "" {
		return nil, errs.New(errs.NotFound, opRead, from, "there are no files in it, which would say what columns the table has")
	}
	out := &Layout{Columns: l.columns}
	for _, level := range l.levels {
		out.Levels = append(out.Levels, level.name)
	}
	for name := range types {
		if !slices.Contains(out.Levels, name) {
			return nil, errs.New(errs.NotFound, opRead, from, "a type is given for %q, and no folder says a value of it", name)
		}
	}
	for _, level := range l.levels {
		t, isGiven := types[level.name]
		at, err := placeOf(out.Columns, level.name)
		switch {
		case err != nil:
			return nil, errs.Wrap(errs.Invalid, opRead, from, err)
		case at >= 0 && isGiven:
			return nil, errs.New(errs.Invalid, opRead, from, "a type is given for %q, which files have as a column of their own: it is of their type", level.name)
		case at >= 0:
			continue
		case !isGiven:
			t = level.typeOf()
		}
		out.Columns = append(out.Columns, catalog.Field{Name: level.name, Type: t})
	}
	return out, nil
}

type looking struct {
	files   datafile.Reader
	first   string // the first file
	columns []catalog.Field
	levels  []*seen
}

func (l *looking) file(ctx context.Context, f File) error {
	columns, err := l.files.ReadColumns(ctx, f.Path)
	if err != nil {
		return err
	}
	if l.columns, err = union(l.columns, columns); err != nil {
		return errs.Wrap(errs.Invalid, opRead, f.Path, err)
	}
	if l.first == "" {
		l.first = f.Path
		for at, level := range f.Levels {
			for _, above := range f.Levels[:at] {
				if strings.EqualFold(above.Name, level.Name) {
					return errs.New(errs.Invalid, opRead, level.Folder, "a folder above it says a value of %q too", level.Name)
				}
			}
			l.levels = append(l.levels, newSeen(level.Name))
		}
	}
	isSame := len(f.Levels) == len(l.levels)
	for at := 0; isSame && at < len(f.Levels); at++ {
		isSame = f.Levels[at].Name == l.levels[at].name
	}
	if !isSame {
		return errs.New(errs.Invalid, opRead, f.Path, "its folders aren't of the same columns, in the same order, as those of %s", l.first)
	}
	for at, level := range f.Levels {
		l.levels[at].add(level)
	}
	return nil
}

// placeOf finds a column by its name; -1 for none. One whose name differs in letter case alone is an error: which of the two is
// meant can't be told.
func placeOf(columns []catalog.Field, name string) (int, error) {
	for at, c := range columns {
		if c.Name == name {
			return at, nil
		}
		if strings.EqualFold(c.Name, name) {
			return -1, errs.New(errs.Invalid, "", "", "the names %q and %q differ in letter case alone", c.Name, name)
		}
	}
	return -1, nil
}
