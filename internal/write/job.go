package write

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/manifest"
)

// Options are the limits of one job. The zero value of each field is its default.
type Options struct {
	Workers     int    // files that are written at once; 0: one per core
	MemoryBytes int64  // for the whole process; 0: no limit but DuckDB's own
	TempDir     string // where rows lie until they are written; "": the system's
	Unverified  bool   // rows of files that are rewritten aren't checked to be of their partition
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Job writes rows into new data files of a table: rows are added, each to the bin of its partition tuple, then the files are
// written bin by bin. So there is one open file per worker, whatever the number of tuples. It must be closed.
type Job struct {
	target  *Target
	catalog *lake.Catalog
	opts    Options
	id      string // of the job, in the names of its files
	dir     string
	first   *worker // whose instance also knows the types of what is spilled
	bins    *bins
	without map[string]bool // keys of tuples whose rows aren't written
	edits   editsMemory

	mu    sync.Mutex
	kept  map[string]*keptFiles // by their tuples' keys; those that no item has yet
	moved map[string]int64      // rows that files of the table had before, by the keys of the partitions that they are in
	names int                   // files that were named
	paths []string              // of files that were begun
	// prefixes are how the paths of files begin that DuckDB numbers.
	prefixes []catalog.FileRef
	files    []lake.NewDataFile
	// rewritten are the data files that were written anew, by their paths, with the keys of their partitions, and deletes are the
	// delete files that were written, by the data files that they are of.
	rewritten map[string]string
	deletes   map[string]manifest.File
	// isMixed says that nobody can tell what came from where: rows of files that were rewritten were parted.
	isMixed    bool
	isComplete bool // all files are written
}

// Start begins a job.
func Start(ctx context.Context, c *lake.Catalog, target *Target, opts Options) (_ *Job, err error) {
	j := &Job{
		target: target, catalog: c, opts: opts, id: uuid.NewString(),
		moved: map[string]int64{}, rewritten: map[string]string{}, deletes: map[string]manifest.File{},
	}
	j.edits.limit = exec.GoHeapBytes(opts.MemoryBytes) * 3 / 4
	if j.dir, err = os.MkdirTemp(opts.TempDir, "tarn-written-"); err != nil {
		e := &errs.Error{Kind: errs.Resource, Op: "make temporary folder in", Object: opts.TempDir, Err: err}
		return nil, e.WithHint("set the folder for temporary files to one that can be written")
	}
	defer func() {
		if err != nil {
			j.Close()
		}
	}()
	if j.first, err = j.openWorker(ctx, 1, min(typesBytes, opts.MemoryBytes)); err != nil {
		return nil, err
	}
	if len(target.columns) > 0 {
		j.bins, err = j.newBins(j.first, 0)
	}
	return j, err
}

// typesBytes is enough for an instance that holds no rows yet. It isn't set where there is no limit: DuckDB's RESET brings back
// the limit that an instance was opened with, not its default.
const typesBytes = 16 << 20

// Close ends the job and removes its temporary files, not those that it wrote. What can't be removed is left to the end of the
// process: it says nothing of the rows, which may be committed.
func (j *Job) Close() {
	if j.bins != nil {
		_ = j.bins.close()
		j.bins = nil
	}
	if j.first != nil {
		j.first.close()
		j.first = nil
	}
	_ = os.RemoveAll(j.dir)
}

// Discard removes the files that the job wrote, and folders that are empty without them. It must not be called when a commit may
// have taken them.
func (j *Job) Discard(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var failed error
	paths := j.paths
	for _, prefix := range j.prefixes {
		more, err := begunAs(prefix)
		paths, failed = append(paths, more...), errors.Join(failed, err)
	}
	j.paths, j.prefixes = nil, nil
	return errors.Join(failed, j.catalog.Discard(ctx, j.target.table, paths))
}

// begunAs returns the files whose paths begin so, and the beginning itself: its folder may hold nothing.
func begunAs(prefix catalog.FileRef) ([]string, error) {
	paths := []string{prefix.Path}
	dir, name := filepath.Split(prefix.Local)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), name); ok {
			paths = append(paths, prefix.Path+rest)
		}
	}
	return paths, errs.Wrap(errs.Resource, "list files of a failed write", dir, err)
}

// Writer returns where a goroutine adds its rows.
func (j *Job) Writer() *Writer { return j.bins.writer(j.target, j.holdBytes()) }

