package blackbox

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// demoDir is a folder with the lake of a small demo, which no test changes.
func demoDir(t *testing.T) string {
	t.Helper()
	demoLake.Lock()
	defer demoLake.Unlock()
	if demoLake.dir == "" {
		dir := sharedDir(t)
		tarn(t, "demo", "--rows", "2000", "--dir", dir, "--threads", "2").ok(t)
		demoLake.dir = dir
	}
	return demoLake.dir
}

// flagsOf are the command line's for the demo's lake in dir. Its metadata names the folder that it was made in.
func flagsOf(dir, madeIn string) []string {
	return []string{
		"--catalog", "lake", "--type", "sql", "--uri", "sqlite:///" + dir + "/catalog.db",
		"--warehouse", "file://" + dir + "/warehouse", "--relocate", madeIn + "=" + dir,
	}
}

// copyOfDemo returns a copy of the demo's lake that a test may damage, and the flags for it.
func copyOfDemo(t *testing.T) (dir string, flags []string) {
	t.Helper()
	from := demoDir(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "lake")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return dir, flagsOf(dir, from)
}

// wantFailure runs the program and fails the test unless it ends with the code and one clear error that holds the word.
func wantFailure(t *testing.T, code int, word string, args ...string) {
	t.Helper()
	wantFailed(t, tarn(t, args...), code, word)
}

func wantFailed(t *testing.T, o outcome, code int, word string) {
	t.Helper()
	if o.code != code || o.stdout != "" || !strings.Contains(o.stderr, word) {
		t.Errorf("%s\nexit %d, want %d with %q; stdout %q, stderr %q", o.command, o.code, code, word, clip(o.stdout), clip(o.stderr))
	}
	wantOneError(t, o.stderr)
}

func TestStatementsThatCannotRun(t *testing.T) {
	t.Parallel()
	dir := demoDir(t)
	flags := flagsOf(dir, dir)
	for _, c := range []struct {
		code      int
		word, sql string
	}{
		{3, "nope", "SELECT * FROM sales.nope"},
		{3, "nope", "SELECT * FROM nope.orders"},
		{3, "orders", "SELECT * FROM orders"},
		{3, "nope.sales.orders", "SELECT * FROM nope.sales.orders"},
		{3, "nope", "SELECT nope FROM sales.orders"},
		{3, "nope", "SELECT o.nope FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.customer_id"},
		{3, "nope", "SELECT 1 FROM sales.orders o JOIN sales.customers c ON o.nope = c.customer_id"},
		{3, "\"x\"", "SELECT x.nope FROM sales.orders o"},
		{3, "nope", "SELECT * FROM 'nope.parquet'"},
		{3, "nope", "SELECT * FROM iceberg('nope')"},
		{3, "nope", "SELECT * FROM 'nope/metadata/v3.metadata.json'"},
		{3, "nope", "DESCRIBE sales.nope"},
		{3, "nope", "SHOW TABLES IN nope"},
		{3, "tarn.nope", "SET tarn.nope = 1"},
		{1, "maybe", "SET tarn.spj = 'maybe'"},
		{2, "SELEC", "SELEC 1"},
		{2, "line 2, column 8", "SELECT 1;\nSELECT 'x"},
		{2, "not closed", "SELECT 1 /* x"},
		{2, "syntax", "SELECT 1 +"},
		{2, "syntax", "SELECT FROM WHERE"},
		{1, "ambiguous", "SELECT customer_id FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.customer_id"},
		{1, "nope", "SELECT nope(1)"},
		{1, "GROUP BY", "SELECT status, count(*) FROM sales.orders"},
		{1, "convert", "SELECT CAST('x' AS INTEGER)"},
		{1, "convert", "SELECT CAST(c.name AS INTEGER) FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.customer_id"},
		{2, "0x00", "SELECT 1 \x00 + 1"},
		{2, "0xff", "SELECT '\xff'"},
		{2, "column 7", "SELECT\xc3"},
	} {
		if strings.Contains(c.sql, "\x00") {
			// No argument can hold a NUL.
			file := filepath.Join(t.TempDir(), "nul.sql")
			write(t, file, c.sql)
			wantFailure(t, c.code, c.word, append([]string{"sql", "-f", file}, flags...)...)
			continue
		}
		wantFailure(t, c.code, c.word, append([]string{"sql", "-c", c.sql}, flags...)...)
	}
}

