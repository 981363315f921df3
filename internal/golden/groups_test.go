package golden_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/golden/plainreader"
)

// joins are checks without a condition that rules files out, by what they join. A check's name ends in the kind of join.
var joins = []struct{ prefix, kinds, left, right, fields string }{
	{"k1-%s-rows", "inner left right full", "shop/orders", "shop/customers", "customer_id_bucket"},
	{"k1-int-long-%s", "inner left right full", "shop/orders", "shop/customers_int", "customer_id_bucket"},
	{"k1-manyfiles-%s", "inner left right full", "shop/many_files", "shop/customers", "customer_id_bucket"},
	{"k1-empty-%s", "inner left right full", "shop/orders", "shop/empty", "customer_id_bucket"},
	{"k1-two-%s", "inner left full", "keys/two_l", "keys/two_r", "a_bucket b_bucket"},
	{"k1-key-binary-%s", "inner full anti group", "keys/l_binary", "keys/r_binary", "k_bucket"},
	{"k1-key-date-%s", "inner full anti group", "keys/l_date", "keys/r_date", "k_bucket"},
	{"k1-key-decbig-%s", "inner full anti group", "keys/l_decbig", "keys/r_decbig", "k_bucket"},
	{"k1-key-decimal-%s", "inner full anti group", "keys/l_decimal", "keys/r_decimal", "k_bucket"},
	{"k1-key-int-%s", "inner full anti group", "keys/l_int", "keys/r_int", "k_bucket"},
	{"k1-key-ntz-%s", "inner full anti group", "keys/l_ntz", "keys/r_ntz", "k_bucket"},
	{"k1-key-string-%s", "inner full anti group", "keys/l_string", "keys/r_string", "k_bucket"},
	{"k1-key-tstz-%s", "inner full anti group", "keys/l_tstz", "keys/r_tstz", "k_bucket"},
	{"k2-b7-b7-%s", "inner left full", "mix/b7", "mix/b7", "id_bucket"},
	{"k2-day_l-day_r-%s", "inner full", "mix/day_l", "mix/day_r", "ts_day"},
	{"k2-dday-%s", "full", "mix/dday_l", "mix/dday_r", "d_day"},
	{"k2-ident-%s", "inner left full", "mix/ident_l", "mix/ident_r", "region"},
	{"k2-identn-%s", "inner left full", "mix/identn_l", "mix/identn_r", "num"},
	{"k2-bd_l-bd_r-both-%s", "inner full", "mix/bd_l", "mix/bd_r", "id_bucket ts_day"},
	{"k2-bd_l-db_r-both-%s", "inner full", "mix/bd_l", "mix/db_r", "id_bucket ts_day"},
}

// TestSurvivingGroups counts the groups of the manifests' tuples: which of them a join needs follows from its kind alone.
func TestSurvivingGroups(t *testing.T) {
	for _, j := range joins {
		left, right := groups(t, j.left, j.fields), groups(t, j.right, j.fields)
		for _, kind := range strings.Fields(j.kinds) {
			id := fmt.Sprintf(j.prefix, kind)
			want, ok := golden.GroupsOf(id)
			if got := surviving(kind, left, right); !ok || got != want {
				t.Errorf("%s: the manifests have %d groups that it needs, the table says %d (%t)", id, got, want, ok)
			}
		}
	}
}

// groups returns a table's groups; the value tells whether one has a NULL in its key.
func groups(t *testing.T, folder, fields string) map[string]bool {
	t.Helper()
	warehouse, err := filepath.Abs("../../testdata/golden/warehouse")
	if err != nil {
		t.Fatal(err)
	}
	table, err := plainreader.Open(warehouse, folder)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, f := range table.Files {
		var key []string
		null := false
		for _, name := range strings.Fields(fields) {
			v, ok := f.Partition[name]
			if !ok {
				t.Fatalf("%s has no field %s: %v", folder, name, f.Partition)
			}
			null = null || v == nil
			key = append(key, fmt.Sprintf("%q", fmt.Sprint(v)))
		}
		out[strings.Join(key, " ")] = null
	}
	return out
}

func surviving(kind string, left, right map[string]bool) int {
	both, matching := 0, 0
	for g, null := range left {
		if _, ok := right[g]; ok {
			both++
			if !null {
				matching++
			}
		}
	}
	switch kind {
	case "inner":
		return matching
	case "right":
		return len(right)
	case "full":
		return len(left) + len(right) - both
	}
	return len(left)
}
