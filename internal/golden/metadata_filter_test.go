package golden

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
)

// TestPartitionFilters asks metadata tables by a field of the partition struct: it leaves manifests unread and rows out, and
// no others than the same condition does where it can't be seen for what it is.
func TestPartitionFilters(t *testing.T) {
	t.Parallel()
	s := session(t, newLab(t).files, Auto)
	for _, c := range []struct{ table, field string }{
		{"shop.orders.files", "customer_id_bucket"}, {"evo.part_rewritten.files", "id_bucket"}, {"evo.part_rewritten.all_files", "id_bucket_16"},
		{"evo.m2d.data_files", "ts_month"}, {"dels.eq_part.delete_files", "grp"}, {"mix.identn_l.files", "num"},
	} {
		columns := rowsOf(t, s, "SELECT * FROM "+c.table+" LIMIT 0").Names
		values := rowsOf(t, s, fmt.Sprintf("SELECT DISTINCT partition.%s::VARCHAR FROM %s LIMIT 3", c.field, c.table))
		if len(columns) < 5 || len(values.Rows) == 0 {
			t.Fatalf("%s has %d columns and %d values of %s", c.table, len(columns), len(values.Rows), c.field)
		}
		conditions := []string{"%s IS NULL", "%s IS NOT NULL"}
		for _, row := range values.Rows {
			if row[0] != nil {
				literal := fmt.Sprint(row[0])
				if _, err := strconv.Atoi(literal); err != nil {
					literal = "'" + strings.ReplaceAll(literal, "'", "''") + "'"
				}
				conditions = append(conditions, "%s = "+literal, "%s <> "+literal, "%s > "+literal+" OR content = 1")
			}
		}
		for _, cond := range conditions {
			seen := fmt.Sprintf(cond, "partition."+c.field)
			hidden := fmt.Sprintf(cond, "(CASE WHEN random() < 2 THEN partition END)."+c.field)
			want := rowsOf(t, s, fmt.Sprintf("SELECT file_path, content FROM %s WHERE %s", c.table, hidden))
			got := rowsOf(t, s, fmt.Sprintf("SELECT file_path, content FROM %s WHERE %s", c.table, seen))
			if d := Diff(want.Rows, got.Rows); d != "" {
				t.Errorf("%s WHERE %s: %s", c.table, seen, d)
			}
		}
	}
	text, err := s.Explain(t.Context(), "SELECT count(*) FROM evo.part_rewritten.files WHERE partition.id_bucket = 3", tarn.ExplainOptions{})
	if err != nil || !strings.Contains(text, "manifests 1 of 3 read") {
		t.Errorf("%v\n%s", err, text)
	}
}
