package write_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/write"
)

// TestRewriteTouchesOnePartition changes rows of one partition: one file comes for the one that goes, with the new rows in it.
func TestRewriteTouchesOnePartition(t *testing.T) {
	h := newHouse(t)
	for _, version := range []int{1, 2, 3} {
		name := fmt.Sprintf("t%d", version)
		h.run("CREATE TABLE n." + name + " (k BIGINT, s STRING) PARTITIONED BY (truncate(100, k)) " + properties(version))
		h.run("INSERT INTO n." + name + " SELECT range, 'x' || range FROM range(1000)")
		rows := "SELECT 101::BIGINT, 'new'"
		if version == 3 {
			rows += ", _row_id FROM (SELECT 101::BIGINT AS _row_id)"
		}
		before := h.rows(name)
		done := h.apply(change{name: name, copies: true, where: "k IN (101, 150)", rows: rows})
		after := h.rows(name)
		if len(done.Removed) != 1 || len(after) != 999 || len(h.lakeFiles(name)) != 10 {
			t.Errorf("version %d: %d rows, %d removed, %d files", version, len(after), len(done.Removed), len(h.lakeFiles(name)))
		}
		if got := h.run("SELECT s FROM n." + name + " WHERE k = 101").Rows; fmt.Sprint(got) != "[[new]]" {
			t.Errorf("version %d: the row is %v", version, got)
		}
		kept := map[string]bool{}
		for _, r := range before {
			kept[r] = true
		}
		changed := 0
		for _, r := range after {
			if !kept[r] {
				changed++
			}
		}
		if changed != 1 {
			t.Errorf("version %d: %d rows aren't as they were, with their lineage", version, changed)
		}
		if version == 3 {
			got := h.run("SELECT _row_id, _last_updated_sequence_number FROM n.t3 WHERE k IN (101, 102) ORDER BY k").Rows
			if want := h.run("SELECT 101, 2 UNION ALL SELECT (SELECT _row_id FROM n.t3 WHERE k = 103) - 1, 1").Rows; len(got) != 2 || !sameRow(got[0], want[0]) || !sameRow(got[1], want[1]) {
				t.Errorf("the lineage is %v, not %v", got, want)
			}
		}
	}
}

func sameRow(a, b golden.Row) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func (h *house) lakeFiles(name string) (out []catalog.DataFile) {
	h.t.Helper()
	h.must(h.survey(h.load(name)).Files(h.t.Context(), func(f catalog.DataFile) error {
		out = append(out, f)
		return nil
	}))
	return out
}

// TestRewriteSplits rewrites a partition that is larger than the target size: files come out about as large, and each row once.
func TestRewriteSplits(t *testing.T) {
	h := newHouse(t)
	const rows = 300_000
	for _, sort := range []string{"", "WRITE ORDERED BY v"} {
		name := fmt.Sprintf("t%d", len(sort))
		h.run("CREATE TABLE n." + name + " (k BIGINT, v BIGINT) " + properties(3))
		for i := range 3 { // of about 1.3 MB each
			h.run(fmt.Sprintf("INSERT INTO n.%s SELECT range + %d, hash(range) %% 1000000007 FROM range(%d)", name, i*rows/3, rows/3))
		}
		h.run("ALTER TABLE n." + name + " SET TBLPROPERTIES ('write.target-file-size-bytes' = '1000000', 'write.parquet.row-group-limit' = '10000')")
		if sort != "" {
			h.run("ALTER TABLE n." + name + " " + sort)
		}
		sum := h.run("SELECT sum(k), sum(v), sum(_row_id) FROM n." + name + " WHERE k % 1000 > 0").Rows
		done := h.apply(change{name: name, copies: true, where: "k % 1000 = 0", rows: "SELECT range + 1000000, 5, NULL::BIGINT FROM range(20000)"})
		files := h.lakeFiles(name)
		var bytes, most int64
		for _, f := range files {
			bytes, most = bytes+f.Ref.Bytes, max(most, f.Ref.Bytes)
		}
		if len(done.Removed) != 3 || len(files) < 2 || int64(len(files)) > 1+bytes/1_000_000 || most > 1_500_000 {
			t.Errorf("%s: %d files of %d bytes, the largest of %d", name, len(files), bytes, most)
		}
		if got := h.run("SELECT sum(k), sum(v), sum(_row_id) FROM n." + name + " WHERE k < 1000000").Rows; fmt.Sprint(got) != fmt.Sprint(sum) {
			t.Errorf("%s: the sums are %v, not %v", name, got, sum)
		}
		if got := h.run("SELECT count(*), count(DISTINCT k), count(DISTINCT _row_id) FROM n." + name).Rows; fmt.Sprint(got) != "[[319700/1 319700/1 319700/1]]" {
			t.Errorf("%s: the counts are %v", name, got)
		}
		if sort == "" {
			continue
		}
		for _, f := range h.run("SELECT sort_order_id, count(*) FROM n." + name + ".files GROUP BY ALL").Rows {
			if fmt.Sprint(f[0]) != "1/1" {
				t.Errorf("files have the sort orders %v", f)
			}
		}
	}
}

