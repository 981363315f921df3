package property

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/manifest"
)

// TestDEL11: position deletes for files of an older spec count when they are filed under that spec, or name their file.
func TestDEL11(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct {
		name           string
		current, named bool
		rows           int
	}{{"own", false, false, 3}, {"named", true, true, 3}, {"current", true, false, 6}} {
		name := "e." + c.name
		l.table(definition{name: name, columns: []string{"id int", "a int", "v int"}, spec: []string{"identity a"}},
			[]string{"(1, 1, 10)", "(2, 1, 20)", "(3, 1, 30)"})
		old := l.onlyFile(name)
		l.setSpec(name, []string{"bucket[4] id"})
		gone := l.at(name, tuple(int32(1)), place(old, 0), place(old, 1), place(old, 2))
		if c.current {
			gone.Spec = 1
		}
		if c.named {
			gone.Target = old
		}
		// 1 is in bucket 0 of 4, and 2 and 3 too.
		l.delta(name, []lake.NewDataFile{l.dataFile(name, tuple(int32(0)), "(1, 1, 11)", "(2, 1, 21)", "(3, 1, 31)")}, gone)
		l.shows("SELECT count(*), sum(v) FROM "+name, fmt.Sprintf("%d %d", c.rows, 63+(c.rows-3)*20))
	}
}

// TestDEL12: two vectors of one Puffin file are told apart by where they lie.
func TestDEL12(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "e.t", columns: []string{"id long"}, version: 3}, ids(0, 299), ids(1000, 1299))
	d := l.deleter("e.t")
	first, second := d.positions("id = 0"), d.positions("id = 1000")
	for path := range first {
		first[path] = []int64{0, 100, 200}
	}
	for path := range second {
		first[path] = []int64{50, 150}
	}
	l.vectors("e.t", first)
	l.shows("SELECT count(*), count(*) FILTER (id IN (0, 100, 200, 1050, 1150)) FROM e.t", "595 0")
	l.shows("SELECT id FROM e.t WHERE id IN (0, 50, 100, 150, 200, 1000, 1050, 1100, 1150, 1200)", "50", "150", "1000", "1100", "1200")
}

// The vectors of DEL-14: of position 1, and of 0, 2 and one beyond 32 bits.
const (
	vectorOf1    = "00000022d1d339640100000000000000000000003a3000000100000000000000100000000100eebd85f4"
	vectorOfHigh = "0000003ad1d339640200000000000000000000003a30000001000000000001001000000000000200010000003a300000010000000000000010000000020080f9e810"
)

// TestDEL14: vectors as the specification frames them, found without the footer; each flipped bit ends the query.
func TestDEL14(t *testing.T) {
	l := newLab(t)
	make := func(name, vector string, rows int64) string {
		l.table(definition{name: name, columns: []string{"id long"}, version: 3}, ids(0, 3))
		file := l.onlyFile(name)
		l.delta(name, nil, l.puffin(name, blob{file, rows, vector})...)
		return file
	}
	make("e.one", vectorOf1, 1)
	l.shows("SELECT id FROM e.one", "0", "2", "3")
	make("e.high", vectorOfHigh, 3)
	l.shows("SELECT id FROM e.high", "1", "3")
	for i := range len(vectorOf1) / 2 {
		flipped := []byte(vectorOf1)
		digit := 2*i + i%2
		flipped[digit] = "0123456789abcdef"[strings.IndexByte("0123456789abcdef", flipped[digit])^(1<<(i%4))]
		name := fmt.Sprintf("e.flipped%d", i)
		file := make(name, string(flipped), 1)
		l.corrupt("SELECT count(*) FROM "+name, file, ".puffin")
	}
	file := make("e.miscounted", vectorOf1, 2)
	l.corrupt("SELECT count(*) FROM e.miscounted", file, ".puffin", "2")
}

// TestDEL15: rows are picked for deletion by the schema of today, in which older files have NULL for a newer column.
func TestDEL15(t *testing.T) {
	l := newLab(t)
	for _, how := range []string{"files", "partitions", "vectors"} {
		name := how + ".t"
		version := map[string]int{"vectors": 3}[how] // from version 3 on nobody adds position delete files
		l.table(definition{name: name, columns: []string{"n int"}, version: version}, ids(0, 9))
		l.addColumn(name, "c")
		var rows []string
		for i := 10; i < 20; i++ {
			rows = append(rows, fmt.Sprintf("(%d, 1)", i))
		}
		l.append(name, rows...)
		remove := func(cond string) {
			if d := l.deleter(name); how == "vectors" {
				d.byVector(cond, nil)
			} else {
				d.byPosition(cond, how == "files")
			}
			l.agree("SELECT * FROM " + name)
		}
		remove("c = 1")
		l.shows("SELECT count(*), max(n), count(c) FROM "+name, "10 9 0")
		remove("n = 3")
		l.shows("SELECT n FROM "+name+" WHERE n BETWEEN 2 AND 4", "2", "4")
		l.shows("SELECT count(*) FROM "+name, "9")
	}
}

