package tarn

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/hive"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// gcEnabled is the property by which a table says whether its files are its own to delete.
const gcEnabled = "gc.enabled"

// snapshotTable makes a table of the Parquet files of a folder, which stay where they are and somebody else's.
func snapshotTable(ctx context.Context, c *call) ([][]any, error) {
	from, err := c.sourceFolder()
	if err != nil {
		return nil, err
	}
	props, err := c.pairs("properties")
	if err != nil {
		return nil, err
	}
	if value, ok := props[gcEnabled]; ok && value != "false" {
		return nil, c.fail(errs.Invalid, "%s can't be %s: the files stay those of the folder, and the table must never delete them", gcEnabled, value)
	}
	props[gcEnabled], props["snapshot"] = "false", "true"
	return c.ofFolder(ctx, from, props)
}

// migrateTable makes a table of the Parquet files that lie where the catalog would put it. They are the table's own from then on.
func migrateTable(ctx context.Context, c *call) ([][]any, error) {
	for _, name := range []string{"drop_backup", "backup_table_name"} {
		if _, ok := c.args[name]; ok {
			return nil, c.fail(errs.Unsupported, "%s is about a table of a metastore that is kept under another name, and a folder has no other name", name).
				WithHint("leave it out; system.snapshot makes a table that leaves the folder as it is")
		}
	}
	props, err := c.pairs("properties")
	if err != nil {
		return nil, err
	}
	props["migrated"] = "true"
	return c.ofFolder(ctx, "", props)
}

// ofFolder makes a table of a folder's files, or of those at the table's own place where from is "", by one commit. The result is how many
// files there are.
func (c *call) ofFolder(ctx context.Context, from string, props map[string]string) ([][]any, error) {
	parts, err := c.tableName()
	if err != nil {
		return nil, err
	}
	owner, id, err := c.session.engine.newName(ctx, parts)
	if err != nil {
		return nil, err
	}
	if err := owner.CheckNew(ctx, id); err != nil {
		return nil, err
	}
	isInPlace := from == ""
	if isInPlace {
		from = owner.PlaceOf(id)
	}
	types, err := c.types("partition_types")
	if err != nil {
		return nil, err
	}
	layout, err := owner.LookAtFolder(ctx, from, types)
	if err != nil {
		return nil, err
	}
	state, err := stateOf(layout, c.text("location"), props)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "create table", id.String(), err)
	}
	table, err := owner.StageCreate(ctx, id, state)
	if err != nil {
		return nil, err
	}
	if !isInPlace {
		if err := lake.CheckApart(table, from); err != nil {
			return nil, err
		}
	}
	files, err := c.fill(ctx, owner, table, from)
	if err != nil && errs.KindOf(err) != errs.CommitUnknown {
		err = errors.Join(err, owner.Discard(ctx, table, nil))
	}
	return [][]any{{int64(files)}}, err
}

// fill commits a staged table with the files of a folder. Without any that has rows it is made empty.
func (c *call) fill(ctx context.Context, owner *lake.Catalog, table *catalog.Table, from string) (files int, err error) {
	files, _, err = c.addFrom(ctx, owner, table, lake.Import{From: from})
	if err == nil && files == 0 {
		err = owner.PublishStaged(ctx, table)
	}
	return files, err
}

// stateOf returns the table that a folder is: with its columns, by its levels, and with a name mapping, since its files have no field IDs.
func stateOf(layout *hive.Layout, location string, props map[string]string) (evolve.State, error) {
	st := sql.CreateTable{Location: location}
	for _, f := range layout.Columns {
		st.Columns = append(st.Columns, sql.Column{Path: []string{f.Name}, Type: evolve.DefinedType(f.Type)})
	}
	for _, level := range layout.Levels {
		st.Partitions = append(st.Partitions, sql.Term{Transform: "identity", Column: []string{level}})
	}
	for _, key := range slices.Sorted(maps.Keys(props)) {
		st.Properties = append(st.Properties, sql.Property{Key: key, Value: props[key]})
	}
	state, err := evolve.Create(st)
	if err != nil {
		return state, err
	}
	name, mapping, err := evolve.DefaultMapping(state.Schema().Fields)
	if _, isGiven := props[name]; !isGiven {
		state.Properties[name] = mapping
	}
	return state, err
}

// types returns an argument that maps columns to types, as CREATE TABLE writes them.
func (c *call) types(name string) (map[string]catalog.Type, error) {
	texts, err := c.pairs(name)
	if err != nil {
		return nil, err
	}
	out := map[string]catalog.Type{}
	for column, text := range texts {
		t, err := sql.ParseType(text)
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, "read the type of", column, err)
		}
		own, err := transform.ParseType(t.Name)
		if err != nil {
			return nil, c.fail(errs.Invalid, "folders can't say values of the type %s, which %s gives to %q", text, name, column)
		}
		out[column] = catalog.Type{Primitive: own}
	}
	return out, nil
}
