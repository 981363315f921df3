package write

import (
	"context"
	"errors"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
)

// Append runs query on conn and appends its rows to t, by the rules of INSERT INTO. Without rows there is no snapshot, and 0 is
// returned. After a failure no new file is left, but after CommitUnknown all are.
func Append(ctx context.Context, conn *duck.Conn, c *lake.Catalog, t *catalog.Table, query string) (catalog.SnapshotID, error) {
	return AppendWith(ctx, conn, c, t, query, Options{})
}

// AppendWith is Append within limits.
func AppendWith(ctx context.Context, conn *duck.Conn, c *lake.Catalog, t *catalog.Table, query string, opts Options) (id catalog.SnapshotID, err error) {
	target, err := NewTarget(t)
	if err != nil {
		return 0, err
	}
	rows, err := target.rowsOf(ctx, conn, query)
	if err != nil {
		return 0, err
	}
	j, err := Start(ctx, c, target, opts)
	if err != nil {
		return 0, err
	}
	defer j.Close()
	return j.Commit(ctx, func() error {
		w := j.Writer()
		defer w.Close()
		if err := conn.Stream(ctx, rows, w.Add); err != nil {
			return err
		}
		return w.Flush()
	})
}

// Commit calls add, which adds all rows, then writes the files and appends them to the table. Without rows there is no snapshot,
// and 0 is returned. After a failure no new file is left, but after CommitUnknown all are.
func (j *Job) Commit(ctx context.Context, add func() error) (catalog.SnapshotID, error) {
	return j.CommitAs(ctx, Change{}, add)
}

// Change says what becomes of the rows of a job.
type Change struct {
	Branch  string // "" is main; the table is pinned to its head
	WAPID   string // stages the snapshot, see commit.Change
	Replace Replace
	// Where says exactly which rows are replaced by Matching, and Text says it to people.
	Where catalog.Filter
	Text  string
	// whole are data files that are replaced by Matching as a whole, by the bounds of their columns: CheckReplace finds them.
	whole []catalog.DataFile
}

// Replace says which rows of the table the new ones replace.
type Replace uint8

// What is replaced.
const (
	Nothing    Replace = iota
	Partitions         // all rows of the partitions that the new rows are in; of an unpartitioned table all rows
	Everything         // all rows, also when there are no new ones
	Matching           // the rows that satisfy Change.Where, likewise
)

// CommitAs is Commit of other changes than appends to main. Rows that others changed meanwhile, and that are replaced, are a
// Conflict: what was written may depend on them.
func (j *Job) CommitAs(ctx context.Context, how Change, add func() error) (id catalog.SnapshotID, err error) {
	defer func() {
		if err != nil && errs.KindOf(err) != errs.CommitUnknown {
			err = errors.Join(err, j.Discard(ctx))
		}
	}()
	if err := add(); err != nil {
		return 0, err
	}
	files, err := j.Finish(ctx)
	isNothing := len(files) == 0 && (how.Replace < Everything || j.target.table.Snapshot == nil)
	if err != nil || isNothing {
		return 0, err
	}
	change := commit.Change{Kind: commit.Append, Branch: how.Branch, WAPID: how.WAPID}
	for _, f := range files {
		change.Add = append(change.Add, f.File)
	}
	switch how.Replace {
	case Partitions:
		change.Kind, change.Replace = commit.Overwrite, commit.PartitionsOf(j.target.table.Spec(), change.Add)
		if err := j.keepOthers(ctx, &change); err != nil {
			return 0, err
		}
	case Everything:
		change.Kind, change.Replace = commit.Overwrite, commit.WholeTable()
	case Matching:
		change.Kind, change.Replace = commit.Overwrite, commit.Matching(how.Where)
		change.Remove, change.Reads = how.whole, how.Where
	}
	done, err := j.catalog.Commit(ctx, j.target.table, change)
	return done.Snapshot, err
}

// CheckReplace finds the files that an overwrite by a condition replaces as a whole, and refuses one that can't be committed, before its
// rows are computed: where data files may hold rows to be replaced and others.
func (t *Target) CheckReplace(ctx context.Context, c *lake.Catalog, how *Change) error {
	if how.Replace != Matching || t.table.Snapshot == nil {
		return nil
	}
	layout, err := c.SurveyWhole(ctx, t.table, how.Where, how.Where)
	if err != nil {
		return err
	}
	isMixed := false
	for _, g := range layout.Groups {
		isMixed = isMixed || !how.Where.HoldsThroughout(t.table.Specs[g.Spec], g.Partition)
	}
	if !isMixed {
		return nil
	}
	return layout.Files(ctx, func(f catalog.DataFile) error {
		spec := t.table.Specs[f.Spec]
		switch {
		case how.Where.HoldsThroughout(spec, f.Partition):
		case f.Whole:
			how.whole = append(how.whole, f)
		default:
			return errs.New(errs.Unsupported, "overwrite", t.table.Ident.String(), "files of the partition %s may hold rows for which %s holds and others, such as %s",
				partitionText(spec, f.Partition), how.Text, f.Ref.Path).
				WithHint("replace whole partitions, rewrite files of older partition specs first, or delete the rows by a condition")
		}
		return nil
	})
}

func partitionText(spec catalog.PartitionSpec, tuple []value) string {
	if len(spec.Fields) == 0 {
		return "of an unpartitioned spec"
	}
	parts := make([]string, len(spec.Fields))
	for i, f := range spec.Fields {
		parts[i] = f.Name + "=" + f.Transform.Human(f.SourceType, tuple[i])
	}
	return strings.Join(parts, "/")
}
