package hive

import (
	"context"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// opRead is what errors say was attempted.
const opRead = "read folders of"

// Level is a folder that says a value of a column, by its name.
type Level struct {
	Name   string // of the column
	Text   string // the value, "" for NULL
	IsNull bool
	Folder string // its path
}

// File is a file of a tree, and what the folders above it say, the outermost first.
type File struct {
	Path, Folder string
	Levels       []Level
}

// Walk is a way through a tree.
type Walk struct {
	Files fileio.Files
	Enter func(Level) (bool, error) // whether a folder is to be looked through; nil: all are
	Visit func(File) error

	from string
}

// Run visits all files at from, a folder, or a file whose name ends with .parquet. Names that begin with an underscore or a point are
// those of what isn't data, as in Spark, but for folders that say a value.
func (w Walk) Run(ctx context.Context, from string) error {
	w.from = from
	if strings.HasSuffix(strings.ToLower(from), ".parquet") {
		isFile, err := w.isFile(ctx, from)
		if err != nil {
			return err
		}
		if isFile {
			folder, _ := fileio.Split(from)
			return w.Visit(File{Path: from, Folder: folder})
		}
	}
	return w.folder(ctx, from, nil)
}

// isFile says whether a path is a file rather than a folder, which may be called like a file too. One that is neither is an error.
func (w Walk) isFile(ctx context.Context, path string) (bool, error) {
	_, err := w.Files.List(ctx, path)
	if err == nil || errs.KindOf(err) != errs.NotFound {
		return false, err
	}
	f, err := w.Files.Open(ctx, path) // what isn't there can't be opened
	if err != nil {
		return false, err
	}
	return true, errs.OfFile("close", path, f.Close())
}

// transactional are the names of folders of transactional tables, whose numbers Hive writes with seven digits.
var transactional = regexp.MustCompile(`^(base|delta|delete_delta)_\d{7,}(_\d+)*(_v\d+)?$`)

// ofOthers says of what kind of table a name is that isn't just the files that lie in its folder; "" for none.
func ofOthers(name string) string {
	switch {
	case name == "_delta_log":
		return "a Delta Lake table"
	case name == ".hoodie" || name == ".hoodie_partition_metadata":
		return "a Hudi table"
	case transactional.MatchString(name):
		return "a transactional table of Hive"
	}
	return ""
}

func (w Walk) folder(ctx context.Context, path string, above []Level) error {
	entries, err := w.Files.List(ctx, path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.entry(ctx, path, e, above); err != nil {
			return err
		}
	}
	return nil
}

func (w Walk) entry(ctx context.Context, path string, e fs.DirEntry, above []Level) error {
	inner := fileio.Under(path, e.Name())
	key, value, isLevel := strings.Cut(e.Name(), "=")
	switch {
	case ofOthers(e.Name()) != "":
		return errs.New(errs.Unsupported, opRead, inner, "it is of %s, which says elsewhere which files it has: some that lie there may be none of it any more", ofOthers(e.Name())).
			WithHint("have its own engine write its rows to a folder")
	case strings.HasSuffix(e.Name(), ".metadata.json"):
		return w.ofTable(inner)
	case (strings.HasPrefix(e.Name(), "_") || strings.HasPrefix(e.Name(), ".")) && (!e.IsDir() || !isLevel):
		return nil
	case e.Type()&fs.ModeSymlink != 0:
		isFile, err := w.isFile(ctx, inner)
		if err == nil && !isFile {
			err = errs.New(errs.Unsupported, opRead, inner, "it is a symbolic link to a folder, whose files have another name too and may be another table's").
				WithHint("have the folder itself there, or take it as a source of its own")
		}
		if err != nil {
			return err
		}
		return w.Visit(File{Path: inner, Folder: path, Levels: above})
	case !e.IsDir():
		return w.Visit(File{Path: inner, Folder: path, Levels: above})
	case !isLevel:
		return w.folder(ctx, inner, above)
	}
	l, err := levelOf(key, value, inner)
	if err != nil {
		return errs.Wrap(errs.Invalid, opRead, inner, err)
	}
	if w.Enter != nil {
		if wanted, err := w.Enter(l); err != nil || !wanted {
			return err
		}
	}
	return w.folder(ctx, inner, append(slices.Clip(above), l))
}

// ofTable is the error for a file of a table's metadata.
func (w Walk) ofTable(path string) error {
	folder, _ := fileio.Split(path)
	folder, _ = fileio.Split(folder)
	err := errs.New(errs.Invalid, opRead, path, "it is metadata of the Iceberg table in %s, whose files may have rows that the table deleted", folder)
	if fileio.TrimSlash(folder) == fileio.TrimSlash(w.from) {
		return err.WithHint("CALL system.register_table gives such a table a name. Remove the folder if it is what a migration left that was killed")
	}
	return err.WithHint("move the table's folder away from %s, or drop the table with its files", w.from)
}

// hiveNull is how Hive and Spark call the folder of NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

func levelOf(key, value, folder string) (Level, error) {
	name, err := url.PathUnescape(key)
	if err != nil || value == hiveNull {
		return Level{Name: name, IsNull: true, Folder: folder}, err
	}
	text, err := url.PathUnescape(value)
	return Level{Name: name, Text: text, Folder: folder}, err
}
