package write

import (
	"fmt"
	"os"
	"testing"

	"github.com/tarndb/tarn/catalog"
)

// TestManyTuples writes more tuples than have bins of their own, within a small memory.
func TestManyTuples(t *testing.T) {
	l := newLab(t)
	const tuples = 2000
	table := l.table([]string{"k long", "v string"}, []string{"identity k"}, nil)
	query := fmt.Sprintf("SELECT (range %% %d)::BIGINT, repeat('x', 50) || range FROM range(20000)", tuples)
	table = l.append(table, query, Options{Workers: 2, MemoryBytes: 256 << 20, TempDir: t.TempDir()})
	files := l.files(table)
	if len(files) != tuples {
		t.Errorf("there are %d files, wanted one for each of %d tuples", len(files), tuples)
	}
	seen := map[string]bool{}
	for _, f := range files {
		seen[catalog.TupleKey(f.Spec, f.Partition)] = true
		if f.Rows != 10 {
			t.Errorf("%s has %d rows", f.Ref.Path, f.Rows)
		}
	}
	if len(seen) != tuples {
		t.Errorf("there are %d tuples", len(seen))
	}
	l.same(table, query)
}

// TestNothingIsLeft counts what is in the temporary folder after a job.
func TestNothingIsLeft(t *testing.T) {
	l := newLab(t)
	temp := t.TempDir()
	table := l.table([]string{"k long"}, []string{"bucket[4] k"}, nil)
	l.append(table, "SELECT range FROM range(1000)", Options{TempDir: temp})
	if entries, err := os.ReadDir(temp); err != nil || len(entries) > 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

// TestNoLimit writes one file whose row group takes more memory than an instance without rows is opened with.
func TestNoLimit(t *testing.T) {
	l := newLab(t)
	query := "SELECT range, 'customer ' || hash(range) FROM range(1000000)"
	table := l.append(l.table([]string{"k long", "v string"}, nil, nil), query, Options{TempDir: t.TempDir()})
	l.same(table, query)
}
