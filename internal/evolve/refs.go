package evolve

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

func refKind(isTag bool) string {
	if isTag {
		return "tag"
	}
	return "branch"
}

func (d *draft) createRef(c sql.CreateRef) error {
	return errs.Wrap(errs.Invalid, "set "+refKind(c.IsTag), c.Name, d.setRef(c))
}

func (d *draft) setRef(c sql.CreateRef) error {
	ref, there := d.Refs[c.Name]
	switch {
	case there && !c.Replace && c.IfNotExists:
		return nil
	case there && !c.Replace:
		return errs.New(errs.Exists, "", "", "there is a %s of that name", refKind(ref.IsTag)).
			WithHint("REPLACE %s moves it, CREATE ... IF NOT EXISTS leaves it", map[bool]string{true: "TAG", false: "BRANCH"}[ref.IsTag])
	case !there && !c.Create:
		return errs.New(errs.NotFound, "", "", "the table has no %s of that name", refKind(c.IsTag))
	case there && ref.IsTag != c.IsTag:
		return errs.New(errs.Invalid, "", "", "it is a %s", refKind(ref.IsTag))
	case c.IsTag && c.Name == MainBranch:
		return errs.New(errs.Invalid, "", "", "%s is the table's own branch", MainBranch)
	}
	ref.IsTag = c.IsTag
	at, err := d.snapshotOf(c)
	if err != nil {
		return err
	}
	ref.Snapshot = at
	if c.MaxRefAgeMs > 0 {
		if c.Name == MainBranch {
			return errs.New(errs.Invalid, "", "", "%s is kept for ever, so RETAIN can't be said of it", MainBranch)
		}
		ref.MaxRefAgeMs = c.MaxRefAgeMs
	}
	if c.MaxSnapshotMs > 0 {
		ref.MaxSnapshotMs = c.MaxSnapshotMs
	}
	if c.MinSnapshots > 0 {
		ref.MinSnapshots = c.MinSnapshots
	}
	d.Refs[c.Name] = ref
	return nil
}

// snapshotOf returns the snapshot that the statement names, or the current one.
func (d *draft) snapshotOf(c sql.CreateRef) (catalog.SnapshotID, error) {
	if c.Snapshot == nil {
		current, ok := d.Refs[MainBranch]
		if !ok {
			return 0, errs.New(errs.Invalid, "", "", "the table has no snapshot yet that it could point to").WithHint("insert something first")
		}
		return current.Snapshot, nil
	}
	id := catalog.SnapshotID(*c.Snapshot)
	if !d.Snapshots[id] {
		return 0, errs.New(errs.NotFound, "", "", "the table has no snapshot %d", id).WithHint("the metadata table snapshots lists them")
	}
	return id, nil
}

func (d *draft) dropRef(c sql.DropRef) error {
	ref, there := d.Refs[c.Name]
	op := "drop " + refKind(c.IsTag)
	switch {
	case !there && c.IfExists:
		return nil
	case !there:
		return errs.New(errs.NotFound, op, c.Name, "the table has none of that name")
	case ref.IsTag != c.IsTag:
		return errs.New(errs.Invalid, op, c.Name, "it is a %s", refKind(ref.IsTag))
	case c.Name == MainBranch:
		return errs.New(errs.Invalid, op, c.Name, "it is the table's own branch")
	}
	delete(d.Refs, c.Name)
	return nil
}
