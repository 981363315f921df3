package write

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/hive"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/namemapping"
	"github.com/tarndb/tarn/internal/sql"
)

// Folder is what a table is made of whose rows are there: Parquet files in folders as Hive has them.
type Folder struct {
	Path       string // "": where the catalog would put the table, whose own the files are then
	Location   string // of the table; "": where the catalog puts it
	Properties map[string]string
	Types      map[string]catalog.Type // of columns that only folders have, where they aren't to be told from the values
}

// MakeOf makes a table of a folder's files where they lie, by one commit, and returns how many of them have rows. All rows are checked as
// AddFiles checks them. After a failure there is no table, and nothing is left of it but after CommitUnknown; the folder's files are
// never touched.
func MakeOf(ctx context.Context, conn *duck.Conn, c *lake.Catalog, id catalog.Ident, f Folder) (files int, err error) {
	if err := c.CheckNew(ctx, id); err != nil {
		return 0, err
	}
	from := f.Path
	if from == "" {
		if err := c.CheckOwnPlace(id); err != nil {
			return 0, err
		}
		from = c.PlaceOf(id)
	}
	layout, err := c.LookAtFolder(ctx, from, f.Types)
	if err != nil {
		return 0, err
	}
	state, err := f.state(layout)
	if err != nil {
		return 0, errs.Wrap(errs.Invalid, "create table", id.String(), err)
	}
	table, err := c.StageCreate(ctx, id, state)
	if err != nil {
		return 0, err
	}
	if f.Path != "" {
		if err := c.CheckApart(table, from); err != nil {
			return 0, err
		}
	}
	files, _, err = AddFiles(ctx, conn, c, table, lake.Import{From: from, Own: f.Path == ""})
	if err == nil && files == 0 {
		err = c.PublishStaged(ctx, table)
	}
	if err != nil && errs.KindOf(err) != errs.CommitUnknown {
		err = errors.Join(err, c.Discard(ctx, table, nil))
	}
	return files, err
}

// state returns the table that a folder is: with its columns, by its levels, and with a name mapping, since its files have no field IDs.
func (f Folder) state(layout *hive.Layout) (evolve.State, error) {
	st := sql.CreateTable{Location: f.Location}
	for _, column := range layout.Columns {
		st.Columns = append(st.Columns, sql.Column{Path: []string{column.Name}, Type: evolve.DefinedType(column.Type)})
	}
	for _, level := range layout.Levels {
		st.Partitions = append(st.Partitions, sql.Term{Transform: "identity", Column: []string{level}})
	}
	for _, key := range slices.Sorted(maps.Keys(f.Properties)) {
		st.Properties = append(st.Properties, sql.Property{Key: key, Value: f.Properties[key]})
	}
	state, err := evolve.Create(st)
	if err != nil {
		return state, err
	}
	if _, isGiven := f.Properties[namemapping.Property]; !isGiven {
		if state.Properties[namemapping.Property], err = namemapping.Text(namemapping.Of(state.Schema().Fields)); err != nil {
			return state, err
		}
	}
	if f.Path != "" {
		err = lake.NoteImport(state.Properties, f.Path)
	}
	return state, err
}
