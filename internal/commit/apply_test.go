package commit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// metadataFiles lists the manifests and lists that are on disk.
func (m *memTable) metadataFiles(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob(m.current.Folder + "/*.avro")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// inUse lists the manifests and lists that the table's snapshots name.
func (m *memTable) inUse(t testing.TB) int {
	t.Helper()
	named := map[string]bool{}
	for _, s := range m.current.Snapshots {
		list, err := s.Manifests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			named[m.Path] = true
		}
	}
	return len(named) + len(m.current.Snapshots)
}

func (m *memTable) checkNoOrphans(t testing.TB) {
	t.Helper()
	if files, used := m.metadataFiles(t), m.inUse(t); len(files) != used {
		t.Errorf("%d metadata files are there, and %d in use", len(files), used)
	}
}

// TestRaces has another writer commit between the validation of a change and its publication.
func TestRaces(t *testing.T) {
	overwrite := func(c Change) Change {
		c.Kind = Overwrite
		return c
	}
	for _, c := range []struct {
		name  string
		other Change
		mine  func(base map[string]*manifest.Entry) Change
		kind  errs.Kind // 0: no error
		want  []string
	}{
		{"two appends", Change{Add: []manifest.File{file("x", int32(1))}}, func(map[string]*manifest.Entry) Change {
			return Change{Add: []manifest.File{file("y", int32(1))}}
		}, 0, []string{"a", "b", "x", "y"}},
		{"an append beside an overwrite of other rows", Change{Add: []manifest.File{file("x", int32(2))}}, func(map[string]*manifest.Entry) Change {
			return overwrite(Change{Add: []manifest.File{file("y", int32(1))}, Remove: dataFiles("a", int32(1)), Isolation: Snapshot})
		}, 0, []string{"b", "x", "y"}},
		{"an append beside a serializable overwrite", Change{Add: []manifest.File{file("x", int32(2))}}, func(map[string]*manifest.Entry) Change {
			return overwrite(Change{Add: []manifest.File{file("y", int32(1))}, Remove: dataFiles("a", int32(1))})
		}, errs.Conflict, []string{"a", "b", "x"}},
		{"two overwrites of one file", overwrite(Change{Add: []manifest.File{file("x", int32(1))}, Remove: dataFiles("a", int32(1))}), func(map[string]*manifest.Entry) Change {
			return overwrite(Change{Add: []manifest.File{file("y", int32(1))}, Remove: dataFiles("a", int32(1)), Isolation: Snapshot})
		}, errs.Conflict, []string{"b", "x"}},
	} {
		m := newTable(t, 2, "identity")
		m.must(t, Change{Add: []manifest.File{file("a", int32(1)), file("b", int32(2))}})
		m.before = func() { m.must(t, c.other) }
		_, err := m.apply(t, c.mine(nil))
		if errs.KindOf(err) != c.kind || (err != nil) != (c.kind != 0) || err != nil && errs.HintOf(err) == "" {
			t.Errorf("%s: %v", c.name, err)
		}
		var got []string
		for path := range m.entries(t, m.head("main")) {
			got = append(got, path)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: the table has %v, want %v", c.name, got, c.want)
		}
		m.checkNoOrphans(t)
	}
}

func dataFiles(path string, partition ...transform.Value) []catalog.DataFile {
	return []catalog.DataFile{{Ref: catalog.FileRef{Path: path}, Partition: partition, Sequence: 1}}
}

// TestLostAnswers is MNT-5 and MNT-6: the catalog takes the commit, and its answer is lost.
func TestLostAnswers(t *testing.T) {
	m := newTable(t, 2)
	m.must(t, Change{Add: []manifest.File{file("a")}})
	m.lost = true
	done := m.must(t, Change{Add: []manifest.File{file("b")}})
	if head := m.head("main"); head.ID != int64(done.Snapshot) || len(m.entries(t, head)) != 2 {
		t.Errorf("%+v, %+v", done, head)
	}
	m.checkNoOrphans(t)
	before := len(m.metadataFiles(t))
	blind := &blindTable{memTable: m}
	m.lost = true
	base := catalog.SnapshotID(m.head("main").ID)
	_, err := Apply(t.Context(), blind, "t", m.current, Change{Add: []manifest.File{file("c")}, Base: &base})
	if errs.KindOf(err) != errs.CommitUnknown || errs.HintOf(err) == "" {
		t.Errorf("nobody can tell, and it says %v", err)
	}
	if left := len(m.metadataFiles(t)); left != before+2 || len(m.entries(t, m.head("main"))) != 3 {
		t.Errorf("of %d files and 2 new ones %d are left", before, left)
	}
}

