package units

import (
	"strconv"
)

// Bytes writes a size for people: three significant digits in the largest binary unit that keeps the number at 1 or
// more, such as 89.8 KiB. Sizes below 1 KiB are exact. Programs take the number itself.
func Bytes(n int64) string {
	if n < 0 {
		return "-" + Bytes(-n)
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	size, unit := float64(n), 0
	for unit < len(units)-1 && rounded(size) >= 1024 {
		size /= 1024
		unit++
	}
	if unit == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return digits(size) + " " + units[unit]
}

// rounded is the number as digits would write it: 1023.7 KiB would read as 1024 KiB, and is 1.00 MiB.
func rounded(size float64) float64 {
	r, _ := strconv.ParseFloat(digits(size), 64)
	return r
}

// digits writes three significant digits, and a whole number from 100 on.
func digits(size float64) string {
	switch {
	case size < 9.995:
		return strconv.FormatFloat(size, 'f', 2, 64)
	case size < 99.95:
		return strconv.FormatFloat(size, 'f', 1, 64)
	}
	return strconv.FormatFloat(size, 'f', 0, 64)
}

// Count writes a number of things, such as "1 file" or "3 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
