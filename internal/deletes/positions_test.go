package deletes

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

func TestPositions(t *testing.T) {
	var p, q, none Positions
	p.Add(5, 1, 5, 1<<32, 1<<40+7)
	q.Add(1<<32+1, 2, 1)
	p.Union(&q)
	p.Union(&none)
	none.Union(&p)
	q.Add(9)
	want := []int64{1, 2, 5, 1 << 32, 1<<32 + 1, 1<<40 + 7}
	for _, p := range []*Positions{&p, &none} {
		if got := all(p); !slices.Equal(got, want) || p.Count() != int64(len(want)) {
			t.Errorf("%v, %d of them", got, p.Count())
		}
	}
	if p.Contains(-1) || p.Contains(1<<32+5) || !p.Contains(1<<40+7) {
		t.Error("positions aren't found as they are")
	}
	if got := p.Words(); got != 1<<40/64+1 {
		t.Errorf("%d words", got)
	}
	if less, more := q.Bytes(), p.Bytes(); less <= 0 || more <= less {
		t.Errorf("%d bytes, and %d for more", less, more)
	}
}

// Words has the bit of each position, and of no other row.
func TestWords(t *testing.T) {
	random := seed.Rand(t)
	for _, base := range []int64{0, 1<<16 - 100, 1<<20 - 1000} {
		var p, none Positions
		for range random.IntN(300) {
			p.Add(base + random.Int64N(200))
		}
		p.Union(&none)
		words := make([]uint64, p.Words())
		p.WriteWords(words)
		if n := len(words); n > 0 && words[n-1] == 0 || (n == 0) != (p.Count() == 0) {
			t.Errorf("%d words are too many or too few for %d positions from %d on", n, p.Count(), base)
		}
		for row := max(0, base-10); row < int64(len(words))*64; row++ {
			if words[row/64]>>(row%64)&1 != 0 != p.Contains(row) {
				t.Errorf("row %d has the wrong bit", row)
			}
		}
	}
}

// Mark agrees with Contains for rows in any order, dense and sparse sets, across 2^32.
func TestMark(t *testing.T) {
	random := seed.Rand(t)
	for range 300 {
		var p Positions
		base := []int64{0, 1<<16 - 1000, 1<<32 - 1000, 1 << 50}[random.IntN(4)]
		spread := int64(1 + random.IntN(10_000))
		for range random.IntN(4000) {
			p.Add(base + random.Int64N(spread))
		}
		rows := make([]int64, random.IntN(2049))
		step := int64(random.IntN(3)) // 0: any order
		start := base + random.Int64N(spread)
		for i := range rows {
			rows[i] = start + int64(i)*step
			if step == 0 {
				rows[i] = base + random.Int64N(spread)
			}
		}
		if random.IntN(2) == 0 && step == 0 {
			slices.Sort(rows)
		}
		mark := random.IntN(2) == 0
		marks := make([]bool, len(rows))
		want := make([]bool, len(rows))
		for i, row := range rows {
			marks[i] = !mark
			want[i] = p.Contains(row) == mark
		}
		p.Mark(rows, marks, mark)
		if !slices.Equal(marks, want) {
			t.Fatalf("rows from %d by %d, %d positions: marks are wrong", start, step, p.Count())
		}
	}
}

// Rows that come twice and leave others out may span as much as rows without a gap.
func TestMarkRowsTwice(t *testing.T) {
	var p Positions
	p.Add(2, 3)
	marks := make([]bool, 3)
	p.Mark([]int64{1, 1, 3}, marks, true)
	if want := []bool{false, false, true}; !slices.Equal(marks, want) {
		t.Errorf("%v, want %v", marks, want)
	}
}

// Vectors of one set come in any order, also the same again, from several goroutines, and after the set has grown.
func TestMarkVectors(t *testing.T) {
	random := seed.Rand(t)
	var p Positions
	const last = 1 << 20
	for range 3 {
		for range 3000 {
			p.Add(random.Int64N(last))
		}
		var group sync.WaitGroup
		for range 4 {
			seed := random.Uint64()
			group.Go(func() { markVectors(t, rand.New(rand.NewPCG(seed, 0)), &p, last) })
		}
		group.Wait()
	}
}

func markVectors(t *testing.T, random *rand.Rand, p *Positions, last int64) {
	from := int64(0)
	for range 500 {
		rows := make([]int64, 1+random.IntN(2048))
		step := 1 + random.Int64N(2)
		for i := range rows {
			rows[i] = from + int64(i)*step
		}
		marks := make([]bool, len(rows))
		p.Mark(rows, marks, true)
		for i, row := range rows {
			if marks[i] != p.Contains(row) {
				t.Errorf("row %d of %d from %d by %d: %t", i, len(rows), from, step, marks[i])
				return
			}
		}
		switch random.IntN(4) {
		case 0:
			from = random.Int64N(last)
		case 1: // the last row again
			from = rows[len(rows)-1]
		default:
			from = rows[len(rows)-1] + 1
		}
	}
}

// BenchmarkMark measures a vector of consecutive rows.
func BenchmarkMark(b *testing.B) {
	for _, every := range []int64{0, 1000, 100, 2} {
		var p Positions
		for i := int64(0); every > 0 && i < 1<<20; i += every {
			p.Add(i)
		}
		rows, marks := make([]int64, 2048), make([]bool, 2048)
		b.Run(map[int64]string{0: "none", 1000: "0.1%", 100: "1%", 2: "50%"}[every], func(b *testing.B) {
			for n := range b.N {
				for i := range rows {
					rows[i] = int64(n%500)*2048 + int64(i)
				}
				p.Mark(rows, marks, true)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2048, "ns/row")
		})
	}
}