// TestLostAnswersOfEveryKind: the commit was taken and is found, whatever it did.
func TestLostAnswersOfEveryKind(t *testing.T) {
	seq := int64(1)
	position := DeleteFile(catalog.DeleteFile{Ref: catalog.FileRef{Path: "d", Bytes: 5}, Partition: []transform.Value{int32(1)}, Rows: 1, Target: "a"})
	for name, c := range map[string]Change{
		"overwrite": {Kind: Overwrite, Add: []manifest.File{file("x", int32(1))}, Remove: dataFiles("a", int32(1))},
		"delta":     {Kind: RowDelta, AddDeletes: []manifest.File{position}},
		"rewrite":   {Kind: Rewrite, Add: []manifest.File{file("x", int32(1))}, Remove: dataFiles("a", int32(1)), DataSequence: &seq},
	} {
		m := newTable(t, 2, "identity")
		m.must(t, Change{Add: []manifest.File{file("a", int32(1)), file("b", int32(2))}})
		m.lost = true
		done := m.must(t, c)
		if head := m.head("main"); head.ID != int64(done.Snapshot) || len(m.current.Snapshots) != 2 {
			t.Errorf("%s: %+v, %+v", name, done, m.current.Snapshots)
		}
		m.checkNoOrphans(t)
	}
}

// createdFiles notes the files that are made.
type createdFiles struct {
	fileio.Files
	names []string
}

func (f *createdFiles) Create(ctx context.Context, path string, data []byte) error {
	f.names = append(f.names, filepath.Base(path))
	return f.Files.Create(ctx, path, data)
}

// TestARetryWritesWhatHasChanged: manifests that stand for the same as in the try before aren't written again.
func TestARetryWritesWhatHasChanged(t *testing.T) {
	m := newTable(t, 2, "identity")
	m.must(t, Change{Add: []manifest.File{file("a", int32(1)), file("b", int32(2))}})
	own := &createdFiles{Files: m.files}
	mine := &repeatedly{memTable: m, files: own, others: 3}
	base := catalog.SnapshotID(m.head("main").ID)
	_, err := Apply(t.Context(), mine, "t", m.current, Change{
		Kind: Overwrite, Add: []manifest.File{file("x", int32(1))}, Remove: dataFiles("a", int32(1)), Base: &base, Isolation: Snapshot,
	})
	lists := 0
	for _, name := range own.names {
		if strings.HasPrefix(name, "snap-") {
			lists++
		}
	}
	// The new file's manifest and the one that a is gone from, once each, and a list for each try.
	if err != nil || lists != 4 || len(own.names) != lists+2 {
		t.Errorf("%v; made were %v", err, own.names)
	}
	if got := m.entries(t, m.head("main")); len(got) != 5 {
		t.Errorf("the table has %d files", len(got))
	}
	m.checkNoOrphans(t)
}

// repeatedly lets other writers append before each publish, so many times, and has files of its own.
type repeatedly struct {
	*memTable
	files  fileio.Files
	others int
}

func (r *repeatedly) Files() fileio.Files { return r.files }

func (r *repeatedly) Publish(ctx context.Context, on *Version, s *NewSnapshot, branch string) error {
	if r.others > 0 {
		r.others--
		if _, err := Apply(ctx, r.memTable, "t", r.current, Change{Add: []manifest.File{file(fmt.Sprint("other", r.others), int32(1))}}); err != nil {
			return err
		}
	}
	return r.memTable.Publish(ctx, on, s, branch)
}

// blindTable can't be read after the first publish.
type blindTable struct {
	*memTable
	blind bool
}

func (b *blindTable) Newest(ctx context.Context) (*Version, error) {
	if b.blind {
		return nil, errs.New(errs.Transient, "load", "t", "no connection")
	}
	return b.memTable.Newest(ctx)
}

func (b *blindTable) Publish(ctx context.Context, on *Version, s *NewSnapshot, branch string) error {
	b.blind = true
	return b.memTable.Publish(ctx, on, s, branch)
}

