package property

import (
	"fmt"
	"testing"

	"github.com/tarndb/tarn/internal/lake"
)

// TestSharedDeleteFiles: a statement that reads one delete file for two tables, or for two versions of one, applies it to
// each by its own sequence numbers and types.
func TestSharedDeleteFiles(t *testing.T) {
	l := newLab(t)
	id, in := l.fieldOf(1, "id long"), tuple(int32(0))
	for _, n := range []string{"e.a", "e.b"} {
		l.create(definition{name: n, columns: []string{"id long"}, spec: []string{"bucket[1] id"}})
	}
	data := func(n string, rows ...string) { l.delta(n, []lake.NewDataFile{l.dataFile(n, in, rows...)}) }
	first, second := l.equal("e.a", "SELECT 3::BIGINT AS id", id), l.equal("e.a", "SELECT 4::BIGINT AS id", id)
	first.Partition, second.Partition = in, in
	data("e.a", "(1)", "(3)", "(4)")
	data("e.a", "(5)")
	data("e.a", "(3)")
	l.delta("e.a", nil, first)
	l.delta("e.a", nil, second)
	data("e.b", "(1)", "(3)", "(4)")
	l.delta("e.b", nil, first)
	data("e.b", "(3)") // newer than the delete of 3 here, and not in the other table
	l.delta("e.b", nil, second)
	l.shows("SELECT id FROM e.a", "1", "5")
	l.shows("SELECT id FROM e.b", "1", "3")
	l.shows("SELECT 'a', id FROM e.a UNION ALL SELECT 'b', id FROM e.b", `"a" 1`, `"a" 5`, `"b" 1`, `"b" 3`)
	l.shows("SELECT 'b', id FROM e.b UNION ALL SELECT 'a', id FROM e.a", `"a" 1`, `"a" 5`, `"b" 1`, `"b" 3`)
	l.shows("SELECT a.id, b.id FROM e.b FULL JOIN e.a ON a.id = b.id", "1 1", "5 NULL", "NULL 3")

	const n = "e.versions"
	l.table(definition{name: n, columns: []string{"x date", "v int"}, version: 3}, []string{"('2024-01-01', 1)", "('2024-01-02', 2)"})
	l.delta(n, nil, l.equal(n, "SELECT DATE '2024-01-01' AS x", l.fieldOf(1, "x date")))
	old := fmt.Sprintf("%s VERSION AS OF %d", n, l.load(n).Snapshot.ID)
	l.setSchema(n, func(_, schema map[string]any) { schema["fields"].([]any)[0].(map[string]any)["type"] = "timestamp" })
	l.delta(n, []lake.NewDataFile{l.dataFile(n, nil, "('2024-01-03 00:00:00', 3)")})
	l.shows("SELECT 'old', v FROM "+old+" UNION ALL SELECT 'new', v FROM "+n, `"old" 2`, `"new" 2`, `"new" 3`)
	l.shows("SELECT 'new', v FROM "+n+" UNION ALL SELECT 'old', v FROM "+old, `"old" 2`, `"new" 2`, `"new" 3`)
}

// TestSharedBytes: two vectors may lie in one place, and one file of equality deletes may be there for two sets of columns.
func TestSharedBytes(t *testing.T) {
	l := newLab(t)
	l.create(definition{name: "e.t", columns: []string{"id long"}, version: 3})
	a, b := l.dataFile("e.t", nil, ids(0, 9)...), l.dataFile("e.t", nil, ids(10, 19)...)
	l.delta("e.t", []lake.NewDataFile{a, b})
	vectors := l.puffin("e.t", l.vector(a.Ref.Path, 1))
	other := vectors[0]
	other.Target = b.Ref.Path
	l.delta("e.t", nil, vectors[0], other)
	l.shows("SELECT count(*), count(*) FILTER (id IN (1, 11)) FROM e.t", "18 0")

	l.table(definition{name: "e.u", columns: []string{"a int", "b int"}}, []string{"(1, 1)", "(1, 2)", "(2, 2)", "(3, 1)", "(4, 2)"})
	both := l.equal("e.u", "SELECT 1::INTEGER AS a, 2::INTEGER AS b", l.fieldOf(1, "a int"), l.fieldOf(2, "b int"))
	one, two := both, both
	one.Equality, two.Equality = both.Equality[:1], both.Equality[1:]
	l.delta("e.u", nil, both)
	l.shows("SELECT * FROM e.u", "1 1", "2 2", "3 1", "4 2")
	l.delta("e.u", nil, one)
	l.shows("SELECT * FROM e.u", "2 2", "3 1", "4 2")
	l.delta("e.u", nil, two)
	l.shows("SELECT x.b, y.a FROM e.u x JOIN e.u y USING (a)", "1 3")
}