// TestRewriteAppliesDeletes rewrites files with vectors, and checks that deleted rows don't come back.
func TestRewriteAppliesDeletes(t *testing.T) {
	h := newHouse(t)
	for _, version := range []int{2, 3} {
		name := fmt.Sprintf("t%d", version)
		h.run("CREATE TABLE n." + name + " (k BIGINT, s STRING) PARTITIONED BY (bucket(2, k)) " + properties(version))
		h.run("INSERT INTO n." + name + " SELECT range, 'x' FROM range(100)")
		h.deleteByMerge(name, "k % 2 = 0")
		h.apply(change{name: name, copies: true, where: "k % 3 = 0"})
		if got := h.numbers(name); len(got) != 33 {
			t.Errorf("version %d: %d rows are left", version, len(got))
		}
		layout := h.survey(h.load(name))
		if len(layout.Deletes) != 0 || layout.Counts.Files != 2 || layout.Counts.DeleteFiles != 0 {
			t.Errorf("version %d: %d delete files are left, and %d files", version, layout.Counts.DeleteFiles, layout.Counts.Files)
		}
	}
}

// TestRewriteEmpties deletes all rows of files: some by edits, some by older deletes and edits together.
func TestRewriteEmpties(t *testing.T) {
	h := newHouse(t)
	h.run("CREATE TABLE n.t (k BIGINT, p INT) PARTITIONED BY (p) " + properties(2))
	h.run("INSERT INTO n.t SELECT range, range // 10 FROM range(40)")
	h.deleteByMerge("t", "k % 2 = 0 AND p = 1")
	done := h.apply(change{name: "t", copies: true, where: "p IN (0, 1)"})
	if got := h.numbers("t"); len(got) != 20 || len(done.Removed) != 2 || len(h.lakeFiles("t")) != 2 {
		t.Errorf("the rows are %v, in %d files", got, len(h.lakeFiles("t")))
	}
}

// TestRewriteParts rewrites files of an older spec, whose rows go where the current one says, and files from before row lineage.
func TestRewriteParts(t *testing.T) {
	h := newHouse(t)
	h.run("CREATE TABLE n.t (k BIGINT, s STRING) PARTITIONED BY (bucket(2, k)) " + properties(2))
	h.run("INSERT INTO n.t SELECT range, 'a' FROM range(100)")
	h.run("ALTER TABLE n.t ADD PARTITION FIELD truncate(10, k)")
	h.run("INSERT INTO n.t SELECT range, 'b' FROM range(100)")
	h.run("ALTER TABLE n.t SET TBLPROPERTIES ('format-version' = '3')")
	h.apply(change{name: "t", copies: true, where: "k < 8", rows: "SELECT 5::BIGINT, 'c', NULL::BIGINT UNION ALL SELECT 500, 'd', NULL"})
	if got := h.numbers("t"); len(got) != 186 {
		t.Errorf("there are %d rows", len(got))
	}
	for _, f := range h.lakeFiles("t") {
		if f.Spec == 0 {
			t.Errorf("%s is of the old spec", f.Ref.Path)
		}
	}
	if got := h.run("SELECT count(*), count(_row_id), count(DISTINCT _row_id), count(_last_updated_sequence_number) FROM n.t").Rows; fmt.Sprint(got) != "[[186/1 186/1 186/1 186/1]]" {
		t.Errorf("rows have the lineage %v", got)
	}
	before := h.rows("t")
	h.apply(change{name: "t", copies: true, where: "k = 500"})
	if got := h.rows("t"); len(got) != 185 || !contains(before, got) {
		t.Errorf("rows aren't as they were")
	}
}

