package units

import (
	"math"
	"testing"
)

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1.00 KiB", 1030: "1.01 KiB", 10230: "9.99 KiB", 10236: "10.0 KiB",
		91978: "89.8 KiB", 102300: "99.9 KiB", 102380: "100 KiB", 1<<20 - 600: "1023 KiB", 1<<20 - 1: "1.00 MiB", 1 << 20: "1.00 MiB",
		3 << 30: "3.00 GiB", 5 << 40: "5.00 TiB", 1 << 50: "1.00 PiB", math.MaxInt64: "8.00 EiB", -2048: "-2.00 KiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}
