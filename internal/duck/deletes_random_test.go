package duck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/transform"
)

// world is a random scan and, as tables of DuckDB's own, what it must give.
type world struct {
	source
	t     *testing.T
	db    *DB
	conn  *Conn
	files []ScanFile
	gone  []FileDeletes
	sets  [2]*deletes.Values // by k, and by k and s.x
}

var (
	worldKey    = primitive(1, "k", longType)
	worldStruct = structOf(2, "s", primitive(4, "x", stringType), primitive(3, "n", longType))
	worldPart   = withDefault(primitive(5, "p", stringType), "none")
)

// oldKey and oldStruct are what some files have.
var (
	oldKey    = primitive(1, "id", intType)
	oldStruct = structOf(2, "st", primitive(3, "number", intType), primitive(4, "x", stringType))
)

// Random files, of several shapes and parts, with random deletes by position and value, under random filters: a scan gives
// what a plain reading of the rules does.
func TestRandomDeletes(t *testing.T) {
	random := newSource(t)
	for range 6 {
		db, c := session(t, Options{Threads: 1 + random.IntN(2)})
		w := &world{source: random, t: t, db: db, conn: c}
		w.build()
		w.check()
	}
}

func (w *world) build() {
	mustExec(w.t, w.conn, `CREATE TABLE raw (file INT, pos BIGINT, sequence BIGINT, k BIGINT, s STRUCT(x VARCHAR, n BIGINT), p VARCHAR);
		CREATE TABLE gone_at (file INT, pos BIGINT); CREATE TABLE gone_k (scope INT, sequence BIGINT, k BIGINT);
		CREATE TABLE gone_kx (scope INT, sequence BIGINT, k BIGINT, x VARCHAR)`)
	for i := range w.sets {
		w.sets[i] = &deletes.Values{}
		for scope := range 2 {
			sequence := 1 + w.Int64N(6)
			rows := fmt.Sprintf("SELECT CASE WHEN %d %% 3 > 0 THEN nullif((i * 7919 %% 50)::BIGINT, 13) END AS k FROM range(%d) t(i)", w.IntN(9), w.IntN(6))
			if i == 0 {
				addValues(w.t, w.conn, w.sets[i], rows, scope, sequence)
				mustExec(w.t, w.conn, fmt.Sprintf("INSERT INTO gone_k SELECT %d, %d, k FROM (%s)", scope, sequence, rows))
				continue
			}
			rows = fmt.Sprintf("SELECT k, CASE WHEN k %% 4 > 0 THEN 'x' || k %% 4 END AS x FROM (%s)", rows)
			addValues(w.t, w.conn, w.sets[i], rows, scope, sequence)
			mustExec(w.t, w.conn, fmt.Sprintf("INSERT INTO gone_kx SELECT %d, %d, k, x FROM (%s)", scope, sequence, rows))
		}
	}
	for i := range 1 + w.IntN(6) {
		w.addFile(i)
	}
}

// addFile makes a file, its rows in raw, and its deletes.
func (w *world) addFile(i int) {
	rows, sequence := w.IntN(6000), 1+w.Int64N(6)
	p := []string{"'none'", "'a'", "NULL"}[w.IntN(3)]
	mustExec(w.t, w.conn, fmt.Sprintf(`INSERT INTO raw SELECT %d, pos, %d, k, CASE WHEN pos %% 11 > 0 THEN {'x': x, 'n': pos} END, %s
		FROM (SELECT pos, nullif((pos * %d %% 50)::BIGINT, 13) AS k, CASE WHEN pos %% 5 > 0 THEN 'x' || pos %% 4 END AS x FROM range(%d) t(pos))`,
		i, sequence, p, 1+w.IntN(40), rows))
	own := fmt.Sprintf("FROM raw WHERE file = %d ORDER BY pos", i)
	var f ScanFile
	old := "SELECT k::INTEGER AS id, CASE WHEN s IS NOT NULL THEN {'number': s.n::INTEGER, 'x': s.x} END AS st "
	switch w.IntN(3) {
	case 0:
		f = w.write(i, "SELECT k, s "+own, worldKey, worldStruct)
	case 1:
		f = shaped(w.write(i, old+own, oldKey, oldStruct), oldKey, oldStruct)
	case 2:
		f = plainFile(w.t, w.conn, old+own, oldKey, oldStruct)
	}
	if p != "'none'" || w.IntN(2) == 0 {
		f.Constants = map[catalog.FieldID]transform.Value{5: map[string]transform.Value{"'none'": "none", "'a'": "a", "NULL": nil}[p]}
	}
	w.files = append(w.files, f)
	w.gone = append(w.gone, w.deletesOf(i, int64(rows), sequence))
}

