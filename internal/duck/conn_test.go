package duck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarndb/tarn/internal/errs"
)

func TestOpenSettings(t *testing.T) {
	_, c := session(t, Options{Threads: 3, MemoryBytes: 1 << 30, MaxTempBytes: 1 << 31})
	for name, want := range map[string]string{
		"TimeZone": "UTC", "preserve_insertion_order": "false", "autoinstall_known_extensions": "false",
		"autoload_known_extensions": "false", "allow_community_extensions": "false", "allow_persistent_secrets": "false",
		"threads": "3", "memory_limit": "1.0 GiB", "max_temp_directory_size": "2.0 GiB",
	} {
		wantRows(t, c, fmt.Sprintf("SELECT current_setting('%s')", name), want)
	}
	if err := c.Exec(t.Context(), "LOAD httpfs"); err == nil {
		t.Error("an extension was loaded")
	}
}

func TestOpenRefusesCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, Options{})
	wantError(t, err, errs.Canceled, "canceled")
}

// Instances that spill into one folder don't disturb each other, and leave it empty.
func TestSpill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on demand")
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			db, err := Open(t.Context(), Options{Threads: 1, MemoryBytes: 40 << 20, TempDir: dir})
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			c, err := db.Connect()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			const spilling = `SELECT count(*), sum(k) FROM (SELECT (i * 48271) % 700001 AS k, min(i || 'padding padding padding') FROM range(1500000) t(i) GROUP BY 1)`
			rows, err := rowsOf(t.Context(), c, spilling)
			if err != nil || rows[0] != "700001|245000350000" {
				t.Errorf("%q, %v", rows, err)
			}
		})
	}
	all.Wait()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", err, left)
	}
}

func TestMemoryLimitIsResource(t *testing.T) {
	_, c := session(t, Options{Threads: 1, MemoryBytes: 64 << 20, MaxTempBytes: 1 << 20})
	_, err := rowsOf(t.Context(), c, `SELECT array_agg(x) FROM (SELECT repeat('x', 10000000) || i AS x FROM range(20) t(i))`)
	wantError(t, err, errs.Resource, "out of memory")
	if errs.HintOf(err) == "" || strings.Contains(err.Error(), "solutions") {
		t.Errorf("no hint, or DuckDB's own: %v", err)
	}
	wantRows(t, c, "SELECT 1", "1") // the connection stays usable
}

func TestArguments(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	at := time.Date(2017, 11, 16, 14, 31, 8, 1000, time.FixedZone("", -8*3600))
	got := mustRows(t, c, `SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, typeof($12)`, nil, true, 1, int8(2), int16(3), int32(4), uint64(math.MaxUint64),
		1.5, "it's", []byte{0, 255}, at, float32(2))
	if got[0] != "(null)|true|1|2|3|4|18446744073709551615|1.5|it's|AP8=|2017-11-16T22:31:08.000001Z|FLOAT" {
		t.Errorf("%q", got)
	}
	_, err := rowsOf(t.Context(), c, "SELECT ?", 1, 2)
	wantError(t, err, errs.Invalid, "2 given, 1 needed")
	_, err = rowsOf(t.Context(), c, "SELECT ?", struct{}{})
	wantError(t, err, errs.Unsupported, "struct {}")
}

// A result comes chunk by chunk: the first one long before DuckDB could have made them all, and in bounded memory.
func TestQueryStreams(t *testing.T) {
	_, c := session(t, Options{Threads: 1, MemoryBytes: 100 << 20})
	res, err := c.Query(t.Context(), `SELECT i, repeat('x', 1000) FROM range(1000000000000) t(i)`)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	for range 100 {
		chunk, err := res.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		chunk.Close()
	}
	// The next statement ends the result before it.
	wantRows(t, c, "SELECT 1", "1")
	if _, err := res.Next(t.Context()); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the result that was cut off says %v", err)
	}
}

// Rows come in the order that the statement asks for, though the order of files isn't kept.
func TestOrderByStreamsInOrder(t *testing.T) {
	_, c := session(t, Options{Threads: 4})
	last := ""
	for _, row := range mustRows(t, c, `SELECT lpad((i * 7919 % 300007)::VARCHAR, 8, '0') AS k FROM range(300000) t(i) ORDER BY k`) {
		if row < last {
			t.Fatalf("%s comes after %s", row, last)
		}
		last = row
	}
}

