package duck

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/errs"
)

// keptByHand returns what tarn_kept_at says of each row.
func keptByHand(t *testing.T, c *Conn, id int64, file int, rows []int64) []string {
	t.Helper()
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(rows), " ", "::BIGINT,"), "[]")
	return mustRows(t, c, fmt.Sprintf("SELECT %s(%d, %d, r) FROM (SELECT unnest([%s]) AS r)", keptAtName, id, file, list))
}

// The function in C agrees with the set for rows in any order, dense and sparse sets, across 2^32, wherever vectors end.
func TestKeptAtAnyRows(t *testing.T) {
	random := newSource(t)
	db, c := session(t, Options{Threads: 1})
	for range 60 {
		p := &deletes.Positions{}
		base := []int64{0, 1<<16 - 1000, 1<<32 - 1000, 1 << 50}[random.IntN(4)]
		spread := 1 + random.Int64N(10_000)
		for range random.IntN([]int{4000, 100, 2}[random.IntN(3)]) {
			p.Add(base + random.Int64N(spread))
		}
		rows := make([]int64, 1+random.IntN(3*vectorRows))
		step, start := random.Int64N(4), base+random.Int64N(spread) // 0: any order
		for i := range rows {
			rows[i] = start + int64(i)*step
			if step == 0 {
				rows[i] = base + random.Int64N(2*spread)
			}
		}
		if step == 0 && random.IntN(2) == 0 {
			slices.Sort(rows)
		}
		id := registerDeletes(t, db, FileDeletes{}, FileDeletes{Deleted: RowSet{Positions: p}})
		for i, got := range keptByHand(t, c, id, 1, rows) {
			if want := fmt.Sprint(!p.Contains(rows[i])); got != want {
				t.Fatalf("row %d of %d positions from %d on, rows from %d by %d: kept is %s", rows[i], p.Count(), base, start, step, got)
			}
		}
	}
}

// Who calls the function by hand, with whatever numbers, gets an answer or an error.
func TestKeptAtByHand(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	byValue := FileDeletes{Deleted: RowSet{Equality: []EqualityTest{{Columns: []int{0}, Set: &deletes.Values{}}}}}
	every := &deletes.Positions{}
	for i := range int64(100) {
		every.Add(i)
	}
	id := registerDeletes(t, db, atPositions(0, 7), FileDeletes{Deleted: RowSet{Positions: every}}, byValue, FileDeletes{Only: &RowSet{}})
	for file, want := range [][]string{
		{"true", "false", "false", "true", "true", "true", "true"},
		{"true", "false", "false", "false", "true", "true", "true"},
	} {
		if got := keptByHand(t, c, id, file, []int64{-1, 0, 7, 99, 100, math.MaxInt64, math.MinInt64}); !slices.Equal(got, want) {
			t.Errorf("file %d: %v, not %v", file, got, want)
		}
	}
	wantRows(t, c, fmt.Sprintf("SELECT count(*) FROM range(-50, 5000) t(i) WHERE %s(%d, (i > 60)::UBIGINT, i)", keptAtName, id), "5009")
	for _, args := range []string{
		"0, 0, 0", "-1, 0, 0", fmt.Sprintf("%d, 0, 0", int64(math.MaxInt64)), "NULL, 0, 0",
		fmt.Sprintf("%d, 2, 0", id), fmt.Sprintf("%d, 3, 0", id), fmt.Sprintf("%d, 4, 0", id), fmt.Sprintf("%d, %d, 0", id, uint64(math.MaxUint64)),
	} {
		for _, from := range []string{"", " FROM range(3000)"} {
			_, err := rowsOf(t.Context(), c, fmt.Sprintf("SELECT %s(%s)%s", keptAtName, args, from))
			wantError(t, err, errs.Internal, "deletes")
		}
	}
	wantRows(t, c, fmt.Sprintf("SELECT %s(%d, 0, 1) FROM range(0)", keptAtName, id))
}