// repeating takes the commit and then says that another one came first, as where a request is repeated on its way.
type repeating struct {
	*memTable
	then func() // called before it says so
}

func (r repeating) Publish(ctx context.Context, on *Version, s *NewSnapshot, branch string) error {
	if err := r.memTable.Publish(ctx, on, s, branch); err != nil {
		return err
	}
	r.then()
	return errs.New(errs.Conflict, "publish", "t", "another version is current")
}

// TestACommitMeetsItself: there is no other try in which to find that the first one was taken.
func TestACommitMeetsItself(t *testing.T) {
	for _, retries := range []string{"0", "5"} {
		m := newTable(t, 2)
		m.setProperty("commit.retry.num-retries", retries)
		ctx, cancel := context.WithCancel(t.Context())
		r := repeating{m, func() {
			m.must(t, Change{Add: []manifest.File{file("b")}})
			cancel()
		}}
		done, err := Apply(ctx, r, "t", m.current, Change{Add: []manifest.File{file("a")}})
		if err != nil || len(m.current.Snapshots) != 2 || m.current.snapshot(int64(done.Snapshot)) == nil || len(m.entries(t, m.head("main"))) != 2 {
			t.Errorf("%v, %+v", err, m.current.Snapshots)
		}
		m.checkNoOrphans(t)
	}
}

// TestALostAnswerAfterAnotherWriter: what the first try wrote for a snapshot of its own is removed.
func TestALostAnswerAfterAnotherWriter(t *testing.T) {
	m := newTable(t, 2)
	m.before = func() {
		m.must(t, Change{Add: []manifest.File{file("a")}})
		m.lost = true
	}
	m.must(t, Change{Add: []manifest.File{file("b")}})
	if len(m.entries(t, m.head("main"))) != 2 {
		t.Errorf("%+v", m.current.Snapshots)
	}
	m.checkNoOrphans(t)
}

func TestFailuresLeaveNothing(t *testing.T) {
	m := newTable(t, 2, "identity")
	m.must(t, Change{Add: []manifest.File{file("a", int32(1))}})
	m.setProperty("commit.retry.num-retries", "0")
	m.before = func() { m.must(t, Change{Add: []manifest.File{file("b", int32(1))}}) }
	if _, err := m.apply(t, Change{Add: []manifest.File{file("c", int32(1))}}); errs.KindOf(err) != errs.Conflict {
		t.Errorf("without retries: %v", err)
	}
	m.checkNoOrphans(t)
	ctx, cancel := context.WithCancel(t.Context())
	m.before = cancel
	if _, err := Apply(ctx, m, "t", m.current, Change{Add: []manifest.File{file("c", int32(1))}}); errs.KindOf(err) != errs.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	m.checkNoOrphans(t)
	if got := len(m.entries(t, m.head("main"))); got != 2 {
		t.Errorf("%d files", got)
	}
}

func TestBranchesThatChange(t *testing.T) {
	m := newTable(t, 2)
	m.must(t, Change{Add: []manifest.File{file("a")}})
	m.must(t, Change{Add: []manifest.File{file("b")}, Branch: "dev"})
	base := m.current
	next := *m.current
	next.Refs = map[string]Ref{"main": m.current.Refs["main"], "release": {Snapshot: m.head("main").ID, IsTag: true}}
	m.current = &next
	_, err := Apply(t.Context(), m, "t", base, Change{Add: []manifest.File{file("c")}, Branch: "dev"})
	if errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), `"dev" was dropped`) {
		t.Errorf("a dropped branch: %v", err)
	}
	if _, err := m.apply(t, Change{Add: []manifest.File{file("c")}, Branch: "release"}); errs.KindOf(err) != errs.Invalid {
		t.Errorf("a tag: %v", err)
	}
	// What was decided on a snapshot that main no longer comes from can't be validated.
	lost := catalog.SnapshotID(77)
	_, err = m.apply(t, Change{Kind: Overwrite, Remove: dataFiles("a"), Base: &lost})
	if errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), "history") {
		t.Errorf("a lost base: %v", err)
	}
	// It is no matter to a change that doesn't mind what came since.
	m.must(t, Change{Kind: Overwrite, Add: []manifest.File{file("d")}, Replace: WholeTable(), Isolation: Blind, Base: &lost})
	m.checkNoOrphans(t)
}

