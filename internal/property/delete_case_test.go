package property

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/lake"
)

// ids are the SQL tuples of longs.
func ids(from, to int) (out []string) {
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf("(%d)", i))
	}
	return out
}

// onlyFile returns the path of a table's only data file.
func (l *lab) onlyFile(name string) string {
	l.t.Helper()
	d := l.deleter(name)
	if len(d.paths) != 1 {
		l.t.Fatalf("%s has %d data files", name, len(d.paths))
	}
	return d.paths[0]
}

// TestDEL1: a position counts the rows of the file, whatever filter drops or skips before.
func TestDEL1(t *testing.T) {
	l := newLab(t)
	for _, kind := range []string{"positions", "vector"} {
		version := map[string]int{"vector": 3}[kind] // from version 3 on nobody adds position delete files
		l.table(definition{name: kind + ".few", columns: []string{"id long"}, version: version}, ids(4, 6))
		l.table(definition{name: kind + ".many", columns: []string{"id long"}, version: version}, ids(0, 6999))
		for name, pos := range map[string]int64{kind + ".few": 1, kind + ".many": 4097} {
			file := l.onlyFile(name)
			if kind == "vector" {
				l.vectors(name, map[string][]int64{file: {pos}})
				continue
			}
			l.delta(name, nil, l.at(name, nil, place(file, pos)))
		}
		l.shows("SELECT id FROM "+kind+".few WHERE id IN (4, 6)", "4", "6")
		l.shows("SELECT id FROM "+kind+".few WHERE id > 4", "6")
		l.shows("SELECT id, _pos FROM "+kind+".few WHERE _pos > 0", "6 2")
		l.shows("SELECT id FROM "+kind+".many WHERE id BETWEEN 4096 AND 4099", "4096", "4098", "4099")
		l.shows("SELECT count(*), count(id), min(id) FROM "+kind+".many WHERE id >= 4097", "2902 2902 4098")
	}
}

// vectors deletes rows by deletion vectors of spec 0.
func (l *lab) vectors(name string, rows map[string][]int64) {
	l.t.Helper()
	var blobs []blob
	for path, list := range rows {
		blobs = append(blobs, l.vector(path, list...))
	}
	l.delta(name, nil, l.puffin(name, blobs...)...)
}

// TestDEL2: position deletes and vectors apply to files as old as themselves, equality deletes to older ones only, each
// file of deletes by its own number.
func TestDEL2(t *testing.T) {
	l := newLab(t)
	id := l.fieldOf(1, "id long")
	for _, version := range []int{2, 3} {
		name := fmt.Sprintf("v%d.t", version)
		l.create(definition{name: name, columns: []string{"id long"}, version: version})
		older := l.dataFile(name, nil, ids(1, 4)...)
		own := []catalog.DeleteFile{l.at(name, nil, place(older.Ref.Path, 0)), l.equal(name, "SELECT 2::BIGINT AS id", id)}
		if version == 3 {
			own = append(l.puffin(name, l.vector(older.Ref.Path, 0)), own[1])
		}
		l.delta(name, []lake.NewDataFile{older}, own...)
		l.delta(name, []lake.NewDataFile{l.dataFile(name, nil, "(3)")}, l.equal(name, "SELECT 3::BIGINT AS id", id))
		l.shows("SELECT id, _file = '"+older.Ref.Path+"' FROM "+name, "2 true", "4 true", "3 false")
		l.shows("SELECT count(*) FROM "+name, "3")
	}
}

// TestDEL3: equality deletes of a partition leave other partitions alone.
func TestDEL3(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "e.t", columns: []string{"part int", "key int", "val string"}, spec: []string{"identity part"}},
		[]string{"(0, 100, 'a')", "(0, 999, 'b')", "(1, 100, 'c')", "(1, 888, 'd')"})
	l.table(definition{name: "e.u", columns: []string{"part int"}, spec: []string{"identity part"}}, []string{"(0)", "(1)"})
	gone := l.equal("e.t", "SELECT 100::INTEGER AS key", l.fieldOf(2, "key int"))
	gone.Partition = tuple(int32(0))
	l.delta("e.t", nil, gone)
	l.shows("SELECT * FROM e.t", `0 999 "b"`, `1 100 "c"`, `1 888 "d"`)
	l.shows("SELECT val FROM e.t JOIN e.u USING (part)", `"b"`, `"c"`, `"d"`)
	l.shows("SELECT count(*), count(DISTINCT part) FROM e.t", "3 2")
}

// TestDEL4: equality deletes of a spec leave files of another spec alone, though their tuples are equal. Those of an
// unpartitioned spec, or of one that has only void fields left, apply to every file.
func TestDEL4(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct {
		name string
		spec []string
		kept int
	}{{"other", []string{"truncate[2] region"}, 1}, {"none", []string{}, 0}, {"void", []string{"void region"}, 0}} {
		name := "e." + c.name
		l.table(definition{name: name, columns: []string{"id int", "region string"}, spec: []string{"identity region"}}, []string{"(1, 'eu')"})
		l.setSpec(name, c.spec)
		gone := l.equal(name, "SELECT 1::INTEGER AS id", l.fieldOf(1, "id int"))
		gone.Spec = 1
		switch c.name {
		case "other":
			gone.Partition = tuple("eu")
		case "void":
			gone.Partition = tuple(nil)
		}
		l.delta(name, nil, gone)
		l.shows("SELECT count(*) FROM "+name, fmt.Sprint(c.kept))
		l.shows("SELECT count(id) FROM "+name+" WHERE region = 'eu'", fmt.Sprint(c.kept))
	}
}

