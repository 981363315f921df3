package duck

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Options are the limits of one instance. The zero value of each field is its default.
type Options struct {
	Threads      int    // threads that share the work; 0: one per core
	MemoryBytes  int64  // what DuckDB may hold before it spills; 0: 80 % of the machine's memory. Go's heap is not counted
	TempDir      string // folder for spilled data, made when missing; "": the system's. Each instance has a subfolder of its own
	MaxTempBytes int64  // what may be spilled; 0: 90 % of the disk's free space
}

// DB is one in-memory DuckDB instance. It is safe for concurrent use; its connections are not.
type DB struct {
	handle  bindings.Database
	tempDir string
	memory  int64 // what it was opened with; 0: no limit of its own

	close sync.Once

	planning sync.RWMutex // guards the optimizers that are on: shared by who plans a statement, alone who sets them
	avoided  []string     // the optimizers that Avoid switched off

	mu        sync.Mutex              // guards what follows
	own       *Conn                   // on which functions are registered
	verifies  map[transform.Type]bool // the types whose check function is registered
	firstRows map[string]bool         // the names of the aggregates that FirstRow registered
}

// Open starts an instance. It knows no extensions but those linked in, reads nothing of the machine's own DuckDB
// configuration, works in UTC, and has this package's functions.
func Open(ctx context.Context, opts Options) (*DB, error) {
	if err := ctx.Err(); err != nil {
		return nil, canceled(ctx)
	}
	letGo()
	tempDir, err := spillDir(opts.TempDir)
	if err != nil {
		return nil, err
	}
	db := &DB{tempDir: tempDir, memory: opts.MemoryBytes, verifies: map[transform.Type]bool{}, firstRows: map[string]bool{}}
	if db.handle, err = openHandle(opts, tempDir); err != nil {
		return nil, err
	}
	if db.own, err = db.Connect(); err == nil {
		err = db.own.prime()
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// prime gives the instance of c our functions, and learns DuckDB's keywords.
func (c *Conn) prime() error {
	if err := learnKeywords(c); err != nil {
		return err
	}
	return registerFunctions(c)
}

// spillDir names a folder that no other instance uses: DuckDB's spill files have the same names in every instance.
// DuckDB makes it when it first spills.
func spillDir(base string) (string, error) {
	if base == "" {
		base = os.TempDir()
	} else if err := os.MkdirAll(base, 0o700); err != nil {
		return "", errs.Wrap(errs.Invalid, "make temporary folder", base, err)
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return filepath.Join(base, "tarn-spill-"+hex.EncodeToString(id[:])), nil
}

func openHandle(opts Options, tempDir string) (bindings.Database, error) {
	var (
		config bindings.Config
		handle bindings.Database
		msg    string
	)
	defer bindings.DestroyConfig(&config)
	if bindings.CreateConfig(&config) == bindings.StateError {
		return handle, errs.New(errs.Internal, "open DuckDB", "", "no configuration could be made")
	}
	for _, s := range settings(opts, tempDir) {
		if bindings.SetConfig(config, s[0], s[1]) == bindings.StateError {
			return handle, errs.New(errs.Invalid, "open DuckDB", s[0], "value %q is refused", s[1])
		}
	}
	if bindings.OpenExt(":memory:", &handle, config, &msg) == bindings.StateError {
		return handle, fault("open DuckDB", msg)
	}
	return handle, nil
}

func settings(opts Options, tempDir string) [][2]string {
	set := [][2]string{
		{"autoinstall_known_extensions", "false"},
		{"autoload_known_extensions", "false"},
		{"allow_community_extensions", "false"},
		{"allow_persistent_secrets", "false"},
		{"preserve_insertion_order", "false"},
		{"enable_external_file_cache", "false"}, // files are read once per statement: a copy of their bytes is waste
		{"temp_directory", tempDir},
	}
	if opts.Threads > 0 {
		set = append(set, [2]string{"threads", strconv.Itoa(opts.Threads)})
	}
	if opts.MemoryBytes > 0 {
		set = append(set, [2]string{"memory_limit", fmt.Sprintf("%dB", opts.MemoryBytes)})
	}
	if opts.MaxTempBytes > 0 {
		set = append(set, [2]string{"max_temp_directory_size", fmt.Sprintf("%dB", opts.MaxTempBytes)})
	}
	return set
}

// SpilledBytes returns how much the instance has in temporary files now.
func (db *DB) SpilledBytes() (sum int64) {
	entries, err := os.ReadDir(db.tempDir)
	if err != nil {
		return 0 // DuckDB makes it when it first spills
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// Close ends the instance and deletes what it spilled. Its results, appenders and connections must be closed before.
func (db *DB) Close() error {
	var err error
	db.close.Do(func() {
		db.mu.Lock()
		defer db.mu.Unlock()
		if db.own != nil {
			db.own.Close()
		}
		bindings.Close(&db.handle)
		err = os.RemoveAll(db.tempDir)
	})
	return errs.Wrap(errs.Resource, "delete spilled data", db.tempDir, err)
}