func TestErrorsInJSON(t *testing.T) {
	t.Parallel()
	dir := demoDir(t)
	for _, c := range []struct {
		code int
		kind errs.Kind
		hint bool
		args []string
	}{
		{2, errs.Syntax, false, []string{"sql", "-c", "SELECT 'x"}},
		{2, errs.Syntax, true, []string{"sql", "--nope"}},
		{3, errs.NotFound, true, append([]string{"sql", "-c", "SELECT \"no\n<pe>&\" FROM sales.orders"}, flagsOf(dir, dir)...)},
		{3, errs.NotFound, true, []string{"sql", "-c", "SET tarn.spi = 1"}},
		{1, errs.Invalid, false, []string{"sql", "-c", "SELECT CAST('x' AS INTEGER)"}},
		{9, errs.Resource, true, []string{"sql", "-c", "SELECT len(list(i)) FROM range(100000000) AS r(i)", "--memory", "128MiB"}},
	} {
		for _, format := range [][]string{{"--format", "json"}, {"--format=jsonl"}} {
			o := tarn(t, append(c.args, format...)...)
			var doc struct {
				Error struct{ Kind, Message, Hint string }
			}
			decoder := json.NewDecoder(strings.NewReader(o.stderr))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&doc); err != nil || decoder.More() || strings.Count(o.stderr, "\n") != 1 {
				t.Errorf("%v: stderr is %q: %v", c.args, clip(o.stderr), err)
			}
			if o.code != c.code || o.stdout != "" || doc.Error.Kind != c.kind.String() || doc.Error.Message == "" || (doc.Error.Hint != "") != c.hint {
				t.Errorf("%v: exit %d, stdout %q, %q", c.args, o.code, o.stdout, clip(o.stderr))
			}
		}
	}
}

func TestCommandLinesThatCannotRun(t *testing.T) {
	t.Parallel()
	dir := demoDir(t)
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	for _, c := range []struct {
		code int
		word string
		args []string
	}{
		{2, "nope", []string{"nope"}},
		{2, "nope", []string{"sql", "--nope"}},
		{2, "xml", []string{"sql", "-c", "SELECT 1", "--format=xml"}},
		{2, "10x", []string{"sql", "-c", "SELECT 1", "--memory", "10x"}},
		{2, "at least", []string{"sql", "-c", "SELECT 1", "--memory", "0"}},
		{2, "100000", []string{"sql", "-c", "SELECT 1", "--threads", "100000"}},
		{2, "-1", []string{"sql", "-c", "SELECT 1", "--threads", "-1"}},
		{2, "FROM=TO", []string{"sql", "-c", "SELECT 1", "--relocate", "x"}},
		{2, "at least", []string{"sql", "-c", "SELECT 1", "--memory", "1MiB"}},
		{3, "no such file", []string{"sql", "-f", "nope.sql"}},
		{1, "directory", []string{"sql", "-f", dir}},
		{1, file, []string{"sql", "-c", "SELECT 1", "--temp", file}},
		{3, "nope", []string{"sql", "-c", "SELECT 1", "-o", filepath.Join(dir, "nope/x.csv")}},
		{1, "folder", []string{"sql", "-c", "SELECT 1", "-o", dir}},
		{3, "nope", []string{"sql", "-c", "SELECT 1", "--config", "nope.yaml"}},
		{3, "nope", []string{"sql", "-c", "SHOW TABLES", "--catalog", "nope"}},
		{1, "usage", []string{"sql", "--quiet", "-c", "SET tarn.spj = 'auto'", "--usage", filepath.Join(dir, "nope/x")}},
		{3, "nope", append([]string{"describe", "sales.nope"}, flagsOf(dir, dir)...)},
		{3, "nope", append([]string{"explain", "SELECT * FROM sales.nope"}, flagsOf(dir, dir)...)},
		{3, "nope", append([]string{"tables", "nope"}, flagsOf(dir, dir)...)},
		{3, "catalog.db", append([]string{"tables"}, flagsOf(filepath.Join(dir, "nope"), dir)...)},
	} {
		wantFailure(t, c.code, c.word, c.args...)
	}
}