// slow are statements of minutes: a pipeline breaker, one that streams nothing, and work before the first row.
var slow = []string{
	`SELECT count(*) FROM range(100000000000) a(i) WHERE hash(i) = 17`,
	`SELECT sum(hash(i)) FROM range(100000000000) t(i)`,
	`SELECT i FROM range(100000000000) t(i) WHERE hash(i) = 17`,
	`SELECT count(*) FROM range(1000000) a(i) JOIN range(1000000) b(j) ON a.i <> b.j AND hash(a.i) = hash(b.j) + 1`,
}

// A canceled statement returns at once, as Canceled; one out of time as Resource. The connection stays usable.
func TestCancel(t *testing.T) {
	for _, threads := range []int{1, 2} {
		_, c := session(t, Options{Threads: threads})
		for _, sql := range slow {
			ctx, cancel := context.WithCancel(t.Context())
			var at time.Time
			time.AfterFunc(50*time.Millisecond, func() { at = time.Now(); cancel() })
			_, err := rowsOf(ctx, c, sql)
			took := time.Since(at)
			wantError(t, err, errs.Canceled, "")
			if !errors.Is(err, context.Canceled) || took > 500*time.Millisecond { // 100 ms where nothing else runs
				t.Errorf("%s: %v after the cancel: %v", sql, took, err)
			}
			t.Logf("%v after the cancel, with %d threads: %s", took, threads, sql)
			wantRows(t, c, "SELECT 1", "1")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		wantError(t, c.Exec(ctx, slow[0]), errs.Resource, "deadline")
	}
}

// Cancels at any moment, before, while and after a statement runs, neither get lost nor hit the next statement.
func TestCancelRaces(t *testing.T) {
	random := newSource(t)
	_, c := session(t, Options{Threads: 2})
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(random.IntN(3000))*time.Microsecond, cancel)
		if _, err := rowsOf(ctx, c, `SELECT sum(i) FROM range(200000) t(i)`); err != nil && errs.KindOf(err) != errs.Canceled {
			t.Fatal(err)
		}
		cancel()
		wantRows(t, c, "SELECT 1", "1")
	}
}

// Instances and connections work side by side, with checks registered meanwhile.
func TestConcurrentUse(t *testing.T) {
	db, _ := session(t, Options{Threads: 2})
	random := newSource(t)
	typ := keyTypes[random.IntN(len(keyTypes))]
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			c, err := db.Connect()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if _, release, err := db.RegisterKeyCheck(KeyCheck{Type: typ}); err != nil {
				t.Error(err)
			} else {
				release()
			}
			rows, err := rowsOf(t.Context(), c, `SELECT sum(tarn_bucket(64, i)) FROM range(?::BIGINT) t(i)`, 10_000+i)
			if err != nil || len(rows) != 1 {
				t.Error(rows, err)
			}
		})
	}
	all.Wait()
}

// Rows go from one instance to another by chunks, every type among them.
func TestAppenderTakesForeignChunks(t *testing.T) {
	_, from := session(t, Options{Threads: 1})
	_, to := session(t, Options{Threads: 1})
	const values = `i, 'text number ' || i AS s, CASE WHEN i % 3 > 0 THEN i::DECIMAL(20,2) END AS d, [i, NULL] AS l,
		{'a': i, 'b': MAP {i: 'v'}} AS st, '00000000-0000-0000-0000-000000000001'::UUID AS u, DATE '2020-01-01' + i::INTEGER AS dt`
	query := "SELECT " + values + " FROM range(50000) t(i)"
	mustExec(t, to, "CREATE TEMP TABLE upper AS SELECT "+values+" FROM range(0) t(i)")
	a, err := to.Appender("", "upper")
	if err != nil {
		t.Fatal(err)
	}
	res, err := from.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	for {
		chunk, err := res.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Append(chunk); err != nil {
			t.Fatal(err)
		}
		chunk.Close()
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	wantRows(t, to, "SELECT count(*) FROM ((FROM upper) EXCEPT ALL ("+query+"))", "0")
	wantRows(t, to, "SELECT count(*) FROM upper", "50000")
}

func TestAppenderErrors(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	_, err := c.Appender("", "nowhere")
	wantError(t, err, errs.NotFound, "nowhere")
	mustExec(t, c, "CREATE TEMP TABLE narrow (i INTEGER)")
	for sql, kind := range map[string]errs.Kind{"SELECT 1, 2": errs.Invalid, "SELECT 10000000000": errs.Invalid} {
		a, err := c.Appender("", "narrow")
		if err != nil {
			t.Fatal(err)
		}
		_, other := session(t, Options{Threads: 1})
		res, err := other.Query(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		chunk, err := res.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err = a.Append(chunk); err == nil {
			err = a.Close()
		} else {
			_ = a.Close()
		}
		wantError(t, err, kind, "narrow")
		chunk.Close()
		res.Close()
	}
}
