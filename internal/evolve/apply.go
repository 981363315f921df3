package evolve

import (
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

// Apply returns what the changes, one after the other and as one commit, make of a table. Errors are Invalid, NotFound,
// Exists or Unsupported.
func Apply(s State, changes []sql.Change) (State, error) {
	if err := s.checkWritable(); err != nil {
		return s, err
	}
	d := newDraft(s)
	for _, change := range changes {
		if err := d.apply(change); err != nil {
			return s, err
		}
	}
	return d.finish()
}

func (d *draft) apply(change sql.Change) error {
	switch c := change.(type) {
	case sql.AddColumns:
		return d.addColumns(c)
	case sql.DropColumns:
		return d.dropColumns(c)
	case sql.RenameColumn:
		return d.renameColumn(c)
	case sql.AlterColumn:
		return d.alterColumn(c)
	case sql.SetIdentifierFields:
		return d.setIdentifier(c.Paths)
	case sql.DropIdentifierFields:
		return d.dropIdentifier(c.Paths)
	case sql.SetProperties:
		return d.setProperties(c.Properties)
	case sql.UnsetProperties:
		return d.unsetProperties(c.Keys)
	case sql.SetLocation:
		d.Location = c.Location
		return nil
	case sql.AddPartitionField:
		return d.addPartitionField(c.Term, c.Name)
	case sql.DropPartitionField:
		return d.dropPartitionField(c.Term)
	case sql.ReplacePartitionField:
		return d.replacePartitionField(c)
	case sql.WriteOrder:
		return d.writeOrder(c)
	case sql.CreateRef:
		return d.createRef(c)
	case sql.DropRef:
		return d.dropRef(c)
	}
	return errs.New(errs.Internal, "alter table", "", "no way to apply a %T", change)
}
