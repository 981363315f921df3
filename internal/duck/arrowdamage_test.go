package duck

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/seed"
)

// TestDamagedArrowFiles: a file that was cut anywhere is Corrupt, and one with other bytes is read or refused: it is never a fault
// of ours, nor the end of the process.
func TestDamagedArrowFiles(t *testing.T) {
	_, c := session(t, Options{})
	random := seed.Rand(t)
	path := filepath.Join(t.TempDir(), "damaged")
	read := func(bytes []byte) error {
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := rowsOf(t.Context(), c, "SELECT *, a::VARCHAR FROM "+arrowSQL(path))
		return err
	}
	const rounds, cuts, changes = 1, 3, 8
	for range rounds {
		for _, typ := range arrowTypes {
			batch, way := batchOf(fromJSON(t, typ.typ, typ.json)), arrowWays[random.IntN(len(arrowWays))]
			whole, err := os.ReadFile(writeArrow(t, path, way.isStream, batch.Schema(), []arrow.RecordBatch{batch, batch}, way.options...))
			if err != nil {
				t.Fatal(err)
			}
			for range cuts {
				at := random.IntN(len(whole))
				if err := read(whole[:at]); errs.KindOf(err) != errs.Corrupt {
					t.Errorf("%s, %s, cut at %d of %d bytes: %v", typ.typ, way.name, at, len(whole), err)
				}
			}
			for range changes {
				changed := slices.Clone(whole)
				at, to := random.IntN(len(whole)), byte(random.Uint32())
				if random.IntN(2) == 0 {
					to = changed[at] ^ 1<<random.IntN(8)
				}
				changed[at] = to
				if err := read(changed); err != nil && errs.KindOf(err) == errs.Internal {
					t.Errorf("%s, %s, byte %d became %#x: %v", typ.typ, way.name, at, to, err)
				}
			}
		}
	}
}
