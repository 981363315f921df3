package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/quote"
)

// bed is a lake with the tables of one size, in a folder.
type bed struct {
	dir    string // absolute
	size   size
	engine *tarn.Engine
	first  map[string]map[string][]byte // by table and path: all files, with what those have that are written over
}

func newBed(ctx context.Context, dir string, s size) (*bed, error) {
	dir, err := filepath.Abs(filepath.Join(dir, fmt.Sprintf("changes-%d-seed-%d", s.rows, s.seed)))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "warehouse"), 0o777); err != nil {
		return nil, err
	}
	b := &bed{dir: dir, size: s, first: map[string]map[string][]byte{}}
	b.engine, err = tarn.Open(ctx, tarn.Config{Catalogs: []tarn.CatalogConfig{{Name: "lake", Type: "hadoop", Warehouse: b.warehouse()}}})
	if err != nil {
		return nil, err
	}
	if err := b.fill(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bed) close() { _ = b.engine.Close() }

func (b *bed) warehouse() string { return filepath.ToSlash(filepath.Join(b.dir, "warehouse")) }

// flags are the command line's for this lake.
func (b *bed) flags() []string {
	return []string{"--catalog", "lake", "--type", "hadoop", "--warehouse", b.warehouse()}
}

func (b *bed) folder(table string) string { return filepath.Join(b.dir, "warehouse", "bench", table) }

const (
	columns  = "order_id BIGINT, customer_id BIGINT, amount DECIMAL(12,2), status STRING, order_date DATE"
	bucketed = " PARTITIONED BY (bucket(64, order_id)) "
)

// orders gives rows by their numbers. Keys are spread over all of 32 bits, and so over all buckets and in no order; no two
// numbers below 2^32 have the same one.
func (s size) orders(where string, from, to int64, status string) string {
	return fmt.Sprintf(`SELECT i * 2654435761 %% 4294967296 AS order_id, CAST(hash(i, %[1]d) %% 3000000 AS BIGINT) AS customer_id,
  CAST(CAST(hash(i, %[1]d + 1) %% 100000 AS DECIMAL(12,2)) / 100 AS DECIMAL(12,2)) AS amount, %[2]s AS status,
  DATE '2024-01-01' + CAST(hash(i, %[1]d + 3) %% 730 AS INTEGER) AS order_date FROM range(%[3]d, %[4]d) AS r(i) %[5]s`, s.seed*100, status, from, to, where)
}

// rows returns the SELECT of a table's rows.
func (s size) rowsOf(table string) string {
	old := fmt.Sprintf("['open', 'paid', 'shipped', 'returned'][1 + CAST(hash(i, %d) %% 4 AS INTEGER)]", s.seed*100+2)
	changed := func(percent int) string {
		return s.orders(fmt.Sprintf("WHERE hash(i, 17) %% 100 < %d", percent), 0, s.rows, "'changed'") + " UNION ALL " + s.orders("", s.rows, s.rows+s.rows/100, "'new'")
	}
	switch table {
	case "changes1":
		return changed(1)
	case "changes5":
		return changed(5)
	case "changes_one":
		return "SELECT order_id, customer_id, amount, status, order_date FROM bench.changes1 WHERE _partition.order_id_bucket = 7"
	case "gone":
		return "SELECT order_id FROM (" + s.orders("WHERE hash(i, 18) % 1000 = 0", 0, s.rows, "''") + ")"
	}
	return s.orders("", 0, s.rows, old)
}

// fill makes the tables that aren't there yet. A file that says that one is whole is written last.
func (b *bed) fill(ctx context.Context) error {
	if _, err := b.query(ctx, "CREATE NAMESPACE IF NOT EXISTS bench"); err != nil {
		return err
	}
	for _, table := range []string{"v2", "v3", "changes1", "changes5", "changes_one", "gone"} {
		mark, rows := filepath.Join(b.dir, table+".made"), b.size.rowsOf(table)
		if there, err := os.ReadFile(mark); err != nil || string(there) != rows {
			fmt.Fprintf(os.Stderr, "making bench.%s of %d rows ...\n", table, b.size.rows)
			if err := b.make(ctx, table, rows); err != nil {
				return fmt.Errorf("make bench.%s: %w", table, err)
			}
			if err := os.WriteFile(mark, []byte(rows), 0o600); err != nil {
				return err
			}
		}
		if err := b.remember(table); err != nil {
			return err
		}
	}
	return nil
}

func (b *bed) make(ctx context.Context, table, rows string) error {
	if err := os.RemoveAll(b.folder(table)); err != nil {
		return err
	}
	fields, version := columns, 2
	switch table {
	case "gone":
		fields = "order_id BIGINT"
	case "v3":
		version = 3
	}
	create := fmt.Sprintf("CREATE TABLE bench.%s (%s)%sTBLPROPERTIES ('format-version' = '%d')", table, fields, bucketed, version)
	for _, text := range []string{create, "INSERT INTO bench." + table + " " + rows} {
		if _, err := b.query(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// query runs a statement and returns its rows as texts.
func (b *bed) query(ctx context.Context, text string) (out [][]string, err error) {
	rows, err := b.engine.Session().Query(ctx, text)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		batch, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for r := range int(batch.NumRows()) {
			row := make([]string, batch.NumCols())
			for i := range row {
				row[i] = strings.Clone(batch.Column(i).ValueStr(r)) // the batch owns it
			}
			out = append(out, row)
		}
		batch.Release()
	}
}

// files returns the data files of a table with their sizes in bytes.
func (b *bed) files(ctx context.Context, table string) (map[string]int64, error) {
	rows, err := b.query(ctx, "SELECT file_path, file_size_in_bytes FROM bench."+table+".files WHERE content = 0")
	out := map[string]int64{}
	for _, r := range rows {
		var bytes int64
		if _, err := fmt.Sscan(r[1], &bytes); err != nil {
			return nil, err
		}
		out[r[0]] = bytes
	}
	return out, err
}

// parquet returns DuckDB's own read of data files.
func parquet(files map[string]int64) string {
	var list []string
	for path := range files {
		list = append(list, quote.Text(strings.TrimPrefix(path, "file://")))
	}
	return "read_parquet([" + strings.Join(list, ", ") + "], hive_partitioning = false)" // else with the columns that folders name
}

// overwritten are names of files that are written over; all others of a table are written once.
const overwritten = "version-hint.text"

// remember notes which files a table has.
func (b *bed) remember(table string) error {
	files := map[string][]byte{}
	b.first[table] = files
	return filepath.WalkDir(b.folder(table), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[path] = nil
			if d.Name() == overwritten {
				files[path], err = os.ReadFile(path)
			}
		}
		return err
	})
}

// restore makes a table what it was when it was remembered.
func (b *bed) restore(table string) error {
	files := b.first[table]
	err := filepath.WalkDir(b.folder(table), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, ok := files[path]
		switch {
		case !ok:
			return os.Remove(path)
		case d.Name() == overwritten:
			return os.WriteFile(path, text, 0o600)
		}
		return nil
	})
	return err
}
