package output

import (
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// temporalOf returns the spelling of an array of dates, times, timestamps or intervals. All are UTC.
func temporalOf(t duckType, arr arrow.Array) (scalar, bool) {
	quoted := func(f cell) (scalar, bool) {
		return func(dst []byte, i int) ([]byte, bool) { return f(dst, i), false }, true
	}
	switch a := arr.(type) {
	case *array.Date32:
		return quoted(func(dst []byte, i int) []byte { return appendDate(dst, int64(a.Value(i)), math.MaxInt32) })
	case *array.Date64:
		return quoted(func(dst []byte, i int) []byte { return appendDate(dst, int64(a.Value(i))/86_400_000, math.MaxInt64) })
	case *array.Time32:
		return quoted(timeOf(a.DataType().(*arrow.Time32Type).Unit, func(i int) int64 { return int64(a.Value(i)) }))
	case *array.Time64:
		return quoted(timeOf(a.DataType().(*arrow.Time64Type).Unit, func(i int) int64 { return int64(a.Value(i)) }))
	case *array.Timestamp:
		typ := a.DataType().(*arrow.TimestampType)
		zone := ""
		if typ.TimeZone != "" || t.name == "TIMESTAMP WITH TIME ZONE" {
			zone = "+00"
		}
		return quoted(func(dst []byte, i int) []byte { return appendTimestamp(dst, int64(a.Value(i)), typ.Unit, zone) })
	case *array.MonthDayNanoInterval:
		return quoted(func(dst []byte, i int) []byte { return appendInterval(dst, a.Value(i)) })
	}
	return nil, false
}

func timeOf(unit arrow.TimeUnit, value func(int) int64) cell {
	return func(dst []byte, i int) []byte {
		seconds, nanos := split(value(i), unit)
		return appendClock(dst, seconds, nanos)
	}
}

// split divides a count of units into whole seconds, rounded down, and the nanoseconds above them.
func split(v int64, unit arrow.TimeUnit) (seconds, nanos int64) {
	perSecond := int64(time.Second / unit.Multiplier())
	seconds, rest := v/perSecond, v%perSecond
	if rest < 0 {
		seconds, rest = seconds-1, rest+perSecond
	}
	return seconds, rest * int64(unit.Multiplier())
}

// infinity writes what DuckDB's largest and smallest dates and timestamps stand for.
func infinity(dst []byte, v, highest int64) ([]byte, bool) {
	switch v {
	case highest:
		return append(dst, "infinity"...), true
	case -highest:
		return append(dst, "-infinity"...), true
	}
	return dst, false
}

func appendDate(dst []byte, days, highest int64) []byte {
	if out, ok := infinity(dst, days, highest); ok {
		return out
	}
	const secondsPerDay = 86400
	year, month, day := time.Unix(days*secondsPerDay, 0).UTC().Date()
	suffix := ""
	if year <= 0 { // the year before 1 is 1 BC
		year, suffix = 1-year, " (BC)"
	}
	dst = appendPadded(dst, int64(year), 4)
	dst = appendPadded(append(dst, '-'), int64(month), 2)
	dst = appendPadded(append(dst, '-'), int64(day), 2)
	return append(dst, suffix...)
}

func appendTimestamp(dst []byte, v int64, unit arrow.TimeUnit, zone string) []byte {
	if out, ok := infinity(dst, v, math.MaxInt64); ok {
		return out
	}
	seconds, nanos := split(v, unit)
	const secondsPerDay = 86400
	days, clock := seconds/secondsPerDay, seconds%secondsPerDay
	if clock < 0 {
		days, clock = days-1, clock+secondsPerDay
	}
	dst = appendDate(dst, days, math.MaxInt64)
	dst = appendClock(append(dst, ' '), clock, nanos)
	return append(dst, zone...)
}

// appendClock writes hours, minutes and seconds, and of the fraction as many digits as it needs.
func appendClock(dst []byte, seconds, nanos int64) []byte {
	dst = appendPadded(dst, seconds/3600, 2)
	dst = appendPadded(append(dst, ':'), seconds/60%60, 2)
	dst = appendPadded(append(dst, ':'), seconds%60, 2)
	if nanos == 0 {
		return dst
	}
	dst = appendPadded(append(dst, '.'), nanos, 9)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendPadded writes a number that isn't negative with at least width digits.
func appendPadded(dst []byte, v int64, width int) []byte {
	digits := 1
	for n := v; n >= 10; n /= 10 {
		digits++
	}
	for ; digits < width; digits++ {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, v, 10)
}

// appendInterval writes years, months, days and a clock, each only where it isn't zero.
func appendInterval(dst []byte, v arrow.MonthDayNanoInterval) []byte {
	start := len(dst)
	part := func(n int64, unit string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(append(strconv.AppendInt(dst, n, 10), ' '), unit...)
		if n != 1 && n != -1 {
			dst = append(dst, 's')
		}
	}
	part(int64(v.Months/12), "year")
	part(int64(v.Months%12), "month")
	part(int64(v.Days), "day")
	if v.Nanoseconds == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	seconds, nanos := v.Nanoseconds/1e9, v.Nanoseconds%1e9
	if v.Nanoseconds < 0 {
		dst, seconds, nanos = append(dst, '-'), -seconds, -nanos
	}
	return appendClock(dst, seconds, nanos)
}
