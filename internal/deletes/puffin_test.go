package deletes

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

// TestPuffin reads a file of many vectors back by its footer, as the Puffin spec has it.
func TestPuffin(t *testing.T) {
	random := seed.Rand(t)
	var f Puffin
	var want []*Positions
	for i := range 20 {
		p := &Positions{}
		for range 1 + random.IntN(5000) {
			p.Add(random.Int64N(1 << uint(4+random.IntN(36))))
		}
		want = append(want, p)
		if _, _, err := f.Add(fmt.Sprintf("data/%d", i), p); err != nil {
			t.Fatal(err)
		}
	}
	file, err := f.Finish("somebody")
	if err != nil {
		t.Fatal(err)
	}
	const magic, trailer = "PFA1", 12
	end := len(file) - trailer
	length, flags := int(binary.LittleEndian.Uint32(file[end:])), binary.LittleEndian.Uint32(file[end+4:])
	if string(file[:4]) != magic || string(file[len(file)-4:]) != magic || string(file[end-length-4:end-length]) != magic || flags != 0 {
		t.Fatalf("the magic or the flags are missing: %x", file[end:])
	}
	var footer struct {
		Blobs []struct {
			Type       string
			Fields     []int
			Snapshot   int64 `json:"snapshot-id"`
			Sequence   int64 `json:"sequence-number"`
			Offset     int64
			Length     int64
			Codec      *string `json:"compression-codec"`
			Properties map[string]string
		}
		Properties map[string]string
	}
	if err := json.Unmarshal(file[end-length:end], &footer); err != nil {
		t.Fatal(err)
	}
	if len(footer.Blobs) != len(want) || footer.Properties["created-by"] != "somebody" {
		t.Fatalf("the footer is %s", file[end-length:end])
	}
	for i, b := range footer.Blobs {
		p, err := DecodeVector(file[b.Offset : b.Offset+b.Length])
		if err != nil || !slices.Equal(all(p), all(want[i])) {
			t.Errorf("vector %d isn't as it was: %v", i, err)
		}
		if b.Type != "deletion-vector-v1" || !slices.Equal(b.Fields, []int{2147483645}) || b.Snapshot != -1 || b.Sequence != -1 || b.Codec != nil ||
			b.Properties["referenced-data-file"] != fmt.Sprintf("data/%d", i) || b.Properties["cardinality"] != fmt.Sprint(want[i].Count()) {
			t.Errorf("vector %d is described by %+v", i, b)
		}
	}
}

// TestPositionsAgree compares sets of positions with maps.
func TestPositionsAgree(t *testing.T) {
	random := seed.Rand(t)
	for range 300 {
		limit := int64(1) << uint(1+random.IntN(35))
		p, known := &Positions{}, map[int64]bool{}
		for range random.IntN(200) {
			batch := make([]int64, random.IntN(6))
			for i := range batch {
				batch[i] = random.Int64N(limit)
			}
			wantOK, want := true, int64(0)
			for _, at := range batch {
				if wantOK && known[at] {
					wantOK, want = false, at
				}
				if wantOK {
					known[at] = true
				}
			}
			if got, ok := p.AddNew(batch...); got != want || ok != wantOK {
				t.Fatalf("%v is added as %d, %t, wanted %d, %t", batch, got, ok, want, wantOK)
			}
		}
		var sorted []int64
		for at := range known {
			sorted = append(sorted, at)
		}
		slices.Sort(sorted)
		first, last := int64(-1), int64(-1)
		if len(sorted) > 0 {
			first, last = sorted[0], sorted[len(sorted)-1]
		}
		if !slices.Equal(all(p), sorted) || p.First() != first || p.Last() != last {
			t.Fatalf("it has %v from %d to %d, wanted %v", all(p), p.First(), p.Last(), sorted)
		}
		from, to := random.Int64N(limit), random.Int64N(limit)
		if from, to = min(from, to), max(from, to); len(sorted) > 0 && random.IntN(2) == 0 {
			to = sorted[random.IntN(len(sorted))]
			from = min(from, to)
		}
		var count int64
		for _, at := range sorted {
			if at >= from && at < to {
				count++
			}
		}
		if got := p.CountIn(from, to); got != count {
			t.Fatalf("from %d to %d there are %d of %v, not %d", from, to, count, sorted, got)
		}
	}
}
