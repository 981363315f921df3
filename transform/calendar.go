package transform

import "fmt"

const (
	secondsPerDay  = 86_400
	hoursPerDay    = 24
	daysPerEra     = 146_097 // 400 years of the Gregorian calendar
	daysToEpoch    = 719_468 // from 0000-03-01 to 1970-01-01
	monthsPerYear  = 12
	secondsPerHour = 3_600
)

// floorDiv divides rounding down, as all of Iceberg's time transforms do: one microsecond before 1970 is day -1. b is
// positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// floorMod is the remainder of floorDiv, never negative.
func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// civil turns days since 1970-01-01 into a date of the proleptic Gregorian calendar, which has a year 0. Years are
// counted from March, so that the leap day is the last of its year.
func civil(days int64) (year int64, month, day int) {
	days += daysToEpoch
	era := floorDiv(days, daysPerEra)
	dayOfEra := days - era*daysPerEra
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	fromMarch := (5*dayOfYear + 2) / 153
	year, month, day = era*400+yearOfEra, int(fromMarch)+3, int(dayOfYear-(153*fromMarch+2)/5)+1
	if month > monthsPerYear {
		return year + 1, month - monthsPerYear, day
	}
	return year, month, day
}

// daysOf is the inverse of civil.
func daysOf(year int64, month, day int) int64 {
	fromMarch := int64(month) - 3
	if month < 3 {
		fromMarch += monthsPerYear
		year--
	}
	era := floorDiv(year, 400)
	yearOfEra := year - era*400
	dayOfYear := (153*fromMarch+2)/5 + int64(day) - 1
	return era*daysPerEra + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - daysToEpoch
}

func monthOfDay(days int64) int64 {
	year, month, _ := civil(days)
	return (year-1970)*monthsPerYear + int64(month) - 1
}

func yearOfDay(days int64) int64 {
	year, _, _ := civil(days)
	return year - 1970
}

// fractionDigits is the count of digits after the second that the kind of time holds.
func (t Type) fractionDigits() int {
	if t.Kind == TimestampNS || t.Kind == TimestampTZNS {
		return 9
	}
	return 6
}

// unitsPerSecond is how many of the stored units of a time or timestamp make a second.
func (t Type) unitsPerSecond() int64 {
	if t.fractionDigits() == 9 {
		return 1_000_000_000
	}
	return 1_000_000
}

// TimeOrdinal returns the count of op's units, which are years, months, days or hours, from 1970-01-01 to v, rounded down. v is a
// value of src, a date or a timestamp. It is what Apply gives, but for what leaves Apply's result type.
func TimeOrdinal(op Op, src Type, v int64) int64 {
	if op == Hour {
		return floorDiv(v, secondsPerHour*src.unitsPerSecond())
	}
	days := v
	if src.Kind != Date {
		days = floorDiv(v, secondsPerDay*src.unitsPerSecond())
	}
	return fromDays(op, days)
}

func fromDays(op Op, days int64) int64 {
	switch op {
	case Month:
		return monthOfDay(days)
	case Year:
		return yearOfDay(days)
	}
	return days
}

func formatYear(year int64) string {
	if year < 0 {
		return fmt.Sprintf("-%04d", -year)
	}
	return fmt.Sprintf("%04d", year)
}

func formatDate(days int64) string {
	year, month, day := civil(days)
	return fmt.Sprintf("%s-%02d-%02d", formatYear(year), month, day)
}