// TestDEL17: a row of position deletes that names no row of a file ends the query.
func TestDEL17(t *testing.T) {
	l := newLab(t)
	for i, row := range []string{"('%s', NULL)", "('%s', -1)", "(NULL, 1)"} {
		for j, named := range []bool{false, true} {
			name := fmt.Sprintf("e.t%d%d", i, j)
			l.table(definition{name: name, columns: []string{"id long"}}, ids(0, 9))
			file := l.onlyFile(name)
			gone := l.at(name, nil, place(file, 2), strings.ReplaceAll(row, "%s", file))
			if named {
				gone.Target = file
			}
			l.delta(name, nil, gone)
			for _, what := range []string{"*", "count(*)", "max(id)"} {
				l.corrupt("SELECT "+what+" FROM "+name, gone.Ref.Path)
			}
		}
	}
}

// TestDeletesByDroppedColumns writes delete files for a spec whose column was dropped: they keep its partition values, by
// which they find their data files.
func TestDeletesByDroppedColumns(t *testing.T) {
	l := newLab(t)
	for name, remove := range map[string]func(*deleter){
		"r.each":   func(d *deleter) { d.byPosition("a = 2", true) },
		"r.all":    func(d *deleter) { d.byPosition("a = 2", false) },
		"r.values": func(d *deleter) { d.byValue("a = 2", "a") },
		"r.vector": func(d *deleter) { d.byVector("a = 2", nil) },
	} {
		version := map[string]int{"r.vector": 3}[name] // from version 3 on nobody adds position delete files
		l.table(definition{name: name, columns: []string{"a long", "c binary", "v int"}, spec: []string{"truncate[2] c", "bucket[4] c", "identity v"}, version: version},
			[]string{`(0, ''::BLOB, 1)`, `(1, '\x80'::BLOB, 1)`, `(2, '\x80'::BLOB, 1)`, `(3, NULL, 1)`})
		l.setSpec(name, []string{"identity v"})
		l.append(name, `(4, ''::BLOB, 1)`)
		l.drop(name, "c")
		l.addColumn(name, "c") // another one of that name
		remove(l.deleter(name))
		l.agree("SELECT * FROM " + name)
		if n := l.single(off, "SELECT count(*) FROM "+name); n != "4" {
			t.Errorf("%s has %s rows, wanted 4", name, n)
		}
	}
}

// TestCutBoundsOfPaths: a writer cut both bounds of file_path, and didn't raise the upper one. They look as if the delete file were of one
// data file, which isn't there.
func TestCutBoundsOfPaths(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "d.t", columns: []string{"p long", "n long"}, spec: []string{"identity p"}, version: 2}, []string{"(1, 1)", "(1, 2)", "(1, 3)", "(2, 4)"}, []string{"(1, 5)"})
	var change commit.Change
	for _, f := range l.files("d.t") {
		if f.Partition[0] == int64(1) && f.Rows == 3 {
			d := commit.DeleteFile(l.at("d.t", f.Partition, place(f.Ref.Path, 1)))
			bound := map[int][]byte{int(catalog.DeletePathID): []byte(f.Ref.Path[:16])}
			d.Lower, d.Upper = bound, bound
			change = commit.Change{Kind: commit.RowDelta, AddDeletes: []manifest.File{d}}
		}
	}
	_, err := l.catalog.Commit(t.Context(), l.load("d.t"), change)
	l.must(err)
	l.exec("DELETE FROM d.t WHERE n = 2")
	l.agree("SELECT * FROM d.t")
	for _, set := range []string{"SET tarn.row_change_mode = 'merge-on-read'", "SET tarn.row_change_mode = 'copy-on-write'"} {
		_, err := l.session(mode{set}).Exec(t.Context(), "UPDATE d.t SET n = n + 10 WHERE n IN (1, 11)")
		l.must(err)
		l.exec("UPDATE d.t SET n = n + 10 WHERE n IN (1, 11)")
		l.agree("SELECT * FROM d.t")
	}
	_, err = l.session(nil).Exec(t.Context(), "DELETE FROM d.t WHERE p = 1")
	l.must(err)
	l.exec("DELETE FROM d.t WHERE p = 1")
	l.agree("SELECT * FROM d.t")
}
