package golden_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/golden/plainreader"
	"github.com/tarndb/tarn/internal/seed"
)

// defaultQueries is how many random queries a normal test run makes: each runs in all modes, and make fuzz draws others. TARN_QUERIES
// asks for more, TARN_SEED replays.
const defaultQueries = 30

// TestRandom runs random queries in all modes, and once more as they stand in DuckDB over tables loaded from the plain
// files: neither binding, nor planning, nor running by groups may change an answer.
func TestRandom(t *testing.T) {
	t.Parallel()
	seed, n := seed.Of(t), fromEnv(t, "TARN_QUERIES", defaultQueries)
	warehouse, err := filepath.Abs("../../testdata/golden/warehouse")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := tarn.Open(t.Context(), tarn.Config{
		Catalogs: []tarn.CatalogConfig{{Name: "files", Type: "hadoop", Warehouse: "/warehouse"}},
		Relocate: []tarn.Relocation{{From: "/warehouse", To: warehouse}}, TempDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	db := loadTables(t, warehouse)
	t.Cleanup(func() {
		if err := errors.Join(engine.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	for i := range n {
		t.Run(strconv.FormatInt(i, 10), func(t *testing.T) {
			t.Parallel()
			q := newQuery(rand.New(rand.NewPCG(seed, uint64(i))))
			want := direct(t.Context(), db, q.sql)
			for _, m := range golden.Modes {
				s := engine.Session()
				for _, set := range m.Settings() {
					if a := golden.Ask(t.Context(), s, set); a.Err != nil {
						t.Fatal(a.Err)
					}
				}
				if wrong := q.compare(want, golden.Ask(t.Context(), s, q.sql)); wrong != "" {
					t.Errorf("TARN_SEED=%d, query %d, mode %s:\n%s\n%s", seed, i, m, q.sql, wrong)
				}
			}
		})
	}
}

func fromEnv(t *testing.T, name string, otherwise int64) int64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// compare tells how an answer differs from the one that is right, or "".
func (q query) compare(want, got golden.Answer) string {
	switch {
	case want.Err != nil && got.Err != nil:
		if a, b := errs.KindOf(want.Err), errs.KindOf(got.Err); a != b {
			return fmt.Sprintf("error of kind %s (%v), wanted %s (%v)", b, got.Err, a, want.Err)
		}
		return ""
	case want.Err != nil || got.Err != nil:
		return fmt.Sprintf("error %v, wanted %v", got.Err, want.Err)
	}
	if d := golden.DiffNames(want.Names, got.Names); d != "" {
		return d
	}
	if q.sorted != nil {
		if d := golden.DiffOrdered(q.keys(want.Rows), q.keys(got.Rows)); d != "" || q.limited {
			return d
		}
	}
	return golden.Diff(want.Rows, got.Rows)
}

// keys returns the sort keys of rows: which of the rows that are equal in them come first, or pass a limit, is nobody's
// promise.
func (q query) keys(rows []golden.Row) []golden.Row {
	out := make([]golden.Row, len(rows))
	for i, r := range rows {
		for _, at := range q.sorted {
			out[i] = append(out[i], r[at])
		}
	}
	return out
}

// loadTables loads the families' tables from their files as they lie, past the engine.
func loadTables(t *testing.T, warehouse string) *duck.DB {
	db, err := duck.Open(t.Context(), duck.Options{TempDir: t.TempDir(), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, family := range families {
		for _, r := range family {
			if err := conn.Exec(t.Context(), loadSQL(t, warehouse, r.sql)); err != nil {
				t.Fatal(r.sql, err)
			}
		}
	}
	// A judge mustn't have the faults of who is judged: a statement means what DuckDB makes of it without its optimizers.
	all := direct(t.Context(), db, "SELECT string_agg(name, ',') FROM duckdb_optimizers()")
	if all.Err != nil {
		t.Fatal(all.Err)
	}
	if err := conn.Avoid(t.Context(), strings.Split(fmt.Sprint(all.Rows[0][0]), ",")); err != nil {
		t.Fatal(err)
	}
	return db
}

func loadSQL(t *testing.T, warehouse, name string) string {
	ns, _, _ := strings.Cut(name, ".")
	create := "CREATE SCHEMA IF NOT EXISTS " + ns + "; CREATE TABLE " + name
	table, err := plainreader.Open(warehouse, strings.ReplaceAll(name, ".", "/"))
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Files) == 0 {
		if name != "shop.empty" {
			t.Fatalf("%s is empty", name)
		}
		return create + " (customer_id BIGINT, flag VARCHAR)"
	}
	var files []string
	for _, f := range table.Files {
		files = append(files, "'"+strings.ReplaceAll(table.Local(f.Path), "'", "''")+"'")
	}
	return create + " AS SELECT * FROM read_parquet([" + strings.Join(files, ", ") + "], hive_partitioning = false)"
}

// direct runs a query in DuckDB itself.
func direct(ctx context.Context, db *duck.DB, sql string) (a golden.Answer) {
	conn, err := db.Connect()
	if err != nil {
		return golden.Answer{Err: err}
	}
	defer conn.Close()
	res, err := conn.Query(ctx, sql)
	if err != nil {
		return golden.Answer{Err: err}
	}
	defer res.Close()
	for _, c := range res.Columns() {
		a.Names = append(a.Names, c.Name)
	}
	for {
		chunk, err := res.Next(ctx)
		if errors.Is(err, io.EOF) {
			return a
		}
		if err != nil {
			return golden.Answer{Err: err}
		}
		rows, err := chunkRows(chunk)
		if err != nil {
			return golden.Answer{Err: err}
		}
		a.Rows = slices.Concat(a.Rows, rows)
	}
}

func chunkRows(chunk *duck.Chunk) ([]golden.Row, error) {
	defer chunk.Close()
	batch, err := chunk.Record()
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	return golden.RowsOf(batch)
}