// TestASpecThatIsGone: the change was made for a spec that another writer removed.
func TestASpecThatIsGone(t *testing.T) {
	m := newTable(t, 2)
	before := m.current
	m.addSpec(t, "identity")
	base := m.current
	m.current = before
	added := file("a", int32(1))
	added.Spec = 1
	c := Change{Add: []manifest.File{added}}
	if _, err := Apply(t.Context(), m, "t", base, c); errs.KindOf(err) != errs.Conflict || errs.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	if _, err := Apply(t.Context(), m, "t", before, c); errs.KindOf(err) != errs.Invalid {
		t.Errorf("it never had the spec: %v", err)
	}
	m.checkNoOrphans(t)
}

// TestMergedManifests fills a table by many small appends, each of all buckets, and counts the manifests that one bucket is in.
func TestMergedManifests(t *testing.T) {
	const buckets, appends = 64, 150
	m := newTable(t, 2, "bucket[64]")
	for i := range appends {
		var files []manifest.File
		for b := range buckets {
			files = append(files, file(fmt.Sprintf("%d-%d", i, b), int32(b)))
		}
		m.must(t, Change{Add: files})
	}
	list, err := m.head("main").Manifests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(m.entries(t, m.head("main"))); got != buckets*appends {
		t.Errorf("%d files of %d", got, buckets*appends)
	}
	p := newPartitions(m.current)
	p.add(0, []transform.Value{int32(7)})
	large, found := 0, 0
	for i := range list {
		if live, _ := list[i].Live(); live < fullEntries/2 {
			continue
		}
		if large++; p.mayBeIn(&list[i]) {
			found++
		}
	}
	// The 100th append merged the 99 before it, and it and the 50 after it are left as they came.
	if len(list) != large+appends-99 || large < 5 || large > 13 || found != 1 {
		t.Errorf("%d manifests, %d of them merged, and one bucket is in %d of those", len(list), large, found)
	}
	// A bucket is found by its partition again: the manifests of the others aren't read.
	p = newPartitions(m.current)
	p.add(0, []transform.Value{int32(70)})
	if slices.ContainsFunc(list, func(m manifest.Info) bool { return p.mayBeIn(&m) }) {
		t.Error("a bucket that isn't there may be in a manifest")
	}
}

