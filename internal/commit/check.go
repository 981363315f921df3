package commit

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// check refuses a change that makes no sense on a version of the table.
func (a *applier) check(v *Version) error {
	c := &a.change
	removes := len(c.Remove) > 0 || c.Replace != nil
	_, isThere := v.Refs[a.branch()]
	switch {
	case c.Empty && isThere:
		return a.fail(errs.Exists, "there is a branch or tag %q", a.branch())
	case len(c.Add)+len(c.AddDeletes)+len(c.RemoveDeletes) == 0 && !removes && !c.Empty:
		return a.fail(errs.Invalid, "there is nothing to commit")
	case c.Kind == Append && (removes || len(c.AddDeletes)+len(c.RemoveDeletes) > 0):
		return a.fail(errs.Internal, "an append only adds data files")
	case c.Kind == Overwrite && len(c.AddDeletes)+len(c.RemoveDeletes) > 0:
		return a.fail(errs.Internal, "an overwrite adds and removes data files, not delete files")
	case c.Kind != Overwrite && c.Replace != nil:
		return a.fail(errs.Internal, "only an overwrite replaces partitions")
	case c.Kind == Rewrite && len(c.Add) > 0 && len(c.Remove) == 0:
		return a.fail(errs.Internal, "a rewrite has data files to add and none to remove")
	case c.Kind != Rewrite && c.DataSequence != nil:
		return a.fail(errs.Internal, "only the files of a rewrite have a data sequence number of their own")
	case v.Format < 2 && len(c.AddDeletes) > 0:
		return a.fail(errs.Unsupported, "tables of format version %d have no delete files", v.Format).
			WithHint("upgrade the table to format version 2")
	case c.Branch != "" && a.staged(v):
		return a.fail(errs.Invalid, "the change has both a branch, %q, and a WAP ID, %q", c.Branch, c.WAPID)
	}
	for id, name := range v.Required {
		if _, ok := a.base.Required[id]; !ok && len(c.Add) > 0 {
			return a.conflict("the table has a new required column, %s, which the change's rows have no value of", name)
		}
	}
	return a.checkFiles(v)
}

// checkFiles refuses files that can't be part of the table.
func (a *applier) checkFiles(v *Version) error {
	seen := map[string]bool{}
	for i := range a.change.Add {
		f := &a.change.Add[i]
		if f.Content != manifest.Data || seen[f.Path] {
			return errs.New(errs.Internal, "add data file", f.Path, "it is added twice, or holds no rows")
		}
		seen[f.Path] = true
		if err := a.checkPartition(v, f); err != nil {
			return err
		}
	}
	vectors := map[string]bool{}
	for i := range a.change.AddDeletes {
		f := &a.change.AddDeletes[i]
		isVector := isVector(f)
		switch {
		case f.Content == manifest.Data:
			return errs.New(errs.Internal, "add delete file", f.Path, "it holds no deletes")
		case f.Content == manifest.EqualityDeletes && a.change.Kind == Rewrite:
			return errs.New(errs.Internal, "add delete file", f.Path, "rewritten equality deletes would apply to rows that came after them")
		case isVector && v.Format < 3:
			return errs.New(errs.Unsupported, "add delete file", f.Path, "tables of format version %d have no deletion vectors", v.Format)
		case !isVector && f.Content == manifest.PositionDeletes && v.Format > 2:
			return errs.New(errs.Unsupported, "add delete file", f.Path, "tables of format version %d get deletion vectors, and no more position delete files", v.Format)
		case isVector && f.Referenced == "":
			return errs.New(errs.Internal, "add delete file", f.Path, "the deletion vector doesn't say of which data file it is")
		case isVector && vectors[f.Referenced]:
			return errs.New(errs.Internal, "add delete file", f.Path, "there are two deletion vectors of %s", f.Referenced)
		}
		if isVector {
			vectors[f.Referenced] = true
		}
		if err := a.checkPartition(v, f); err != nil {
			return err
		}
	}
	return nil
}

func isVector(f *manifest.File) bool {
	return f.Content == manifest.PositionDeletes && f.Format == catalog.Puffin
}

// checkPartition refuses a partition that isn't one of the file's spec.
func (a *applier) checkPartition(v *Version, f *manifest.File) error {
	spec, ok := v.Specs[f.Spec]
	if !ok || len(f.Partition) != len(spec.Fields) {
		return errs.New(errs.Invalid, "add file", f.Path, "the table has no partition spec %d of %d fields", f.Spec, len(f.Partition))
	}
	types, err := manifest.WrittenTypes(spec)
	if err != nil {
		return errs.Wrap(errs.Unsupported, "add file", f.Path, err)
	}
	for i, t := range types {
		field := spec.Fields[i]
		_, ok := manifest.FitValue(t, f.Partition[i])
		if f.Partition[i] != nil && (!ok || field.Transform.Op == transform.Void) {
			return errs.New(errs.Invalid, "add file", f.Path, "the partition value of %q is %v, not a %s", field.Name, f.Partition[i], t)
		}
	}
	return nil
}