// TestOddPositions: positions may repeat, be in any order, lie beyond the file, and name files that aren't there. A file of
// deletes that names one data file says nothing of others, whatever its rows say.
func TestOddPositions(t *testing.T) {
	l := newLab(t)
	const n = "e.t"
	l.create(definition{name: n, columns: []string{"id long"}})
	first, second := l.dataFile(n, nil, ids(0, 9)...), l.dataFile(n, nil, ids(10, 19)...)
	a, b := first.Ref.Path, second.Ref.Path
	l.delta(n, []lake.NewDataFile{first, second})
	l.delta(n, nil, l.at(n, nil, place(b, 3), place(a, 3), place(a, 3), place("nowhere", 1), place(a, 99), place(a, 1<<40), place(a, 1),
		place(b, 3), place(a, 1<<63-1)))
	named := l.at(n, nil, place(a, 5), place(b, 5))
	named.Target = a
	l.delta(n, nil, named)
	l.shows("SELECT id FROM e.t WHERE id < 10", "0", "2", "4", "6", "7", "8", "9")
	l.shows("SELECT id FROM e.t WHERE id > 9", "10", "11", "12", "14", "15", "16", "17", "18", "19")
	l.shows("SELECT count(*), min(id), max(id) FROM e.t", "16 0 19")
	l.shows("SELECT count(*) FROM e.t x JOIN e.t y USING (id)", "16")
	l.shows("SELECT count(*) FROM (SELECT 1 FROM e.t LIMIT 15)", "15")
	l.shows("SELECT count(*) FROM (SELECT 1 FROM e.t LIMIT 100)", "16")
}

// TestUpgradedTable: after an upgrade to format version 3, position deletes count for the files without a vector, and a
// vector has all positions of its file.
func TestUpgradedTable(t *testing.T) {
	l := newLab(t)
	const n = "e.t"
	l.create(definition{name: n, columns: []string{"id long"}})
	first, second := l.dataFile(n, nil, ids(0, 9)...), l.dataFile(n, nil, ids(10, 19)...)
	a, b := first.Ref.Path, second.Ref.Path
	l.delta(n, []lake.NewDataFile{first, second})
	named := l.at(n, nil, place(a, 5), place(a, 6))
	named.Target = a
	l.delta(n, nil, named, l.at(n, nil, place(a, 0), place(b, 0)), l.equal(n, "SELECT unnest([8, 18])::BIGINT AS id", l.fieldOf(1, "id long")))
	l.evolve(n, func(meta map[string]any) { meta["format-version"], meta["next-row-id"] = 3, 0 })
	l.shows("SELECT id FROM e.t WHERE id < 10", "1", "2", "3", "4", "7", "9")
	l.shows("SELECT id FROM e.t WHERE id >= 10", "11", "12", "13", "14", "15", "16", "17", "19")
	l.delta(n, nil, l.puffin(n, l.vector(a, 1))...)
	l.shows("SELECT id FROM e.t WHERE id < 10", "0", "2", "3", "4", "5", "6", "7", "9")
	l.shows("SELECT count(*) FROM e.t", "16")
}
