package commit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
)

// JobProperty is the property of a snapshot's summary that has the identity of the job that made it.
const JobProperty = "tarn.job-id"

// mainBranch is the branch that queries read.
const mainBranch = "main"

// Apply commits a change to a table as one snapshot; name is the table's, for errors, and base the version that the change
// was decided on. It has three outcomes. Done. Failed: the table is as if nothing had been tried, and no metadata file that was
// written for it is left, as far as files can be removed; Conflict says that another writer's change is in the way, and that
// the statement may be made again from the start. And CommitUnknown: the catalog may or may not have taken the snapshot, and
// nothing is removed.
//
// Where another writer merely came first, the change is validated against the newer version and tried again, as often as its Tries
// or else the table's properties say. Data and delete files of the change are the caller's to remove after a failure or a repeated job.
func Apply(ctx context.Context, t Table, name string, base *Version, c Change) (Result, error) {
	a := &applier{
		table: t, name: name, base: base, change: c, id: rand.Int64(), commitID: uuid.NewString(),
		made: map[string]made{},
	}
	retry, err := RetryOf(base.Properties)
	if err != nil {
		return Result{}, err
	}
	tries := c.Tries
	if tries == nil {
		tries = retry.Begin()
	}
	landed := false
	err = tries.Do(ctx, func(int) (again bool, err error) {
		landed, err = a.try(ctx)
		return errors.Is(err, errBeaten), err
	})
	if errs.KindOf(err) != errs.CommitUnknown {
		a.clean(ctx, landed)
	}
	if err != nil {
		return Result{}, err
	}
	return a.result, nil
}

// errBeaten marks a Conflict after which the change may be tried again as it is.
var errBeaten = errors.New("another writer came first")

// applier is one change on its way.
type applier struct {
	table    Table
	name     string
	base     *Version // the version that the change was decided on
	change   Change
	id       int64
	commitID string
	reader   *manifest.Reader // of the newest version

	result  Result
	written []string        // metadata files
	needed  map[string]bool // those of them, and others, that the snapshot has as it was built last
	made    map[string]made // manifests by what they were made from, for the next try
}

// op is what errors say was attempted.
const op = "commit to"

func (a *applier) fail(kind errs.Kind, format string, args ...any) *errs.Error {
	return errs.New(kind, op, a.name, format, args...)
}

func (a *applier) conflict(format string, args ...any) error {
	return a.fail(errs.Conflict, format, args...).WithHint("another change came first; run the statement again")
}

// try makes one attempt on the newest version, and says whether the snapshot is the table's.
func (a *applier) try(ctx context.Context) (landed bool, err error) {
	v, err := a.table.Newest(ctx)
	if err != nil {
		return false, err
	}
	if a.isIn(v) {
		return true, nil
	}
	if v.Refused != nil {
		return false, v.Refused
	}
	if v.Format != a.base.Format {
		return false, a.conflict("the table was upgraded to format version %d", v.Format)
	}
	if err := a.check(v); err != nil {
		if a.check(a.base) == nil { // such as when a partition spec was removed
			err = a.conflict("the change doesn't fit the table any more: %v", err)
		}
		return false, err
	}
	a.reader = manifest.NewReader(a.table.Files(), v.Specs)
	head, err := a.head(v)
	if err != nil || a.committed(v, head) {
		return false, err
	}
	if a.staged(v) {
		if err := CheckWAPID(v, a.name, a.change.WAPID); err != nil {
			return false, err
		}
	}
	if err := a.validate(ctx, v, head); err != nil {
		return false, err
	}
	next, err := a.build(ctx, v, head)
	if err != nil {
		return false, err
	}
	return a.publish(ctx, v, next)
}

// head returns the snapshot that the new one follows; nil for the first of a table.
func (a *applier) head(v *Version) (*OldSnapshot, error) {
	name := a.branch()
	ref, ok := v.Refs[name]
	_, was := a.base.Refs[name]
	switch {
	case ok && ref.IsTag:
		return nil, a.fail(errs.Invalid, "%q is a tag, which can't be written to", name)
	case !ok && was:
		return nil, a.conflict("the branch %q was dropped", name)
	case !ok:
		if ref, ok = v.Refs[mainBranch]; !ok {
			return nil, nil
		}
	}
	head := v.snapshot(ref.Snapshot)
	if head == nil {
		return nil, a.fail(errs.Corrupt, "%q is at snapshot %d, which isn't there", name, ref.Snapshot)
	}
	return head, nil
}

func (a *applier) branch() string {
	if a.change.Branch == "" {
		return mainBranch
	}
	return a.change.Branch
}

// staged says whether the snapshot is only staged.
func (a *applier) staged(v *Version) bool {
	return a.change.WAPID != "" && Stages(v.Properties)
}

