package settings

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// The units of a size. Two-letter units are decimal and the ones with an i binary, as DuckDB and the IEC have it.
var units = map[string]int64{
	"": 1, "b": 1,
	"k": 1000, "kb": 1000, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// ParseBytes reads a size such as "4GiB", "512 MB", "1.5g" or "1024". The fraction of a byte is cut off.
func ParseBytes(text string) (int64, error) {
	s := strings.TrimSpace(text)
	end := strings.LastIndexAny(s, "0123456789.") + 1
	number, unit := s[:end], strings.ToLower(strings.TrimSpace(s[end:]))
	factor, ok := units[unit]
	if !ok || number == "" || strings.Trim(number, "0123456789.") != "" {
		return 0, fmt.Errorf("%q is not a size: want a number with a unit, such as 4GiB or 512MB", text)
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, fmt.Errorf("%q is not a size: want a number with a unit, such as 4GiB or 512MB", text)
	}
	value.Mul(value, new(big.Rat).SetInt64(factor))
	whole := new(big.Int).Quo(value.Num(), value.Denom())
	if !whole.IsInt64() {
		return 0, fmt.Errorf("%q is too large: a size is at most %d bytes", text, int64(math.MaxInt64))
	}
	return whole.Int64(), nil
}

// FormatBytes writes a size in the largest binary unit that shows it exactly, so that ParseBytes reads it back.
func FormatBytes(n int64) string {
	for i, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if size := int64(1) << (40 - 10*i); n >= size && n%size == 0 {
			return strconv.FormatInt(n/size, 10) + unit
		}
	}
	if n == 0 {
		return "0"
	}
	return strconv.FormatInt(n, 10) + "B"
}