func (w *world) write(i int, sql string, fields ...catalog.Field) ScanFile {
	name := fmt.Sprintf("%d.parquet", i)
	path := w.t.TempDir() + "/" + name
	_, err := w.conn.CopyParquet(w.t.Context(), sql, fields, path, CopyOptions{RowGroupRows: vectorRows, Ordered: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return ScanFile{Ref: catalog.FileRef{Path: name, Local: path}}
}

func (w *world) deletesOf(i int, rows, sequence int64) FileDeletes {
	out := FileDeletes{Sequence: sequence}
	if w.IntN(3) > 0 && rows > 0 {
		out.Deleted.Positions = &deletes.Positions{}
		from, step := w.Int64N(rows), 1+w.Int64N(50)
		for at := from; at < rows; at += step {
			out.Deleted.Positions.Add(at)
		}
		mustExec(w.t, w.conn, fmt.Sprintf("INSERT INTO gone_at SELECT %d, i FROM range(%d, %d, %d) t(i)", i, from, rows, step))
	}
	scopes := [][]int{{0}, {1}, {1, 0}}[i%3]
	if by := w.IntN(4); by > 0 { // by k, by k and s.x, by both
		columns := []catalog.EqualityColumn{{Root: worldStruct, Path: []catalog.FieldID{4}}, {Root: worldKey}}
		w.files[i].Equality = columns
		for kind, test := range []EqualityTest{{Columns: []int{1}}, {Columns: []int{1, 0}}} {
			if by>>kind&1 == 0 {
				continue
			}
			test.Set, test.Scopes = w.sets[kind], scopes
			out.Deleted.Equality = append(out.Deleted.Equality, test)
			table, also := "gone_k", ""
			if kind == 1 {
				table, also = "gone_kx", " AND g.x IS NOT DISTINCT FROM s.x"
			}
			mustExec(w.t, w.conn, fmt.Sprintf(`INSERT INTO gone_at SELECT file, pos FROM raw WHERE file = %d AND EXISTS (FROM %s g
				WHERE g.scope IN (%s) AND g.sequence > %d AND g.k IS NOT DISTINCT FROM raw.k%s)`,
				i, table, strings.Trim(strings.ReplaceAll(fmt.Sprint(scopes), " ", ","), "[]"), sequence, also))
		}
	}
	return out
}

func (w *world) check() {
	columns := []ScanColumn{{worldKey, "k"}, {worldStruct, "s"}, {worldPart, "p"}}
	position, _ := catalog.MetadataColumn(metadataTable, catalog.PosID)
	columns = append(columns, ScanColumn{position, "pos"})
	if w.IntN(2) == 0 {
		slices.Reverse(w.files)
		slices.Reverse(w.gone)
	}
	s := Scan{Files: w.files, Columns: columns, Deletes: registerDeletes(w.t, w.db, w.gone...)}
	truth := "SELECT k, s, p, pos FROM raw ANTI JOIN gone_at USING (file, pos)"
	for range 5 {
		where := []string{
			"true", fmt.Sprintf("k = %d", w.IntN(50)), "k IS NULL", fmt.Sprintf("s.n > %d", w.IntN(9000)), "s.x = 'x1'", "s IS NULL",
			"p = 'a'", "p IS NULL", fmt.Sprintf("pos BETWEEN %d AND %d", w.IntN(3000), w.IntN(9000)), "k IN (1, 5, 9) AND p = 'none'",
			fmt.Sprintf("pos %% 1000 = %d OR k < %d", w.IntN(1000), w.IntN(50)),
		}[w.IntN(11)]
		s.Filter = ""
		outer := "SELECT * FROM (" + mustScan(w.t, s) + ") WHERE " + where
		s.Filter = where
		inGo := strings.ReplaceAll(mustScan(w.t, s), keptAtName+"(", keptName+"(")
		for _, text := range []string{outer, mustScan(w.t, s), inGo} {
			want := "SELECT * FROM (" + truth + ") WHERE " + where
			both := fmt.Sprintf("SELECT (SELECT count(*) FROM ((%s) EXCEPT ALL (%s))), (SELECT count(*) FROM ((%s) EXCEPT ALL (%s)))", text, want, want, text)
			wantRows(w.t, w.conn, both, "0|0")
		}
	}
	counted := Scan{Files: w.files, Deletes: s.Deletes}
	wantRows(w.t, w.conn, "SELECT count(*) FROM ("+mustScan(w.t, counted)+")", mustRows(w.t, w.conn, "SELECT count(*) FROM ("+truth+")")...)
}