// TestManifestsThatCantBeMerged: an append doesn't need the old manifests of a lost column's partitions, or damaged ones.
func TestManifestsThatCantBeMerged(t *testing.T) {
	for name, spoil := range map[string]func(m *memTable){
		"a lost column": func(m *memTable) {
			spec := m.current.Specs[0]
			spec.Fields = slices.Clone(spec.Fields)
			spec.Fields[0].SourceType = transform.Type{}
			m.current.Specs[0] = spec
		},
		"damage": func(m *memTable) {
			list, err := m.head("main").Manifests(t.Context())
			if err == nil {
				err = os.WriteFile(list[0].Path, []byte("Obj"), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		m := newTable(t, 2, "identity")
		m.setProperty("commit.manifest.min-count-to-merge", "2")
		m.must(t, Change{Add: []manifest.File{file("a", int32(1))}})
		m.must(t, Change{Add: []manifest.File{file("b", int32(1))}})
		m.addSpec(t)
		spoil(m)
		added := file("c")
		added.Spec = 1
		m.must(t, Change{Add: []manifest.File{added}})
		if list, err := m.head("main").Manifests(t.Context()); err != nil || len(list) != 3 {
			t.Errorf("%s: %d manifests, %v", name, len(list), err)
		}
		m.checkNoOrphans(t)
	}
}

// TestManifestsHaveTheTargetSize splits the manifest of an unpartitioned table.
func TestManifestsHaveTheTargetSize(t *testing.T) {
	m := newTable(t, 2)
	m.setProperty("commit.manifest.target-size-bytes", "20000")
	var files []manifest.File
	for i := range 4000 {
		files = append(files, file(fmt.Sprintf("/a/long/path/of/no/consequence/%x-%d", i*7919, i)))
	}
	m.must(t, Change{Add: files})
	list, err := m.head("main").Manifests(t.Context())
	if err != nil || len(list) < 2 || len(m.entries(t, m.head("main"))) != len(files) {
		t.Errorf("%d manifests, %v", len(list), err)
	}
	for _, info := range list {
		if data, err := os.ReadFile(info.Path); err != nil || int64(len(data)) != info.Length || info.Length > 60000 {
			t.Errorf("%d bytes, listed as %d, %v", len(data), info.Length, err)
		}
	}
}

// TestEveryManifestHasAnEntry gives manifests less space than their headers take.
func TestEveryManifestHasAnEntry(t *testing.T) {
	for _, target := range []string{"0", "1"} {
		m := newTable(t, 2)
		m.setProperty("commit.manifest.target-size-bytes", target)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := Apply(ctx, m, "t", m.current, Change{Add: []manifest.File{file("a"), file("b")}})
		cancel()
		if err != nil {
			t.Fatalf("a target of %s bytes: %v", target, err)
		}
		list, err := m.head("main").Manifests(t.Context())
		if err != nil || len(list) != 2 || len(m.entries(t, m.head("main"))) != 2 {
			t.Errorf("a target of %s bytes: %d manifests, %v", target, len(list), err)
		}
	}
}

// TestRewrittenEntriesKeepAllTheyHave removes one file beside another that has every field a file may have.
func TestRewrittenEntriesKeepAllTheyHave(t *testing.T) {
	m := newTable(t, 3, "identity")
	order := 3
	rich := manifest.File{
		Path: "rich", Format: catalog.Parquet, Partition: []transform.Value{int32(1)}, Rows: 7, Bytes: 70,
		ColumnSizes: map[int]int64{1: 5}, ValueCounts: map[int]int64{1: 7}, NullCounts: map[int]int64{1: 0}, NaNCounts: map[int]int64{},
		Lower: map[int][]byte{1: {1, 0, 0, 0}, 2: {}}, Upper: map[int][]byte{1: {1, 0, 0, 0}}, SplitOffsets: []int64{4, 100}, SortOrderID: &order,
	}
	m.must(t, Change{Add: []manifest.File{rich, file("gone", int32(1))}})
	before := m.entries(t, m.head("main"))["rich"]
	m.must(t, Change{Kind: Overwrite, Remove: dataFiles("gone", int32(1))})
	after := m.entries(t, m.head("main"))["rich"]
	if before.Status = manifest.Existing; !reflect.DeepEqual(before, after) {
		t.Errorf("%+v became %+v", before, after)
	}
	if *after.FirstRowID != 0 || after.Lower[2] == nil || after.NaNCounts == nil || after.EqualityIDs != nil {
		t.Errorf("%+v", after)
	}
}

// TestPartitionsOfEveryType writes a file of a partition of each type and removes it again, which needs all that is written of
// the value: in the entry, and in the manifest list.
func TestPartitionsOfEveryType(t *testing.T) {
	for text, value := range partitionValues() {
		typ, err := transform.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []int{1, 2, 3} {
			m := newTable(t, format, "identity", "identity")
			spec := m.current.Specs[0]
			for i := range spec.Fields {
				spec.Fields[i].SourceType = typ
			}
			m.must(t, Change{Add: []manifest.File{file("a", value, value), file("n", nil, value)}})
			got := m.entries(t, m.head("main"))["a"].Partition
			if catalog.TupleKey(0, got) != catalog.TupleKey(0, []transform.Value{value, value}) {
				t.Errorf("%s, format %d: %v became %v", text, format, value, got)
			}
			m.must(t, Change{Kind: Overwrite, Remove: dataFiles("a", value, value)})
			if left := m.entries(t, m.head("main")); len(left) != 1 || left["n"] == nil {
				t.Errorf("%s, format %d: %v is left", text, format, left)
			}
		}
	}
}

// TestManifestsOfLostColumns is EVP-1: the source column of an older spec is gone from the metadata, and with it the type of
// its partition values. What the transform gives whatever it is applied to is known still.
func TestManifestsOfLostColumns(t *testing.T) {
	for fn, value := range map[string]transform.Value{"bucket[4]": int32(3), "void": nil} {
		m := newTable(t, 2, fn)
		m.must(t, Change{Add: []manifest.File{file("a", value), file("b", value)}})
		m.current.Specs[0].Fields[0].SourceType = transform.Type{}
		m.must(t, Change{Kind: Overwrite, Remove: dataFiles("a", value)})
		left := m.entries(t, m.head("main"))
		if len(left) != 1 || !reflect.DeepEqual(left["b"].Partition, []transform.Value{value}) {
			t.Errorf("%s: %+v", fn, left)
		}
	}
	m := newTable(t, 2, "identity")
	m.must(t, Change{Add: []manifest.File{file("a", int32(1)), file("b", int32(1))}})
	m.current.Specs[0].Fields[0].SourceType = transform.Type{}
	if _, err := m.apply(t, Change{Kind: Overwrite, Remove: dataFiles("a", int32(1))}); errs.KindOf(err) != errs.Unsupported {
		t.Errorf("a type is guessed: %v", err)
	}
	if _, err := m.apply(t, Change{Add: []manifest.File{file("c", int32(1))}}); errs.KindOf(err) != errs.Unsupported {
		t.Errorf("a type is guessed: %v", err)
	}
	m.checkNoOrphans(t)
}

// TestListsWithoutCounts: a manifest list of format version 1 needn't say how many files a manifest has, and later ones must.
func TestListsWithoutCounts(t *testing.T) {
	m := newTable(t, 1)
	m.must(t, Change{Add: []manifest.File{file("a"), file("b")}})
	m.must(t, Change{Kind: Overwrite, Remove: dataFiles("a")})
	head := m.current.Snapshots[1]
	own := head.Manifests
	head.Manifests = func(ctx context.Context) ([]manifest.Info, error) {
		list, err := own(ctx)
		for i := range list {
			for _, n := range []*int64{&list[i].AddedFiles, &list[i].ExistingFiles, &list[i].DeletedFiles, &list[i].AddedRows, &list[i].ExistingRows, &list[i].DeletedRows} {
				*n = manifest.UnknownCount
			}
		}
		return list, err
	}
	upgraded := *m.current
	upgraded.Format = 2
	m.current = &upgraded
	m.must(t, Change{Add: []manifest.File{file("c")}})
	list, err := m.head("main").Manifests(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if old := list[1]; old.AddedFiles != 0 || old.ExistingFiles != 1 || old.DeletedFiles != 1 || old.ExistingRows != 10 || old.DeletedRows != 10 || old.Sequence != 0 {
		t.Errorf("%+v", old)
	}
}

// TestEVP9: NULL, 'null' and the empty string are three partitions, and one is replaced without the others.
func TestEVP9(t *testing.T) {
	m := newTable(t, 2, "identity")
	m.current.Specs[0].Fields[0].SourceType = transform.Type{Kind: transform.String}
	m.must(t, Change{Add: []manifest.File{file("none", nil), file("word", "null"), file("empty", ""), file("hive", "__HIVE_DEFAULT_PARTITION__")}})
	for i, value := range []transform.Value{"null", nil, ""} {
		add := []manifest.File{file(fmt.Sprint("new", i), value)}
		m.must(t, Change{Kind: Overwrite, Add: add, Replace: PartitionsOf(m.current.Specs[0], add)})
	}
	var left []string
	for path := range m.entries(t, m.head("main")) {
		left = append(left, path)
	}
	if slices.Sort(left); !slices.Equal(left, []string{"hive", "new0", "new1", "new2"}) {
		t.Errorf("left are %v", left)
	}
}

// TestOverwritesReadFewManifests counts the manifests that a dynamic overwrite and a copy on write open in a table whose
// manifests have one partition each.
func TestOverwritesReadFewManifests(t *testing.T) {
	m := newTable(t, 2, "identity")
	for p := range 30 {
		m.must(t, Change{Add: []manifest.File{file(fmt.Sprint("f", p), int32(p))}})
	}
	counted := &countingFiles{Files: m.files}
	m.files = counted
	dynamic, rewritten := []manifest.File{file("dynamic", int32(7))}, []manifest.File{file("rewritten", int32(9))}
	for name, c := range map[string]Change{
		"dynamic overwrite": {Kind: Overwrite, Add: dynamic, Replace: PartitionsOf(m.current.Specs[0], dynamic)},
		"copy on write":     {Kind: Overwrite, Add: rewritten, Remove: dataFiles("f9", int32(9))},
	} {
		counted.opened = 0
		m.must(t, c)
		if counted.opened > 3 { // the list, and the manifest once to look and once to rewrite it
			t.Errorf("a %s opens %d files", name, counted.opened)
		}
	}
}

type countingFiles struct {
	fileio.Files
	opened int
}

func (c *countingFiles) Open(ctx context.Context, path string) (fileio.File, error) {
	c.opened++
	return c.Files.Open(ctx, path)
}

// TestNewRequiredColumns: rows that were made for a table without a column can't be part of one that must have it.
func TestNewRequiredColumns(t *testing.T) {
	m := newTable(t, 2)
	base := m.current
	replaced := *base
	replaced.Required = map[int]string{7: "x"}
	m.current = &replaced
	_, err := Apply(t.Context(), m, "t", base, Change{Add: []manifest.File{file("a")}})
	if errs.KindOf(err) != errs.Conflict || len(m.current.Snapshots) != 0 {
		t.Errorf("%v, %d snapshots", err, len(m.current.Snapshots))
	}
	m.must(t, Change{Add: []manifest.File{file("b")}})
}

// TestFilesThatWentWithoutATrace: a snapshot that calls itself an append put a's rows elsewhere. Rows of a that an update changed
// would live on there beside the new ones.
func TestFilesThatWentWithoutATrace(t *testing.T) {
	m := newTable(t, 2, "identity")
	m.must(t, Change{Add: []manifest.File{file("a", int32(1)), file("b", int32(1))}})
	base := catalog.SnapshotID(m.head("main").ID)
	m.must(t, Change{Kind: Rewrite, Base: &base, Add: []manifest.File{file("c", int32(1))}, Remove: dataFiles("a", int32(1))})
	m.head("main").Operation = "append"
	update := func(path string) error {
		d := file("d-"+path, int32(1))
		d.Content = manifest.PositionDeletes
		_, err := m.apply(t, Change{
			Kind: RowDelta, Base: &base, Isolation: Snapshot, Add: []manifest.File{file("new-"+path, int32(1))}, AddDeletes: []manifest.File{d},
			Referenced: []string{path},
		})
		return err
	}
	if err := update("a"); errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), "no longer part of the table") {
		t.Errorf("an update of a: %v", err)
	}
	if err := update("b"); err != nil {
		t.Errorf("an update of b: %v", err)
	}
}

// TestSpecsOfDroppedColumns: rows of files of an old spec may be deleted, whose source column no schema has any more.
func TestSpecsOfDroppedColumns(t *testing.T) {
	for transformed, kind := range map[string]errs.Kind{"bucket[4]": 0, "identity": errs.Unsupported} {
		m := newTable(t, 3, transformed)
		m.must(t, Change{Add: []manifest.File{file("a", int32(1))}})
		spec := m.current.Specs[0]
		spec.Fields[0].SourceType = transform.Type{}
		vector := DeleteFile(catalog.DeleteFile{
			Ref: catalog.FileRef{Path: "d", Bytes: 50}, Kind: catalog.DeletionVector, Partition: []transform.Value{int32(1)}, Rows: 1, Target: "a", Offset: 4, Length: 40,
		})
		_, err := m.apply(t, Change{Kind: RowDelta, AddDeletes: []manifest.File{vector}})
		if (err != nil) != (kind != 0) || err != nil && errs.KindOf(err) != kind {
			t.Errorf("%s: %v", transformed, err)
		}
		if e := m.entries(t, m.head("main"))["da"]; err == nil && (e == nil || e.Partition[0] != int32(1)) {
			t.Errorf("%s: the vector is %+v", transformed, e)
		}
	}
}

// TestSizesOfManifests: Iceberg's engines take a size of more than 32 bits, and nothing else so large.
func TestSizesOfManifests(t *testing.T) {
	for _, p := range []map[string]string{{"commit.manifest.target-size-bytes": "4294967296"}, {"commit.manifest.target-size-bytes": "9223372036854775807"}} {
		m := newTable(t, 2, "identity")
		for name, value := range p {
			m.setProperty(name, value)
		}
		if err := CheckProperties(p); err != nil {
			t.Errorf("%v: %v", p, err)
		}
		m.must(t, Change{Add: []manifest.File{file("a", int32(1))}})
		m.must(t, Change{Add: []manifest.File{file("b", int32(2))}})
	}
	for name, value := range map[string]string{
		"commit.manifest.target-size-bytes": "9223372036854775808", "commit.retry.num-retries": "4294967296", "commit.manifest.min-count-to-merge": "-1",
	} {
		if err := CheckProperties(map[string]string{name: value}); errs.KindOf(err) != errs.Invalid || err == nil {
			t.Errorf("%s of %s: %v", name, value, err)
		}
	}
}
