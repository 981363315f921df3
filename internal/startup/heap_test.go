package startup

import "testing"

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 400}, {1 << 20, 400}, {4 << 20, 300}, {6 << 20, 166}, {8 << 20, 100}, {16 << 20, 100}, {1 << 40, 100},
	} {
		if got := percentOf(c.live); got != c.want {
			t.Errorf("percentOf(%d) = %d, want %d", c.live, got, c.want)
		}
	}
}
