package deletes

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

func TestValues(t *testing.T) {
	var v Values
	if got := v.Sequence(0, []byte("a")); got != None {
		t.Errorf("an empty set says %d", got)
	}
	v.Add(0, []byte("a"), 5)
	v.Add(0, []byte("a"), 3)
	v.Add(1, []byte("a"), 4)
	v.Add(0, nil, 0)
	v.Add(0, []byte(strings.Repeat("long ", 100_000)), 6)
	v.Add(0, []byte("b"), 1)
	v.Add(0, []byte("b"), 7)
	for _, test := range []struct {
		scope int
		key   string
		want  int64
	}{
		{0, "a", 5}, {1, "a", 4}, {2, "a", None}, {0, "", 0}, {1, "", None}, {0, "b", 7}, {0, "aa", None},
		{0, strings.Repeat("long ", 100_000), 6}, {0, strings.Repeat("long ", 99_999), None},
	} {
		if got := v.Sequence(test.scope, []byte(test.key)); got != test.want {
			t.Errorf("%.10s in scope %d: %d, want %d", test.key, test.scope, got, test.want)
		}
	}
	if v.Count() != 5 {
		t.Errorf("%d keys", v.Count())
	}
}

// Values agrees with a Go map, while it grows and when several goroutines ask.
func TestValuesAgainstMap(t *testing.T) {
	random := seed.Rand(t)
	var v Values
	want := map[string]int64{}
	keys := make([]string, 50_000)
	for i := range keys {
		keys[i] = strings.Repeat("x", random.IntN(20)) + fmt.Sprint(random.IntN(40_000))
		scope, sequence := random.IntN(3), random.Int64N(100)
		v.Add(scope, []byte(keys[i]), sequence)
		name := fmt.Sprint(scope, keys[i])
		if old, ok := want[name]; !ok || old < sequence {
			want[name] = sequence
		}
	}
	if v.Count() != len(want) {
		t.Errorf("%d keys, want %d", v.Count(), len(want))
	}
	var group sync.WaitGroup
	for scope := range 4 {
		group.Go(func() {
			for _, key := range keys {
				w, ok := want[fmt.Sprint(scope, key)]
				if !ok {
					w = None
				}
				if got := v.Sequence(scope, []byte(key)); got != w {
					t.Errorf("%s in scope %d: %d, want %d", key, scope, got, w)
					return
				}
			}
		})
	}
	group.Wait()
}

// A key costs its own bytes and at most 32 more.
func TestValuesAreSmall(t *testing.T) {
	const keys = 1_000_000
	for _, width := range []int{9, 30} {
		var v Values
		key := make([]byte, width)
		for i := range keys {
			binary.LittleEndian.PutUint64(key, uint64(i))
			v.Add(0, key, 7)
		}
		if more := float64(v.Bytes())/keys - float64(width); more < 18 || more > 32 {
			t.Errorf("a key of %d bytes costs %.1f more", width, more)
		}
	}
}

func BenchmarkValues(b *testing.B) {
	for _, keys := range []int{1000, 10_000_000} {
		var v Values
		key := make([]byte, 9)
		for i := range keys {
			binary.LittleEndian.PutUint64(key, uint64(i)*2)
			v.Add(0, key, 7)
		}
		b.Run(fmt.Sprintf("%d", keys), func(b *testing.B) {
			for n := range b.N {
				binary.LittleEndian.PutUint64(key, uint64(n*7919%(2*keys)))
				v.Sequence(0, key)
			}
		})
		b.Logf("%d keys: %.1f bytes each", keys, float64(v.Bytes())/float64(keys))
	}
}
