package datafile

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/namemapping"
)

// Added is what the footer of a Parquet file that somebody else wrote says of it as a file of a table.
type Added struct {
	Meta *metadata.FileMetaData
	Size int64
	// IDs are the field IDs of its leaves, in the order of its columns; -1 for those that are none of the table's. It is nil
	// where they can't be told.
	IDs []catalog.FieldID
	// Names are what the file calls the table's columns, by their IDs; those that it lacks aren't there.
	Names map[catalog.FieldID]string
}

// ReadAdded reads the footer of a file that is to become one of the table's, and refuses one of which a column can't be read as
// the table's: Invalid, or Unsupported. A file without field IDs needs the table's name mapping. One that has them must call the
// columns, and the fields within them, as the table does: its IDs may be those of another table.
func (r Reader) ReadAdded(ctx context.Context, t *catalog.Table, path string) (*Added, error) {
	const op = "add data file"
	meta, foot, err := r.readFooter(ctx, path)
	if err != nil {
		return nil, err
	}
	j := newJudge(t, t.Schema.Fields)
	nodes := nodesOf(foot.schema)
	isBare := !haveIDs(nodes)
	how := &reading{}
	if err := j.fill(how, nodes, foot.facts); err != nil {
		return nil, errs.Wrap(errs.Invalid, op, path, err)
	}
	out := &Added{Meta: meta, Size: foot.size, Names: map[catalog.FieldID]string{}}
	for _, n := range nodes {
		f, ok := t.Schema.Field(n.id)
		if n.id == noID || !ok {
			if err := checkUnmapped(t, n); err != nil {
				return nil, errs.Wrap(errs.Invalid, op, path, err)
			}
			continue
		}
		if !isBare {
			if err := checkName(n, f); err != nil {
				return nil, errs.Wrap(errs.Invalid, op, path, err)
			}
		}
		out.Names[n.id] = n.name
	}
	for _, n := range nodes {
		out.IDs = n.leafIDs(out.IDs)
	}
	if len(out.IDs) != meta.Schema.NumColumns() {
		out.IDs = nil
	}
	return out, nil
}

// checkName refuses a field that has its ID but isn't called as the table's, at any depth: the file may have been written for another
// table, whose fields had these IDs. What lists and maps hold has no name of its own.
func checkName(n *node, f catalog.Field) error {
	if !strings.EqualFold(f.Name, n.name) {
		return errs.New(errs.Invalid, "", "", "its column %q has the field ID of the table's column %q: it may have been written for another table", n.name, f.Name)
	}
	return checkInnerNames(n, f)
}

func checkInnerNames(n *node, f catalog.Field) error {
	for i, kid := range n.kids {
		if n.nested != catalog.Struct {
			if err := checkInnerNames(kid, f.Type.Fields[i]); err != nil {
				return err
			}
			continue
		}
		if inner := fieldByID(f.Type.Fields, kid.id); inner != nil {
			if err := checkName(kid, *inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkUnmapped refuses a column that is none of the table's but for the letter case of its name: its values would be lost.
func checkUnmapped(t *catalog.Table, n *node) error {
	for _, f := range t.Schema.Fields {
		if n.id == noID && strings.EqualFold(f.Name, n.name) {
			return errs.New(errs.Invalid, "", "", "its column %q isn't the table's column %q by the table's name mapping", n.name, f.Name).
				WithHint("give the column that name in the table's property %s", namemapping.Property)
		}
	}
	return nil
}

// leafIDs adds the IDs of the leaves of a field.
func (n *node) leafIDs(ids []catalog.FieldID) []catalog.FieldID {
	if n.nested == catalog.NotNested {
		return append(ids, n.id)
	}
	for _, kid := range n.kids {
		ids = kid.leafIDs(ids)
	}
	return ids
}
