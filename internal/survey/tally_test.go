package survey

import (
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// TestTuplesOfSpecsAreApart is EVP-7: files of three specs, all of whose values are NULL, are of three partitions.
func TestTuplesOfSpecsAreApart(t *testing.T) {
	sum := tally{groups: map[string]*group{}}
	for n := range 3 {
		sum.add(catalog.DataFile{Spec: catalog.SpecID(n), Partition: make([]transform.Value, n+1), Rows: 1})
	}
	if len(sum.sorted()) != 3 {
		t.Errorf("got %+v", sum.sorted())
	}
}
