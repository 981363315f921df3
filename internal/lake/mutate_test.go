package lake

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/seed"
)

// mutate changes some bytes in one of the ways in which files come to be wrong.
func mutate(rng *rand.Rand, data []byte) []byte {
	data = slices.Clone(data)
	for range 1 + rng.IntN(3) {
		if len(data) == 0 {
			return data
		}
		at := rng.IntN(len(data))
		to := at + rng.IntN(min(len(data)-at, 32)+1)
		switch rng.IntN(7) {
		case 0:
			data[at] ^= 1 << rng.IntN(8)
		case 1:
			data[at] = []byte{0, 1, 2, 0x7f, 0x80, 0xff, '"', '{', '-', '9'}[rng.IntN(10)]
		case 2:
			data = data[:at]
		case 3:
			data = slices.Delete(data, at, to)
		case 4:
			data = slices.Insert(data, at, data[at:to]...)
		case 5:
			copy(data[rng.IntN(len(data)):], data[at:to])
		case 6:
			clear(data[at:to])
		}
	}
	return data
}

// TestMutatedFiles gives a table a damaged metadata file, manifest list or manifest, many times over: what comes of it is an
// answer or an error with a kind. TARN_FUZZ is how many of each, TARN_SEED the seed.
func TestMutatedFiles(t *testing.T) {
	seed, n := seed.Of(t), 400
	if s, err := strconv.Atoi(os.Getenv("TARN_FUZZ")); err == nil {
		n = s
	}
	for _, name := range [][2]string{{"dels", "v2to3eq"}, {"evo", "grow"}, {"one", "plain"}} {
		z := fuzzTable(t, name[0], name[1])
		for i, path := range z.files(t) {
			local, err := z.swap.Local(path)
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(local)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			for range n {
				z.use(t, path, mutate(rng, data))
				if t.Failed() {
					t.Fatalf("%s of %s.%s", filepath.Base(path), name[0], name[1])
				}
			}
		}
	}
}

// files returns the table's metadata file, its manifest list and the first manifests.
func (z *fuzzed) files(t *testing.T) []string {
	t.Helper()
	list := z.manifestList(t)
	out := []string{z.at, list.path}
	for _, m := range list.manifests[:min(len(list.manifests), 3)] {
		out = append(out, m.Path)
	}
	return out
}

// manifestList is a snapshot's, and where it lies.
type manifestList struct {
	path      string
	manifests []manifest.Info
}

func (z *fuzzed) manifestList(t testing.TB) manifestList {
	t.Helper()
	ctx := context.Background()
	table, err := z.catalog.loadAt(ctx, z.id, z.at)
	if err != nil {
		t.Fatal(err)
	}
	h, err := z.catalog.handleOf(table)
	if err != nil {
		t.Fatal(err)
	}
	list, err := z.catalog.manifests(ctx, h.snapshot)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d manifests: %v", len(list), err)
	}
	return manifestList{h.snapshot.ManifestList, list}
}
