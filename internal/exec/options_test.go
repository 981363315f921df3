package exec

import (
	"runtime"
	"testing"

	"github.com/tarndb/tarn/internal/task"
)

const mib = 1 << 20

// holder is a sink that holds so many bytes.
type holder int64

func (holder) Writer(*task.Pack) SinkWriter { return nil }
func (holder) Keeper(*task.Pack) Keeper     { return nil }
func (h holder) HeldBytes() int64           { return int64(h) }

func TestShare(t *testing.T) {
	for _, tc := range []struct {
		name      string
		opts      Options
		packs     int
		withFinal bool
		workers   int
	}{
		{"no limit", Options{Workers: 8}, 20, true, 8},
		{"fewer packs than workers", Options{Workers: 8}, 3, true, 3},
		{"no packs", Options{Workers: 8, MemoryBytes: 1024 * mib}, 0, true, 0},
		{"plenty", Options{Workers: 4, MemoryBytes: 4096 * mib}, 20, true, 4},
		{"plenty, streaming", Options{Workers: 4, MemoryBytes: 4096 * mib}, 20, false, 4},
		{"little: fewer workers", Options{Workers: 8, MemoryBytes: 256 * mib}, 20, true, 1},
		{"little, streaming", Options{Workers: 8, MemoryBytes: 256 * mib}, 20, false, 2},
		{"a sink that holds much: fewer workers", Options{Workers: 8, MemoryBytes: 1024 * mib, Sink: holder(64 * mib)}, 20, false, 6},
		{"a sink, and no packs", Options{Workers: 8, MemoryBytes: 1024 * mib, Sink: holder(64 * mib)}, 0, true, 0},
		{"next to nothing", Options{Workers: 8, MemoryBytes: 64 * mib}, 20, true, 1},
	} {
		b := tc.opts.share(tc.packs, tc.withFinal)
		if b.workers != tc.workers {
			t.Errorf("%s: %d workers, want %d", tc.name, b.workers, tc.workers)
		}
		limit := tc.opts.MemoryBytes
		if limit == 0 {
			if b.worker != 0 || b.final != 0 {
				t.Errorf("%s: %+v has limits", tc.name, b)
			}
			continue
		}
		final := b.final
		if !tc.withFinal && tc.packs > 0 {
			final = 0 // no final step holds anything
		}
		var held int64
		if tc.opts.Sink != nil {
			held = tc.opts.Sink.HeldBytes() * int64(max(b.workers, 1))
		}
		sum := held + int64(b.workers)*b.worker + final + GoHeapBytes(limit) + processBytes
		if enough := limit >= 256*mib; enough && sum > limit {
			t.Errorf("%s: %+v adds up to %d MiB of %d", tc.name, b, sum/mib, limit/mib)
		}
		if b.worker < leastBytes && tc.packs > 0 || b.final < leastBytes {
			t.Errorf("%s: %+v starves an instance", tc.name, b)
		}
	}
}

func TestWorkers(t *testing.T) {
	if got := (Options{}).workers(); got != runtime.GOMAXPROCS(0) {
		t.Errorf("%d workers by default", got)
	}
	if got := (Options{Workers: 3}).workers(); got != 3 {
		t.Errorf("%d workers, want 3", got)
	}
}
