package golden

import (
	"strings"
	"testing"
)

// TestStrategies looks at the table itself: nothing that Spark runs without an exchange may run whole here, nor joins of
// int with long and of keys in another order, which Spark shuffles.
func TestStrategies(t *testing.T) {
	checks, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	pending := readPending(t, checks)
	left := map[string]bool{}
	for id := range strategies {
		left[id] = true
	}
	for _, c := range checks {
		s, ok := strategies[c.ID]
		delete(left, c.ID)
		if ok && pending[c.ID] != "" {
			t.Errorf("%s is pending and has a strategy", c.ID)
		}
		if !ok && c.Kind == "k1" && c.Expect == "" {
			t.Errorf("%s has no strategy", c.ID)
		}
		must := c.SparkSPJ != nil && *c.SparkSPJ || strings.HasPrefix(c.ID, "k1-int-long-") || strings.HasPrefix(c.ID, "k2-bd_l-db_r-")
		if ok && must && s.whole != "" && c.ID != "k1-not-in-null" {
			t.Errorf("%s must be storage-partitioned, not whole", c.ID)
		}
	}
	for id := range left {
		t.Errorf("%s is no check", id)
	}
}
