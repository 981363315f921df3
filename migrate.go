package tarn

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/write"
	"github.com/tarndb/tarn/transform"
)

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
	if value, ok := props[lake.GCEnabled]; ok && value != "false" {
		return nil, c.fail(errs.Invalid, "%s can't be %s: the files stay those of the folder, and the table must never delete them", lake.GCEnabled, value)
	}
	props[lake.GCEnabled], props["snapshot"] = "false", "true"
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

// ofFolder makes the table of a folder's files, or of those at the table's own place where from is "". The result is how many files there are.
func (c *call) ofFolder(ctx context.Context, from string, props map[string]string) ([][]any, error) {
	parts, err := c.tableName()
	if err != nil {
		return nil, err
	}
	owner, id, err := c.session.engine.newName(ctx, parts)
	if err != nil {
		return nil, err
	}
	folder := write.Folder{Path: from, Location: c.text("location"), Properties: props}
	if folder.Types, err = c.types("partition_types"); err != nil {
		return nil, err
	}
	files := 0
	err = c.session.reading(ctx, func(conn *duck.Conn) (err error) {
		files, err = write.MakeOf(ctx, conn, owner, id, folder)
		return err
	})
	return [][]any{{int64(files)}}, err
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