// write makes a file.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// damages are what may have become of a file.
var damages = []struct {
	name string
	do   func(path string, size int64) error
	code int // 7 is corrupt data
}{
	{"its end is missing", func(path string, size int64) error { return os.Truncate(path, size-20) }, 7},
	{"half of it is missing", func(path string, size int64) error { return os.Truncate(path, size/2) }, 7},
	{"it is empty", func(path string, _ int64) error { return os.Truncate(path, 0) }, 7},
	{"it holds other bytes", func(path string, size int64) error {
		return os.WriteFile(path, []byte(strings.Repeat("nonsense", int(size)/8+1))[:size], 0o644)
	}, 7},
	{"it is gone", func(path string, _ int64) error { return os.Remove(path) }, 7},
	{"it is a folder", func(path string, _ int64) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.Mkdir(path, 0o755)
	}, 7},
}

func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	dir, flags := copyOfDemo(t)
	const question = "SELECT count(*), sum(o.amount) FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.customer_id"
	run := append([]string{"sql", "-c", question}, flags...)
	whole := append([]string{"sql", "-c", "SET tarn.spj = 'off'", "-c", question}, flags...)
	right := tarn(t, run...).ok(t)
	for _, pattern := range []string{
		"warehouse/sales/orders/data/*/*.parquet", "warehouse/sales/orders/metadata/00001-*.metadata.json",
		"warehouse/sales/orders/metadata/snap-*.avro", "warehouse/sales/orders/metadata/*-m0.avro",
	} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no file is %s", pattern)
		}
		path := found[0]
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range damages {
			if err := d.do(path, int64(len(before))); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %s", filepath.Base(path), d.name)
			wantFailure(t, d.code, filepath.Base(path), run...)
			if strings.HasSuffix(path, ".parquet") {
				wantFailed(t, tarn(t, whole...), d.code, filepath.Base(path))
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			write(t, path, string(before))
		}
	}
	if got := tarn(t, run...).ok(t); got != right {
		t.Errorf("after all was mended the answer is %q, want %q", got, right)
	}
}

// TestDamagedPages changes bytes within a data file, whose footer stays good: the answer must be right or an error.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	dir, flags := copyOfDemo(t)
	run := append([]string{"sql", "-c", "SELECT sum(hash(o)), sum(hash(c)) FROM sales.orders o JOIN sales.customers c ON o.customer_id = c.customer_id"}, flags...)
	found, err := filepath.Glob(filepath.Join(dir, "warehouse/sales/orders/data/*/*.parquet"))
	if err != nil || len(found) == 0 {
		t.Fatal("no data file")
	}
	before, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := 4; at < 300; at += 37 {
		damaged := []byte(string(before))
		for i := at; i < at+16; i++ {
			damaged[i] ^= 0x5a
		}
		write(t, found[0], string(damaged))
		o := tarn(t, run...)
		if o.code == 0 {
			continue // a byte that no reader looks at, or a value: formats without checksums can't tell
		}
		wantFailed(t, o, 7, filepath.Base(found[0]))
	}
}

func TestDamagedCatalog(t *testing.T) {
	t.Parallel()
	dir, flags := copyOfDemo(t)
	path := filepath.Join(dir, "catalog.db")
	run := append([]string{"sql", "-c", "SELECT count(*) FROM sales.orders"}, flags...)
	for _, c := range []struct {
		code int
		word string
		text string
	}{{1, "iceberg_tables", ""}, {7, "not a database", strings.Repeat("nonsense", 1000)}} {
		write(t, path, c.text)
		wantFailure(t, c.code, c.word, run...)
	}
}

