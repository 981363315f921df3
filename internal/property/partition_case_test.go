package property

import (
	"fmt"
	"testing"
)

// partitionBy is a field of a spec's JSON.
func partitionBy(id, source int, name, transform string) map[string]any {
	return map[string]any{"field-id": id, "source-id": source, "name": name, "transform": transform}
}

// setFields gives a table a new current spec of those fields, whose IDs may be used before.
func (l *lab) setFields(name string, fields ...any) {
	l.t.Helper()
	l.evolve(name, func(meta map[string]any) {
		specs := meta["partition-specs"].([]any)
		meta["partition-specs"] = append(specs, map[string]any{"spec-id": len(specs), "fields": append([]any{}, fields...)})
		meta["default-spec-id"], meta["last-partition-id"] = len(specs), 1999
	})
}

// TestPartitionCases are cases of specs that changed, under their ids in the list of other engines' faults: what they say of
// reading.
func TestPartitionCases(t *testing.T) {
	for id, run := range map[string]func(*lab){
		"EVP-1 dropped source of an old spec": droppedSource, "EVP-4 one field ID with two parameters": otherParameter,
		"EVP-6 void fields": voidFields, "EVP-7 tuples of NULL in several specs": nullTuples, "EVP-9 NULL and texts like it": nullAndTexts,
		"EVP-11 old name of a source": sourceRenamed,
	} {
		t.Run(id, func(t *testing.T) { run(newLab(t)) })
	}
}

func droppedSource(l *lab) {
	for i, fn := range []string{"bucket[8] a", "identity a", "truncate[10] a"} {
		name := fmt.Sprintf("a.t%d", i)
		l.table(definition{name: name, columns: []string{"id int", "a int", "b int"}, spec: []string{fn}}, []string{"(1, 1, 10)"})
		l.setSpec(name, []string{"bucket[4] b"})
		l.drop(name, "a")
		l.agree("SELECT * FROM " + name)
		l.append(name, "(2, 10)")
		l.agree("SELECT * FROM " + name + " WHERE b = 10")
		l.agree("SELECT x.id, y.id FROM " + name + " x JOIN " + name + " y ON x.b = y.b")
		l.tells("SELECT count(*) FROM "+name+".files", "(2)")
		l.tells("SELECT count(*) FROM "+name+".partitions", "(2)")
	}
}

// otherParameter has a spec that gives the field a new ID, as it must be, and one that doesn't.
func otherParameter(l *lab) {
	for _, id := range []int{1001, 1000} {
		for _, fn := range []string{"bucket[10]", "truncate[3]"} {
			name := fmt.Sprintf("a.t%d_%c", id, fn[0])
			l.table(definition{name: name, columns: []string{"id int", "data string"}, spec: []string{"bucket[4] data"}}, []string{"(1, 'abcd')", "(2, 'xyz')"})
			l.setFields(name, partitionBy(id, 2, "p0", fn))
			l.append(name, "(3, 'abcd')", "(4, NULL)", "(5, 'abcz')")
			l.agree("SELECT * FROM " + name)
			l.agree("SELECT id FROM " + name + " WHERE data = 'abcd'")
			l.agree("SELECT x.id, y.id FROM " + name + " x JOIN " + name + " y ON x.data = y.data")
			l.tells("SELECT sum(record_count) FROM "+name+".files", "(5)")
		}
	}
}

// voidFields drops fields as format version 1 must, by making them void.
func voidFields(l *lab) {
	for _, version := range []int{1, 2} {
		name := fmt.Sprintf("a.t%d", version)
		l.table(definition{name: name, columns: []string{"id int", "ts timestamp", "s string"}, spec: []string{"year ts", "bucket[2] s"}, version: version},
			[]string{"(1, TIMESTAMP '2020-05-05 01:00:00', 'a')", "(2, TIMESTAMP '2021-05-05 01:00:00', 'b')"})
		void, gone := partitionBy(1000, 2, "p0", "void"), partitionBy(1001, 3, "p1", "void")
		l.setFields(name, void, gone, partitionBy(1002, 2, "p2", "month"))
		l.append(name, "(3, TIMESTAMP '2020-05-06 01:00:00', 'a')")
		l.setFields(name, void, gone, partitionBy(1002, 2, "p2", "void"), partitionBy(1003, 2, "p3", "day"))
		l.append(name, "(4, TIMESTAMP '2020-05-05 02:00:00', 'a')", "(5, NULL, NULL)")
		for _, where := range []string{"ts >= TIMESTAMP '2020-05-05 00:00:00' AND ts < TIMESTAMP '2020-05-06 00:00:00'", "ts > TIMESTAMP '2021-01-01'", "ts IS NULL", "s = 'a'", "s = 'b'", "s IS NULL"} {
			l.agree("SELECT id FROM " + name + " WHERE " + where)
		}
		l.agree("SELECT x.id, y.id FROM " + name + " x JOIN " + name + " y ON x.s = y.s")
		l.agree("SELECT s, count(*) FROM " + name + " GROUP BY s")
		l.tells("SELECT partition.p0, partition.p1 IS NULL, record_count FROM "+name+".partitions WHERE spec_id > 0",
			"(NULL, true, 1)", "(NULL, true, 1)", "(NULL, true, 1)")
	}
}