// committed says whether the job committed before: to the branch, or, of a staged change, anywhere.
func (a *applier) committed(v *Version, head *OldSnapshot) bool {
	if a.change.Job == "" {
		return false
	}
	line, _ := v.ancestors(head)
	staged := a.staged(v)
	if staged {
		line = v.Snapshots
	}
	for _, s := range line {
		if s.Summary[JobProperty] == a.change.Job {
			a.result = Result{Snapshot: catalog.SnapshotID(s.ID), Repeated: true, Staged: staged}
			return true
		}
	}
	return false
}

// build writes the manifests and the manifest list of the snapshot.
func (a *applier) build(ctx context.Context, v *Version, head *OldSnapshot) (*NewSnapshot, error) {
	made, err := a.manifests(ctx, v, head)
	if err != nil {
		return nil, err
	}
	s := &NewSnapshot{
		ID: a.id, TimestampMs: max(time.Now().UnixMilli(), v.LastUpdated), SchemaID: v.SchemaID, Operation: a.operation(), Summary: a.summary(v, head, made),
	}
	if head != nil {
		s.Parent = &head.ID
	}
	if v.Format > 1 {
		s.Sequence = v.Sequence + 1
	}
	list := manifest.List{Version: v.Format, SnapshotID: s.ID, Parent: s.Parent, Sequence: s.Sequence, NextRowID: v.NextRowID}
	data, rows, err := list.Encode(made.list)
	if err != nil {
		return nil, err
	}
	if v.Format > 2 {
		first := v.NextRowID
		s.FirstRowID, s.AddedRows = &first, &rows
	}
	s.List = fileio.Under(v.Folder, fmt.Sprintf("snap-%d-%d-%s.avro", a.id, len(a.written), a.commitID))
	a.needed = map[string]bool{s.List: true}
	for _, m := range made.list {
		a.needed[m.Path] = true
	}
	return s, a.write(ctx, s.List, data)
}

// publish makes the snapshot the table's. Where another writer came first, or the answer was lost, it looks: a catalog that
// repeats a request whose answer was lost says that there is another version, which may be this one or one made of it.
func (a *applier) publish(ctx context.Context, v *Version, next *NewSnapshot) (landed bool, err error) {
	branch := a.branch()
	if a.staged(v) {
		branch = ""
	}
	err = a.table.Publish(ctx, v, next, branch)
	kind := errs.KindOf(err)
	if err == nil {
		a.result = Result{Snapshot: catalog.SnapshotID(a.id), Staged: a.staged(v)}
		return true, nil
	}
	if kind != errs.Conflict && kind != errs.CommitUnknown {
		return false, err
	}
	now, unread := a.table.Newest(context.WithoutCancel(ctx))
	switch {
	case unread == nil && a.isIn(now):
		return true, nil
	case kind == errs.CommitUnknown || unread != nil:
		return false, a.unknown(errors.Join(err, unread))
	}
	beaten := &errs.Error{Kind: errs.Conflict, Op: op, Object: a.name, Err: fmt.Errorf("%w: %w", errBeaten, err)}
	return false, beaten.WithHint("run the statement again, or raise the table's property commit.retry.num-retries")
}

// isIn says whether a version has the snapshot. That it hasn't proves nothing after a lost answer: it may land later.
func (a *applier) isIn(v *Version) bool {
	if v.snapshot(a.id) == nil {
		return false
	}
	a.result = Result{Snapshot: catalog.SnapshotID(a.id), Staged: a.staged(v)}
	return true
}

// unknown is the outcome after which nothing may be removed or tried again.
func (a *applier) unknown(cause error) error {
	unknown := &errs.Error{
		Kind: errs.CommitUnknown, Op: op, Object: a.name, Msg: fmt.Sprintf("whether snapshot %d was committed is not known", a.id), Err: cause,
	}
	return unknown.WithHint("look for the snapshot in the table before trying again: a second commit would make the change twice")
}

// write creates a metadata file.
func (a *applier) write(ctx context.Context, path string, data []byte) error {
	a.written = append(a.written, path)
	return a.table.Files().Create(ctx, path, data)
}

// clean deletes the metadata files that nothing uses: all, or those of earlier tries. What can't be removed is an orphan and
// does no harm.
func (a *applier) clean(ctx context.Context, landed bool) {
	for _, path := range a.written {
		if !landed || !a.needed[path] {
			_ = a.table.Files().Remove(context.WithoutCancel(ctx), path)
		}
	}
}

// properties are those of the summary that the change brings.
func (a *applier) properties(v *Version) map[string]string {
	out := map[string]string{}
	maps.Copy(out, a.change.Properties)
	if a.change.Job != "" {
		out[JobProperty] = a.change.Job
	}
	if a.staged(v) {
		out[WAPProperty] = a.change.WAPID
	}
	if a.change.Replace != nil && a.change.Replace.listed != nil && len(a.change.Remove) == 0 { // else it can't be picked as one
		out["replace-partitions"] = "true"
	}
	return out
}