// unprivileged makes a child run without the rights of root, whom no folder refuses anything.
func unprivileged(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	c.Dir = "/"
	for _, path := range []string{filepath.Dir(program), program} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// openToAll lets everyone read a folder and what is above it in the temporary place of the tests.
func openToAll(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o755)
	})
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Clean(os.TempDir())
	for up := filepath.Dir(dir); strings.HasPrefix(up, top+"/"); up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFoldersWithoutRights(t *testing.T) {
	t.Parallel()
	dir, flags := copyOfDemo(t)
	temp := filepath.Join(filepath.Dir(dir), "temp")
	if err := os.Mkdir(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	openToAll(t, dir)
	if err := os.Chmod(temp, 0o777); err != nil {
		t.Fatal(err)
	}
	run := func(more ...string) outcome {
		c := child(t, append(append([]string{"sql", "-c", "SELECT count(*), sum(amount) FROM sales.orders"}, flags...), more...)...)
		unprivileged(t, c)
		return finish(t, c)
	}
	run("--temp", temp).ok(t)
	wantEmpty(t, temp)
	data, err := filepath.Glob(filepath.Join(dir, "warehouse/sales/orders/data/*"))
	if err != nil || len(data) == 0 {
		t.Fatal("no data folder")
	}
	for _, c := range []struct {
		path string
		mode os.FileMode
		more []string
	}{
		{filepath.Join(dir, "warehouse/sales/orders/metadata"), 0, []string{"--temp", temp}},
		{data[0], 0, []string{"--temp", temp}},
		{filepath.Join(dir, "catalog.db"), 0, []string{"--temp", temp}},
		{temp, 0o555, []string{"--temp", temp}},
		{temp, 0o555, []string{"--temp", filepath.Join(temp, "below")}},
		{filepath.Join(dir, "warehouse"), 0o555, []string{"-o", filepath.Join(dir, "warehouse/out.csv")}},
	} {
		if err := os.Chmod(c.path, c.mode); err != nil {
			t.Fatal(err)
		}
		o := run(c.more...)
		if err := os.Chmod(c.path, 0o777); err != nil {
			t.Fatal(err)
		}
		wantFailed(t, o, 1, "permission denied")
	}
	wantEmpty(t, temp)
}

// TestFullTemporaryDisk spills into a file system of 8 MiB.
func TestFullTemporaryDisk(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	if err := syscall.Mount("tmpfs", temp, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(temp, 0); err != nil {
			t.Error(err)
		}
	}()
	o := tarn(t, "sql", "--memory", "256MiB", "--temp", temp, "-c", spillingSort)
	wantFailed(t, o, 9, "")
	t.Log(o.stderr)
	wantEmpty(t, temp)
}

// TestRowsThatLieAboutTheirBucket files the rows of two buckets under each other's values.
func TestRowsThatLieAboutTheirBucket(t *testing.T) {
	t.Parallel()
	f, err := openFolder(sharedDir(t))
	if err != nil {
		t.Fatal(err)
	}
	swap := func(bucket int) int {
		switch bucket {
		case 1:
			return 2
		case 2:
			return 1
		}
		return bucket
	}
	for _, b := range []bucketed{
		{name: "honest", buckets: 4, from: "range(1000) AS r(i)", columns: []column{{"k", longType, "i"}, {"v", longType, "i"}}},
		{name: "liar", buckets: 4, from: "range(1000) AS r(i)", columns: []column{{"k", longType, "i"}, {"w", longType, "i"}}, filed: swap},
	} {
		if _, err := f.add(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	const question = "SELECT count(*), sum(v), sum(w) FROM big.honest h JOIN big.liar l ON h.k = l.k"
	wantFailure(t, 7, "liar", f.args("sql", "-c", question)...)
	whole := tarn(t, f.args("sql", "-c", "SET tarn.spj = 'off'", "-c", question)...).ok(t)
	if !strings.HasSuffix(whole, "\n1000,499500,499500\n") {
		t.Errorf("the whole-query plan, which trusts no file, gives %q", whole)
	}
}