// Only files that positions alone decide on are asked in C, and only while they take little memory.
func TestWhichFilesAreKeptInC(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	key := primitive(1, "k", longType)
	file := writeFile(t, c, "a.parquet", "SELECT i AS k FROM range(10) t(i)", key)
	other := file
	other.Equality = []catalog.EqualityColumn{{Root: key}}
	byValue := FileDeletes{Deleted: RowSet{Equality: []EqualityTest{{Columns: []int{0}, Set: valuesOf(t, c, "SELECT 4::BIGINT", 0, 1), Scopes: []int{0}}}}}
	many := &deletes.Positions{}
	for i := range int64(keptAtWords / 8) {
		many.Add(i * 64)
	}
	large := FileDeletes{Deleted: RowSet{Positions: many}}
	for _, test := range []struct {
		files  []ScanFile
		gone   []FileDeletes
		inC    int // of parts
		parts  int
		remain string
	}{
		{[]ScanFile{file, file}, []FileDeletes{atPositions(1, 2), {}}, 1, 1, "18"},
		{[]ScanFile{file, file}, []FileDeletes{atPositions(1, 2), {Only: &RowSet{}}}, 0, 1, "8"},
		{[]ScanFile{file, other}, []FileDeletes{atPositions(1, 2), byValue}, 1, 2, "17"},
		{slices.Repeat([]ScanFile{file}, 8), slices.Repeat([]FileDeletes{large}, 8), 1, 1, "72"},
		{slices.Repeat([]ScanFile{file}, 9), slices.Repeat([]FileDeletes{large}, 9), 0, 1, "81"},
	} {
		text := mustScan(t, Scan{Files: test.files, Columns: columnsOf(key), Deletes: registerDeletes(t, db, test.gone...)})
		if got, parts := strings.Count(text, keptAtName+"("), strings.Count(text, "read_parquet("); got != test.inC || parts != test.parts {
			t.Errorf("%d of %d parts are decided on in C, not %d of %d", got, parts, test.inC, test.parts)
		}
		wantRows(t, c, "SELECT count(*) FROM ("+text+")", test.remain)
	}
}

// Sets come and go while others are looked at, and even while they are themselves.
func TestKeptAtWhileSetsComeAndGo(t *testing.T) {
	db, c := session(t, Options{Threads: 2})
	key := primitive(1, "k", longType)
	file := writeFile(t, c, "a.parquet", "SELECT i AS k FROM range(20000) t(i)", key)
	held := heldInC()
	ids := make(chan int64, 8)
	var workers, byHand sync.WaitGroup
	for w := range 3 {
		own, err := db.Connect()
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		workers.Go(func() {
			for i := range int64(25) {
				id, release, err := db.RegisterDeletes(DeletesSpec{Files: []FileDeletes{atPositions(slices.Repeat([]int64{i, 5000 + i, 30000}, 1+w)...)}})
				if err != nil {
					t.Error(err)
					return
				}
				ids <- id
				text, err := ScanSQL(Scan{Files: []ScanFile{file}, Columns: columnsOf(key), Deletes: id})
				if got, failed := rowsOf(t.Context(), own, "SELECT count(*) FROM ("+text+")"); err != nil || failed != nil || got[0] != "19998" {
					t.Errorf("%v, %v, %v", got, err, failed)
				}
				release()
			}
		})
	}
	byHand.Go(func() {
		for id := range ids { // whether it is still registered or not
			if got, err := rowsOf(t.Context(), c, fmt.Sprintf("SELECT count(*) FROM range(60000) t(i) WHERE %s(%d, 0, i)", keptAtName, id)); err == nil && got[0] != "59997" {
				t.Errorf("%v by hand", got)
			}
		}
	})
	workers.Wait()
	close(ids)
	byHand.Wait()
	if left := heldInC(); left != held {
		t.Errorf("%d sets are held, not %d", left, held)
	}
}
