package deletes

import (
	"iter"
	"slices"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
)

// Positions is a set of row positions of one data file, counted from 0 over all its rows. The zero value is empty. It is
// safe for concurrent use once it no longer changes.
type Positions struct {
	parts []*part // ascending by high
}

// part has the positions that share their upper 32 bits.
type part struct {
	high uint32
	low  *roaring.Bitmap
	// cursor is where a scan left off; nil while somebody uses it. To find its place, an iterator looks at all containers
	// before it: a new one for each vector would make scans of large files quadratic.
	cursor atomic.Pointer[cursor]
}

// wordsOfPart is how many words of 64 bits the rows of a part are.
const wordsOfPart = 1 << 32 / 64

// cursor is an iterator that has passed all positions below row, in lower 32 bits, and none from there on.
type cursor struct {
	roaring.IntPeekable
	row int64
}

// Add adds positions, which are not negative.
func (p *Positions) Add(positions ...int64) {
	for from := 0; from < len(positions); {
		high, to := uint32(positions[from]>>32), from
		low := p.part(high)
		for ; to < len(positions) && uint32(positions[to]>>32) == high; to++ {
			low.Add(uint32(positions[to]))
		}
		from = to
	}
}

// AddNew adds positions, which are not negative, up to the first that is there already. It returns that one and false, or true
// when there is none.
func (p *Positions) AddNew(positions ...int64) (known int64, ok bool) {
	var low *roaring.Bitmap
	for i, at := range positions {
		if high := uint32(at >> 32); i == 0 || high != uint32(positions[i-1]>>32) {
			low = p.part(high)
		}
		if !low.CheckedAdd(uint32(at)) {
			return at, false
		}
	}
	return 0, true
}

// Last returns the highest position, or -1 when there is none.
func (p *Positions) Last() int64 {
	for _, part := range slices.Backward(p.parts) {
		if !part.low.IsEmpty() {
			return int64(part.high)<<32 | int64(part.low.Maximum())
		}
	}
	return -1
}

// First returns the lowest position, or -1 when there is none.
func (p *Positions) First() int64 {
	for at := range p.All() {
		return at
	}
	return -1
}

// CountIn returns how many positions there are from from on and before to.
func (p *Positions) CountIn(from, to int64) int64 {
	return p.countBelow(to) - p.countBelow(from)
}

func (p *Positions) countBelow(end int64) (sum int64) {
	for _, part := range p.parts {
		switch high := end >> 32; {
		case int64(part.high) < high:
			sum += int64(part.low.GetCardinality())
		case int64(part.high) == high && uint32(end) > 0:
			sum += int64(part.low.Rank(uint32(end) - 1))
		}
	}
	return sum
}

// Union adds all of q, which stays as it is and shares nothing with p.
func (p *Positions) Union(q *Positions) {
	for _, part := range q.parts {
		p.part(part.high).Or(part.low)
	}
}

// part returns the bitmap of the positions with high as their upper 32 bits, made when missing, for a change.
func (p *Positions) part(high uint32) *roaring.Bitmap {
	at, ok := p.find(high)
	if !ok {
		p.parts = slices.Insert(p.parts, at, &part{high: high, low: roaring.New()})
	}
	p.parts[at].cursor.Store(nil)
	return p.parts[at].low
}

func (p *Positions) find(high uint32) (at int, ok bool) {
	return slices.BinarySearchFunc(p.parts, high, func(part *part, high uint32) int {
		switch {
		case part.high < high:
			return -1
		case part.high > high:
			return 1
		}
		return 0
	})
}

// Count returns how many positions there are.
func (p *Positions) Count() int64 {
	var sum uint64
	for _, part := range p.parts {
		sum += part.low.GetCardinality()
	}
	return int64(sum)
}

// Bytes returns about how many bytes of memory the set holds.
func (p *Positions) Bytes() int64 {
	const perPart = 256
	sum := int64(len(p.parts)) * perPart
	for _, part := range p.parts {
		sum += int64(part.low.GetSizeInBytes())
	}
	return sum
}

// Words returns how many words of 64 bits a set of a bit for each row takes, up to the last position.
func (p *Positions) Words() int64 {
	for _, part := range slices.Backward(p.parts) {
		if n := part.low.DenseSize(); n > 0 {
			return int64(part.high)*wordsOfPart + int64(n)
		}
	}
	return 0
}

// WriteWords sets the bits of all positions in words, the lowest row's first. There are at least Words of them.
func (p *Positions) WriteWords(words []uint64) {
	for _, part := range p.parts {
		if part.low.DenseSize() > 0 {
			part.low.WriteDenseTo(words[int64(part.high)*wordsOfPart:])
		}
	}
}

// Contains says whether the position is in the set.
func (p *Positions) Contains(position int64) bool {
	at, ok := p.find(uint32(position >> 32))
	return ok && position >= 0 && p.parts[at].low.Contains(uint32(position))
}

// All yields the positions, ascending.
func (p *Positions) All() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, part := range p.parts {
			for it := part.low.Iterator(); it.HasNext(); {
				if !yield(int64(part.high)<<32 | int64(it.Next())) {
					return
				}
			}
		}
	}
}

// Mark sets marks[i] to mark for each i whose rows[i] is in the set, and leaves the others. Both are as long. It is fast
// when rows ascend, and fastest when they follow each other without a gap.
func (p *Positions) Mark(rows []int64, marks []bool, mark bool) {
	if len(p.parts) == 0 || len(rows) == 0 {
		return
	}
	first, last := rows[0], rows[len(rows)-1]
	gapless := isGapless(rows)
	if first < 0 || first>>32 != last>>32 || !gapless && !slices.IsSorted(rows) {
		for i, row := range rows {
			if p.Contains(row) {
				marks[i] = mark
			}
		}
		return
	}
	at, ok := p.find(uint32(first >> 32))
	if !ok {
		return
	}
	c := p.parts[at].at(uint32(first))
	if gapless {
		c.markRange(uint32(first), marks, mark)
	} else {
		c.markAscending(rows, marks, mark)
	}
	p.parts[at].cursor.Store(c)
}

func isGapless(rows []int64) bool {
	var differs int64
	next := rows[0]
	for _, row := range rows {
		differs |= row ^ next
		next++
	}
	return differs == 0
}

// at returns a cursor at the row, for the caller alone.
func (p *part) at(row uint32) *cursor {
	c := p.cursor.Swap(nil)
	if c == nil || c.row > int64(row) {
		c = &cursor{IntPeekable: p.low.Iterator()}
	}
	c.move(row)
	return c
}

func (c *cursor) move(row uint32) {
	c.AdvanceIfNeeded(row)
	c.row = int64(row)
}

// markRange is Mark for the rows from first on, as many as there are marks.
func (c *cursor) markRange(first uint32, marks []bool, mark bool) {
	for ; c.HasNext(); c.Next() {
		i := int64(c.PeekNext()) - int64(first)
		if i >= int64(len(marks)) {
			break
		}
		marks[i] = mark
	}
	c.row = int64(first) + int64(len(marks))
}

// markAscending is Mark for rows that ascend and share their upper 32 bits.
func (c *cursor) markAscending(rows []int64, marks []bool, mark bool) {
	for i := 0; i < len(rows); {
		c.move(uint32(rows[i]))
		if !c.HasNext() {
			return
		}
		next := c.PeekNext()
		for i < len(rows) && uint32(rows[i]) < next {
			i++
		}
		for ; i < len(rows) && uint32(rows[i]) == next; i++ {
			marks[i] = mark
		}
	}
}
