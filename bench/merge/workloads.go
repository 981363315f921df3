package main

import "fmt"

// size says how many rows the table has.
type size struct {
	rows int64
	seed int64 // another one gives other rows of the same kind
}

// workload is a statement and its bar.
type workload struct {
	name   string
	table  string // that is changed
	source string // the table of the keys that it is about
	copies bool
	// cpuBar is for Tarn's CPU over DuckDB's, which rewrites the files with matches or, of a merge on read, scans the key
	// column; 0: none.
	cpuBar float64
}

// The bars of all workloads.
const (
	memoryBar = 300.0 // MiB at the first size
	growthBar = 1.3   // of memory, when there is four times the data
	copyBar   = 1.3
	mergeBar  = 3.0
)

var workloads = []workload{
	{"upsert 1%, copy", "v2", "changes1", true, copyBar},
	{"upsert 1%, merge", "v2", "changes1", false, mergeBar},
	{"upsert 5%, copy", "v2", "changes5", true, copyBar},
	{"upsert 5%, merge", "v2", "changes5", false, 0},
	{"upsert one bucket, copy", "v2", "changes_one", true, 0},
	{"upsert one bucket, merge", "v2", "changes_one", false, 0},
	{"delete 0.1%, copy", "v2", "gone", true, copyBar},
	{"delete 0.1%, merge", "v2", "gone", false, 0},
	{"lineage, upsert 1%, copy", "v3", "changes1", true, 0},
	{"lineage, upsert 1%, merge", "v3", "changes1", false, mergeBar},
}

// isDelete says whether rows go and none come.
func (w *workload) isDelete() bool { return w.source == "gone" }

func (w *workload) mode() string {
	if w.copies {
		return "copy-on-write"
	}
	return "merge-on-read"
}

// statement returns what is measured.
func (w *workload) statement() string {
	if w.isDelete() {
		return fmt.Sprintf("DELETE FROM bench.%s WHERE order_id IN (SELECT order_id FROM bench.%s)", w.table, w.source)
	}
	return fmt.Sprintf("MERGE INTO bench.%s t USING bench.%s s ON t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", w.table, w.source)
}

// check returns a query of the rows in a relation: how many there are, and a sum over all their values.
func check(rows string) string {
	return "SELECT count(*) AS n, sum(hash(order_id, customer_id, amount, status, order_date)) AS h FROM " + rows
}

// want returns the query of the rows that come out, over what the table and the source are read by.
func (w *workload) want(table, source string) string {
	rows := fmt.Sprintf("SELECT * FROM %s AS t WHERE NOT EXISTS (FROM %s AS s WHERE s.order_id = t.order_id)", table, source)
	if !w.isDelete() {
		rows += " UNION ALL SELECT * FROM " + source
	}
	return check("(" + rows + ")")
}
