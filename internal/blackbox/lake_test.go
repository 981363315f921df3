package blackbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/transform"
)

// folder is a lake for the children: a SQLite catalog and a warehouse.
type folder struct {
	dir     string
	catalog *lake.Catalog
	db      *duck.DB
	conn    *duck.Conn
}

// openFolder makes a lake in dir. close must be called.
func openFolder(dir string) (*folder, error) {
	ctx := context.Background()
	f := &folder{dir: dir}
	var err error
	f.catalog, err = lake.Open(ctx, lake.Config{
		Name: "lake", Type: "sql", URI: f.uri(), Warehouse: "file://" + dir + "/warehouse", CreateIfMissing: true,
	})
	if err != nil {
		return nil, err
	}
	if f.db, err = duck.Open(ctx, duck.Options{Threads: 2, MemoryBytes: 1 << 30, TempDir: dir}); err != nil {
		return nil, err
	}
	f.conn, err = f.db.Connect()
	return f, err
}

func (f *folder) uri() string { return "sqlite:///" + f.dir + "/catalog.db" }

// flags are the command line's for this lake.
func (f *folder) flags() []string {
	return []string{"--catalog", "lake", "--type", "sql", "--uri", f.uri(), "--warehouse", "file://" + f.dir + "/warehouse"}
}

// args are those of a command over this lake.
func (f *folder) args(command string, more ...string) []string {
	return append(append([]string{command}, f.flags()...), more...)
}

func (f *folder) close() error {
	f.conn.Close()
	if err := f.db.Close(); err != nil {
		return err
	}
	return f.catalog.Close()
}

// column is a column of a table to be made: its name, its type, and the SQL that gives its values.
type column struct {
	name  string
	typ   transform.Type
	value string
}

// bucketed describes a table whose rows lie in buckets of its first column, one file per bucket.
type bucketed struct {
	name    string // in the namespace big
	columns []column
	from    string // "range(10) AS r(i)": the values are computed over i
	buckets int    // 0: unpartitioned, one file
	// filed, when set, is the bucket that a bucket's rows are filed under instead of their own.
	filed func(bucket int) int
	copy  duck.CopyOptions
}

// fields returns the table's columns as Iceberg has them.
func (b bucketed) fields() []catalog.Field {
	out := make([]catalog.Field, len(b.columns))
	for i, c := range b.columns {
		out[i] = catalog.Field{ID: catalog.FieldID(i + 1), Name: c.name, Type: catalog.Type{Primitive: c.typ}}
	}
	return out
}

// add makes a table and returns the bytes of its data files.
func (f *folder) add(ctx context.Context, b bucketed) (int64, error) {
	if _, err := f.catalog.LoadTable(ctx, catalog.Ident{"big", b.name}, catalog.Version{}); err == nil {
		return 0, fmt.Errorf("table %s is there already", b.name)
	}
	_ = f.catalog.CreateNamespace(ctx, catalog.Ident{"big"})
	def := lake.NewTable{Ident: catalog.Ident{"big", b.name}, Schema: &catalog.Schema{Fields: b.fields()}}
	if b.buckets > 0 {
		def.Spec = []catalog.PartitionField{{Name: "k_bucket", Sources: []catalog.FieldID{1}, Transform: bucketOf(b.buckets)}}
	}
	table, err := f.catalog.CreateTable(ctx, def)
	if err != nil {
		return 0, err
	}
	stage := "CREATE OR REPLACE TEMP TABLE staged AS SELECT i, 0 AS bucket FROM " + b.from
	if b.buckets > 0 {
		stage = fmt.Sprintf("CREATE OR REPLACE TEMP TABLE staged AS SELECT i, tarn_bucket(%d, %s) AS bucket FROM %s ORDER BY bucket",
			b.buckets, b.columns[0].value, b.from)
	}
	if err := f.conn.Exec(ctx, stage); err != nil {
		return 0, err
	}
	var files []lake.NewDataFile
	var bytes int64
	for bucket := range max(b.buckets, 1) {
		file, err := f.addFile(ctx, table, b, bucket)
		if err != nil {
			return 0, err
		}
		if file.Rows > 0 {
			files, bytes = append(files, file), bytes+file.Ref.Bytes
		}
	}
	_, err = f.catalog.Append(ctx, table, files)
	return bytes, err
}

func bucketOf(n int) transform.Transform { return transform.Transform{Op: transform.Bucket, N: n} }

// addFile writes the rows of one bucket.
func (f *folder) addFile(ctx context.Context, table *catalog.Table, b bucketed, bucket int) (lake.NewDataFile, error) {
	var tuple []transform.Value
	where := fmt.Sprintf(" WHERE bucket = %d", bucket)
	if b.buckets > 0 {
		if b.filed != nil {
			bucket = b.filed(bucket)
		}
		tuple = []transform.Value{int32(bucket)}
	}
	items := ""
	for i, c := range b.columns {
		if i > 0 {
			items += ", "
		}
		items += c.value + ` AS ` + catalog.ShownName(c.name)
	}
	ref, err := f.catalog.NewDataFileRef(ctx, table, tuple)
	if err != nil {
		return lake.NewDataFile{}, err
	}
	query := "SELECT " + items + " FROM staged" + where
	if _, err := f.conn.CopyParquet(ctx, query, b.fields(), ref.Local, b.copy); err != nil {
		return lake.NewDataFile{}, err
	}
	return f.catalog.DataFileFromParquet(ctx, table, ref, tuple)
}

var (
	longType   = transform.Type{Kind: transform.Long}
	stringType = transform.Type{Kind: transform.String}
)

// shared are lakes that several tests read, made when first asked for.
var shared struct {
	sync.Mutex
	dirs []string
}

func removeShared() {
	for _, dir := range shared.dirs {
		_ = os.RemoveAll(dir)
	}
}

// newSharedDir makes a folder that lives as long as the test program.
func newSharedDir() (string, error) {
	dir, err := os.MkdirTemp("", "tarn-lake-")
	if err != nil {
		return "", err
	}
	shared.Lock()
	shared.dirs = append(shared.dirs, dir)
	shared.Unlock()
	return filepath.EvalSymlinks(dir)
}

func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := newSharedDir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// demoLake is the folder of the demo's lake, made when first asked for.
var demoLake struct {
	sync.Mutex
	dir string
}