// holdBytes is how many bytes of rows a writer holds until it writes them to their bins: as many as package exec found best for
// routed rows, or less where memory is short.
func (j *Job) holdBytes() int64 {
	const best, share = 4 << 20, 64
	if j.opts.MemoryBytes > 0 {
		return min(best, j.opts.MemoryBytes/share)
	}
	return best
}

// Finish writes the files of all rows that were added and flushed, and of those that are kept of the files that Rewrite was
// given, and returns them and those that Keepers wrote.
func (j *Job) Finish(ctx context.Context) ([]lake.NewDataFile, error) {
	if j.bins == nil {
		return nil, nil
	}
	if err := j.write(ctx, j.items(j.bins)); err != nil {
		return nil, err
	}
	// Those whose tuple turned out to have no new rows.
	if err := j.write(ctx, j.leftItems()); err != nil {
		return nil, err
	}
	return j.files, nil
}

// write writes items, the largest first.
func (j *Job) write(ctx context.Context, items []item) error {
	if len(items) == 0 {
		return nil
	}
	var bytes int64
	for i := range items {
		bytes += items[i].bytes()
	}
	wanted := min(j.opts.workers(), len(items), 1+int(bytes/workerBytes))
	workers, memory := j.share(wanted)
	threads := 1
	if len(j.target.keys) == 0 { // one large bin gets all threads; rows that are sorted are written in their order, by one
		threads = max(1, j.opts.workers()/workers)
	}
	ctx, stop := exec.WatchMemory(ctx, j.opts.MemoryBytes)
	return stop(j.writeAll(ctx, items, workers, threads, memory))
}

// sortBytes is what an instance should have at least to sort rows of a kilobyte each and write them: with 50 MiB it ran out of
// memory.
const sortBytes = 96 << 20

// share returns how many workers, of those that are wanted, may write files at once, and how much memory each gets; 0 is no limit.
func (j *Job) share(wanted int) (workers int, memory int64) {
	workers, memory = exec.Share(j.opts.MemoryBytes, wanted, j.HeldBytes())
	for len(j.target.keys) > 0 && memory > 0 && memory < sortBytes && workers > 1 {
		workers, memory = exec.Share(j.opts.MemoryBytes, workers-1, j.HeldBytes())
	}
	return workers, memory
}

// workerBytes is how many bytes of rows are worth another worker: it takes some 20 ms to open its instance.
const workerBytes = 4 << 20

// newFile names a file of a tuple.
func (j *Job) newFile(ctx context.Context, tuple []value, place int) (catalog.FileRef, error) {
	return j.newFileOf(ctx, j.target.table.Spec(), tuple, fmt.Sprintf("%05d.parquet", place+1))
}

// newFileOf names a file of a partition of any spec. The name ends as given.
func (j *Job) newFileOf(ctx context.Context, spec catalog.PartitionSpec, tuple []value, ending string) (catalog.FileRef, error) {
	ref, err := j.newRef(ctx, spec, tuple, ending)
	if err == nil {
		j.mu.Lock()
		j.paths = append(j.paths, ref.Path)
		j.mu.Unlock()
	}
	return ref, err
}

// newRef is newFileOf of what isn't yet a file to be removed when the job fails.
func (j *Job) newRef(ctx context.Context, spec catalog.PartitionSpec, tuple []value, ending string) (catalog.FileRef, error) {
	j.mu.Lock()
	task := j.names
	j.names++
	j.mu.Unlock()
	return j.catalog.NewFileRefOf(ctx, j.target.table, spec, tuple, fmt.Sprintf("%05d-%d-%s-%s", 0, task, j.id, ending))
}

// addPrefix has files whose paths begin so removed when the job fails.
func (j *Job) addPrefix(prefix catalog.FileRef) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.prefixes = append(j.prefixes, prefix)
}

func (j *Job) add(f lake.NewDataFile) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.files = append(j.files, f)
}

// spillPrefix names the files of bins of one depth.
func (j *Job) spillPrefix() (string, error) {
	dir, err := os.MkdirTemp(j.dir, "bins-")
	return filepath.Join(dir, "bin"), errs.Wrap(errs.Resource, "make temporary folder in", j.dir, err)
}

// Rows returns how many rows the files of the job have.
func (j *Job) Rows() (sum int64) {
	for _, f := range j.files {
		sum += f.Rows
	}
	return sum
}

// Files returns how many files the job has written.
func (j *Job) Files() int { return len(j.files) }