func nullTuples(l *lab) {
	l.table(definition{name: "a.t", columns: []string{"a int", "b int", "c int"}, spec: []string{"identity a"}}, []string{"(NULL, NULL, NULL)"})
	l.setSpec("a.t", []string{"identity a", "identity b"})
	l.append("a.t", "(NULL, NULL, NULL)")
	l.setSpec("a.t", []string{"identity a", "identity b", "identity c"})
	l.append("a.t", "(NULL, NULL, NULL)")
	l.tells("SELECT spec_id, record_count FROM a.t.partitions", "(0, 1)", "(1, 1)", "(2, 1)")
	l.agree("SELECT a, b, c, count(*) FROM a.t GROUP BY a, b, c")
	l.table(definition{name: "a.swap", columns: []string{"a int", "b int"}, spec: []string{"identity a", "identity b"}}, []string{"(1, 2)"})
	l.setFields("a.swap", partitionBy(1001, 2, "p1", "identity"), partitionBy(1000, 1, "p0", "identity"))
	l.append("a.swap", "(3, 4)")
	l.tells("SELECT partition.p0, partition.p1 FROM a.swap.partitions", "(1, 2)", "(3, 4)")
	l.agree("SELECT * FROM a.swap WHERE a = 3 OR b = 2")
	l.agree("SELECT x.a, y.b FROM a.swap x JOIN a.swap y ON x.a = y.a AND x.b = y.b")
}

func nullAndTexts(l *lab) {
	l.table(definition{name: "a.t", columns: []string{"id int", "s string"}, spec: []string{"identity s"}},
		[]string{"(1, NULL)", "(2, 'null')", "(3, '')", "(4, '__HIVE_DEFAULT_PARTITION__')", "(5, 'a/b=c%2F')", "(6, '..')"})
	l.tells("SELECT id FROM a.t WHERE s IS NULL", "(1)")
	for i, text := range []string{"null", "", "__HIVE_DEFAULT_PARTITION__", "a/b=c%2F", ".."} {
		l.tells("SELECT id FROM a.t WHERE s = '"+text+"'", fmt.Sprintf("(%d)", i+2))
	}
	l.tells("SELECT count(*) FROM a.t.partitions", "(6)")
	l.agree("SELECT x.id, y.id FROM a.t x JOIN a.t y ON x.s IS NOT DISTINCT FROM y.s")
	l.agree("SELECT s, count(*) FROM a.t GROUP BY s")
}

func sourceRenamed(l *lab) {
	l.table(definition{name: "a.t", columns: []string{"id int", "name string"}, spec: []string{"identity name"}}, []string{"(1, 'x')"})
	l.rename("a.t", "name", "name1")
	l.setSchema("a.t", func(meta, schema map[string]any) {
		schema["fields"], meta["last-column-id"] = append(schema["fields"].([]any), column(3, "name", "int")), 3
	})
	l.exec("ALTER TABLE a.t ADD COLUMN name INTEGER")
	l.append("a.t", "(2, 'y', 7)", "(3, NULL, 8)")
	for _, where := range []string{"name1 = 'x'", "name1 = 'y'", "name = 7", "name IS NULL", "name1 IS NULL"} {
		l.agree("SELECT * FROM a.t WHERE " + where)
	}
	l.agree("SELECT x.id, y.name FROM a.t x JOIN a.t y ON x.name1 = y.name1")
	l.tells("SELECT partition.p0 FROM a.t.partitions", `("x")`, `("y")`, "(NULL)")
}