// contains says whether all texts are among some.
func contains(all, some []string) bool {
	known := map[string]bool{}
	for _, s := range all {
		known[s] = true
	}
	for _, s := range some {
		if !known[s] {
			return false
		}
	}
	return true
}

// TestRewriteEvolved rewrites files that lack columns, have others' names or narrower types.
func TestRewriteEvolved(t *testing.T) {
	h := newHouse(t)
	h.run("CREATE TABLE n.t (a INT, b FLOAT, c DECIMAL(5, 2), d STRUCT<x: INT, y: STRING>, e STRING, p INT) PARTITIONED BY (bucket(2, a)) " + properties(3))
	h.run("INSERT INTO n.t SELECT range, range / 4, range / 100, CASE WHEN range % 3 > 0 THEN {'x': range, 'y': 'y' || range} END, 'e' || range, range FROM range(50)")
	for _, text := range []string{
		"ALTER COLUMN a TYPE BIGINT", "ALTER COLUMN b TYPE DOUBLE", "ALTER COLUMN c TYPE DECIMAL(9, 2)", "RENAME COLUMN d TO dd", "ALTER COLUMN dd.x TYPE BIGINT",
		"RENAME COLUMN dd.y TO z", "ADD COLUMN f BIGINT DEFAULT 7", "ADD COLUMN dd.w INT", "DROP COLUMN e", "ADD COLUMN e DATE", "DROP COLUMN p",
	} {
		h.run("ALTER TABLE n.t " + text)
	}
	before := h.rows("t")
	h.apply(change{
		name: "t", copies: true, where: "a % 10 = 3",
		rows: "SELECT 1000::BIGINT, 'nan'::DOUBLE, 1.5, {'x': 1, 'z': NULL, 'w': 3}, 9, DATE '2020-02-02', NULL::BIGINT",
	})
	after := h.rows("t")
	if len(after) != 46 {
		t.Errorf("there are %d rows", len(after))
	}
	var kept []string
	for _, r := range after {
		if !strings.HasPrefix(r, "(1000,") {
			kept = append(kept, r)
		}
	}
	if len(kept) != 45 || !contains(before, kept) {
		t.Errorf("the rows were\n%s\nand are\n%s", strings.Join(before, "\n"), strings.Join(kept, "\n"))
	}
}

// TestRewriteManyPartitions changes rows in more partitions than have bins of their own, some of which have new rows and some not.
func TestRewriteManyPartitions(t *testing.T) {
	h := newHouse(t)
	h.run("CREATE TABLE n.t (k BIGINT, p BIGINT) PARTITIONED BY (p) " + properties(3))
	const partitions = 700
	h.run(fmt.Sprintf("INSERT INTO n.t SELECT range, range %% %d FROM range(7000)", partitions))
	h.apply(change{
		name: "t", copies: true, where: "k < 600 OR k % 7 = 0 AND k > 6000",
		rows:    fmt.Sprintf("SELECT range + 10000, range + 50, NULL::BIGINT FROM range(%d)", partitions),
		options: write.Options{Workers: 2},
	})
	files := h.lakeFiles("t")
	tuples := map[string]bool{}
	for _, f := range files {
		tuples[catalog.TupleKey(f.Spec, f.Partition)] = true
	}
	want := h.run("SELECT count(*) FROM n.t").Rows
	if len(tuples) != partitions+50 || fmt.Sprint(want) != fmt.Sprintf("[[%d/1]]", 7000-600-142+partitions) {
		t.Errorf("there are %d files of %d partitions, with %v rows", len(files), len(tuples), want)
	}
	// A partition has the new file alone, or the old one and the new one where no row of it was changed.
	if len(files) > len(tuples)+100 {
		t.Errorf("there are %d files of %d partitions", len(files), len(tuples))
	}
	h.rows("t")
}