// TestDEL6: NULL in an equality column deletes NULL only.
func TestDEL6(t *testing.T) {
	l := newLab(t)
	id, category := l.fieldOf(1, "id int"), l.fieldOf(2, "category string")
	l.table(definition{name: "e.t", columns: []string{"id int"}}, []string{"(1)", "(NULL)", "(3)"})
	l.delta("e.t", nil, l.equal("e.t", "SELECT 3::INTEGER AS id", id))
	l.shows("SELECT id FROM e.t", "1", "NULL")
	l.shows("SELECT count(*) FROM e.t WHERE id IS NULL", "1")
	l.delta("e.t", nil, l.equal("e.t", "SELECT NULL::INTEGER AS id", id))
	l.shows("SELECT id FROM e.t", "1")
	l.table(definition{name: "e.u", columns: []string{"id int", "category string"}}, []string{"(4, NULL)", "(4, 'x')"})
	l.delta("e.u", nil, l.equal("e.u", "SELECT 4::INTEGER AS id, NULL::VARCHAR AS category", id, category))
	l.shows("SELECT id, category FROM e.u", `4 "x"`)
}

// TestDEL7: equality deletes and data that were written in a narrower type are compared in the table's.
func TestDEL7(t *testing.T) {
	l := newLab(t)
	for i, c := range []struct{ narrow, wide, old, rows, gone, left string }{
		{"int", "long", "(5)", "(NULL), (0), (1), (4294967296)", "NULL::INTEGER", "5; 0; 1; 4294967296"},
		{"int", "long", "(5)", "(5), (4294967301)", "5::INTEGER", "4294967301"},
		{"float", "double", "(0.5)", "('NaN'::DOUBLE), (0.1), (0.5), (NULL)", "unnest(['0.5', 'NaN', '0.1']::FLOAT[])", "NULL; 0.1f"},
		{"decimal(9,2)", "decimal(38,2)", "(1.50)", "(1.5), (100000000000000000000)", "1.5::DECIMAL(9,2)", "100000000000000000000"},
		{"date", "timestamp", "('2024-01-01')", "('2024-01-01 00:00:00'), ('2024-01-01 00:00:01')", "DATE '2024-01-01'", `"2024-01-01 00:00:01.000000"`},
	} {
		name := fmt.Sprintf("e.t%d", i)
		l.table(definition{name: name, columns: []string{"x " + c.narrow}, version: 3}, []string{c.old})
		gone := l.equal(name, "SELECT "+c.gone+" AS x", l.fieldOf(1, "x "+c.narrow))
		l.setSchema(name, func(_, schema map[string]any) {
			schema["fields"].([]any)[0].(map[string]any)["type"] = strings.ReplaceAll(c.wide, ",", ", ")
		})
		l.delta(name, []lake.NewDataFile{l.dataFile(name, nil, c.rows)})
		l.delta(name, nil, gone)
		l.shows("SELECT x FROM "+name, strings.Split(c.left, "; ")...)
		l.shows("SELECT count(*) FROM "+name, fmt.Sprint(len(strings.Split(c.left, "; "))))
	}
}

// TestDEL9: equality columns are found by their IDs, and those that a file lacks have their initial defaults.
func TestDEL9(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct {
		name, gone string
		id         catalog.FieldID
		left       []string
	}{
		{"a", "SELECT 7::INTEGER AS k", 3, []string{"1 7 0", "2 8 0"}},
		{"b", "SELECT 0::INTEGER AS k", 3, nil},
		{"c", "SELECT 7::INTEGER AS k_old", 2, []string{"2 8 0"}},
		{"d", "SELECT 7::INTEGER AS k", 2, []string{"2 8 0"}}, // the name in the file is an old one
	} {
		name := "e." + c.name
		l.table(definition{name: name, columns: []string{"id int", "k int"}, version: 3}, []string{"(1, 7)", "(2, 8)"})
		l.setSchema(name, func(meta, schema map[string]any) {
			fields := schema["fields"].([]any)
			fields[1].(map[string]any)["name"] = "k_old"
			schema["fields"] = append(fields, map[string]any{"id": 3, "name": "k", "required": false, "type": "int", "initial-default": 0})
			meta["last-column-id"] = 3
		})
		column, _, _ := strings.Cut(c.gone[strings.LastIndex(c.gone, " ")+1:], " ")
		l.delta(name, nil, l.equal(name, c.gone, l.fieldOf(c.id, column+" int")))
		l.shows("SELECT * FROM "+name, c.left...)
		l.shows("SELECT count(*) FROM "+name, fmt.Sprint(len(c.left)))
		var firsts []string
		for _, row := range c.left {
			firsts = append(firsts, row[:1])
		}
		l.shows("SELECT id FROM "+name, firsts...)
	}
}
