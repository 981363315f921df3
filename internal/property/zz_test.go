package property

import (
	"os"
	"testing"
	"math/rand/v2"
	"strings"
)

func TestZZ(t *testing.T) {
	if os.Getenv("ZZ") == "" { t.Skip() }
	l := newLab(t)
	newWorld(l, rand.New(rand.NewPCG(seedOf(t), 0)), "r")
	q := "SELECT t1.a, t1.b, t2.a, t2.b, t1.v FROM r.t2 t1 INNER JOIN r.t2 t2 ON t1.a = t2.b AND t1.b = t2.b WHERE NOT EXISTS (SELECT 1 FROM r.t0 t3 WHERE t1.a = t3.b)"
	t2 := "(SELECT * FROM read_parquet('"+l.warehouse+"/r/t2/data/*/*/*.parquet', hive_partitioning=false))"
	t0 := "(SELECT * FROM read_parquet('"+l.warehouse+"/r/t0/data/*.parquet'))"
	for _, o := range []string{"", "statistics_propagation","join_filter_pushdown","filter_pushdown", "join_order", "late_materialization", "build_side_probe_side", "common_subplan", "cte_inlining"} {
		if err := l.conn.Exec(t.Context(), "SET disabled_optimizers = '"+o+"'"); err != nil { t.Log(o, err); continue }
		for _, x := range []string{"r.t0", t0} {
			for _, y := range []string{"r.t2", t2} {
			a := l.judge(strings.ReplaceAll(strings.ReplaceAll(q, "r.t2", y), "r.t0", x))
			t.Log(o, len(x), len(y), a.rows, a.err)
			}
		}
	}
	l.exec("SET disabled_optimizers=''")
	a := l.judge("EXPLAIN ANALYZE "+ strings.ReplaceAll(strings.ReplaceAll(q, "r.t2", t2), "r.t0", t0))
	for _, r := range a.rows { for _, v := range r { t.Log(v) } }
	a = l.judge("SELECT * FROM "+ t0 + " WHERE b = '\\x80'::BLOB")
	t.Log(a.rows)
	a = l.judge("SELECT file_name, row_group_id, stats_min, stats_max, stats_min_value, stats_max_value, encodings, num_values, stats_null_count, path_in_schema FROM parquet_metadata('"+l.warehouse+"/r/t0/data/*.parquet') WHERE path_in_schema='b'")
	for _, r := range a.rows { t.Log(r) }
}