// TestRewriteFindsLiar rewrites a file that has rows of other partitions: it isn't written once more under a wrong name.
func TestRewriteFindsLiar(t *testing.T) {
	h := newHouse(t)
	h.run("CREATE TABLE n.t (k BIGINT) PARTITIONED BY (bucket(4, k)) " + properties(2))
	table := h.load("t")
	ref, err := h.lake.NewDataFileRef(t.Context(), table, []any{int32(1)})
	h.must(err)
	db, err := duckOpen(t)
	h.must(err)
	_, err = db.CopyParquet(t.Context(), "SELECT range AS k FROM range(100)", table.Schema.Fields, ref.Local, copyOptions)
	h.must(err)
	f, err := h.lake.DataFileFromParquet(t.Context(), table, ref, []any{int32(1)})
	h.must(err)
	_, err = h.lake.Append(t.Context(), table, []lakeFile{f})
	h.must(err)
	e := &write.Edits{}
	e.Add(ref.Path, 3)
	for _, c := range []struct {
		unverified bool
		kind       errs.Kind
	}{{false, errs.Corrupt}, {true, 0}} {
		table = h.load("t")
		target, err := write.NewTarget(table)
		h.must(err)
		j, err := write.Start(t.Context(), h.lake, target, write.Options{Unverified: c.unverified, TempDir: t.TempDir()})
		h.must(err)
		_, err = j.Change(t.Context(), write.RowChange{Copies: true}, e, h.survey(table), func() error { return nil })
		if kind := errs.KindOf(err); err == nil == !c.unverified || err != nil && kind != c.kind {
			t.Errorf("unverified is %t: %v", c.unverified, err)
		}
		j.Close()
	}
	if rows := h.run("SELECT k FROM n.t").Rows; len(rows) != 99 || rows[0][0].(*big.Rat) == nil {
		t.Errorf("there are %d rows", len(rows))
	}
}

// TestRewriteAppliesEqualityDeletes rewrites files of which rows are deleted by their values, and leaves those that came later.
func TestRewriteAppliesEqualityDeletes(t *testing.T) {
	h := newHouse(t)
	for _, copies := range []bool{false, true} {
		name := fmt.Sprintf("t%t", copies)
		h.run("CREATE TABLE n." + name + " (k BIGINT, s STRING) PARTITIONED BY (bucket(2, k)) " + properties(2))
		h.run("INSERT INTO n." + name + " SELECT range, 'old' FROM range(100)")
		table := h.load(name)
		conn, err := duckOpen(t)
		h.must(err)
		var deletes []catalog.DeleteFile
		for bucket := range int32(2) {
			ref, err := h.lake.NewDataFileRef(t.Context(), table, []any{bucket})
			h.must(err)
			files, err := conn.CopyParquet(t.Context(), "SELECT range AS k FROM range(10, 20)", table.Schema.Fields[:1], ref.Local, copyOptions)
			h.must(err)
			ref.Bytes = files[0].Bytes
			deletes = append(deletes, catalog.DeleteFile{
				Ref: ref, Kind: catalog.EqualityDeletes, Partition: []any{bucket}, Rows: files[0].Rows, Equality: []catalog.FieldID{1},
			})
		}
		_, err = h.lake.RowDelta(t.Context(), table, nil, deletes)
		h.must(err)
		h.run("INSERT INTO n." + name + " SELECT range, 'new' FROM range(10, 15)")
		if got := h.numbers(name); len(got) != 95 {
			t.Fatalf("there are %d rows before", len(got))
		}
		h.apply(change{name: name, copies: copies, where: "s = 'old' AND k % 10 = 5", rows: "SELECT 15::BIGINT, 'changed'"})
		h.apply(change{name: name, copies: copies, where: "k = 12"})
		got := h.run("SELECT string_agg(k || s, ' ' ORDER BY k) FROM n." + name + " WHERE k BETWEEN 4 AND 25").Rows
		want := "4old 6old 7old 8old 9old 10new 11new 13new 14new 15changed 20old 21old 22old 23old 24old"
		if fmt.Sprint(got) != "[["+want+"]]" || len(h.numbers(name)) != 86 {
			t.Errorf("copies %t: the rows are %v, %d in all", copies, got, len(h.numbers(name)))
		}
	}
}
