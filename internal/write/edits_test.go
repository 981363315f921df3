package write

import (
	"fmt"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// TestEditsAreCounted: what the edits of a job hold counts, all together, whether their rows lie close by each other, far apart or in
// many files, and once it is more than they may there is an error.
func TestEditsAreCounted(t *testing.T) {
	const limit = 1 << 20
	for _, c := range []struct {
		name      string
		add       func(e *Edits, i int64)
		low, high int64 // how many times it may be done, at least and at most
	}{
		// 8 KiB for 65,536 rows of which more than 4,096 are there.
		{"every other row", func(e *Edits, i int64) { e.Add("a", 2*i) }, 3 << 20, 5 << 20},
		// 2 bytes for each of up to 4,096 rows of 65,536, and some for those.
		{"rows far apart", func(e *Edits, i int64) { e.Add("a", 100*i) }, 300_000, 600_000},
		{"a row of each file", func(e *Edits, i int64) { e.Add(fmt.Sprint("file:/lake/db/t/data/", i, ".parquet"), 7) }, 1000, 2000},
	} {
		j := &Job{}
		j.edits.limit = limit
		first, second := j.NewEdits(), j.NewEdits()
		var i int64
		for ; first.Full() == nil; i++ {
			c.add(first, i)
			if i%2 == 1 {
				c.add(second, i)
			}
			if i > c.high {
				break
			}
		}
		if done := i * 3 / 2; done < c.low || done > c.high {
			t.Errorf("%s: %d are held in %d bytes", c.name, done, limit)
		}
		if err := second.Full(); errs.KindOf(err) != errs.Resource {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
	unlimited := &Edits{}
	unlimited.Add("a", 1)
	if err := (&Job{}).NewEdits().Full(); err != nil || unlimited.Full() != nil {
		t.Errorf("there is a limit where there is none: %v", err)
	}
}
