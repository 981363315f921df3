package transform

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// formatClock writes n units since midnight of a time or timestamp type.
func formatClock(n int64, t Type) string {
	seconds, fraction := n/t.unitsPerSecond(), n%t.unitsPerSecond()
	clock := fmt.Sprintf("%02d:%02d:%02d", seconds/secondsPerHour, seconds/60%60, seconds%60)
	if fraction == 0 {
		return clock
	}
	return strings.TrimRight(fmt.Sprintf("%s.%0*d", clock, t.fractionDigits(), fraction), "0")
}

func formatTimestamp(n int64, t Type) string {
	perDay := secondsPerDay * t.unitsPerSecond()
	text := formatDate(floorDiv(n, perDay)) + " " + formatClock(floorMod(n, perDay), t)
	if t.hasZone() {
		return text + "+00"
	}
	return text
}

func (t Type) hasZone() bool { return t.Kind == TimestampTZ || t.Kind == TimestampTZNS }

func parseDate(text string) (Value, error) {
	days, err := parseDays(text)
	if err != nil {
		return nil, err
	}
	d, ok := narrow(Type{Kind: Date}, days)
	if !ok {
		return nil, fmt.Errorf("the year is out of range")
	}
	return d, nil
}

// parseDays reads year, month and day. Years beyond four digits and negative ones (0 is the year before 1) are allowed.
func parseDays(text string) (int64, error) {
	unsigned, isNegative := cutSign(text)
	parts := strings.Split(unsigned, "-")
	if len(parts) != 3 || len(parts[0]) < 4 || len(parts[0]) > 7 || len(parts[1]) != 2 || len(parts[2]) != 2 ||
		!isDigits(strings.Join(parts, "")) {
		return 0, fmt.Errorf("a date is written as 2017-11-16")
	}
	year, _ := strconv.ParseInt(parts[0], 10, 64)
	month, _ := strconv.Atoi(parts[1])
	day, _ := strconv.Atoi(parts[2])
	if isNegative {
		year = -year
	}
	days := daysOf(year, month, day)
	// A day that the month doesn't have comes back as one of the next month.
	if y, m, d := civil(days); month < 1 || month > monthsPerYear || y != year || m != month || d != day {
		return 0, fmt.Errorf("there is no such day")
	}
	return days, nil
}

// parseClock reads hours, minutes, and optionally seconds with a fraction, into the units of t.
func parseClock(text string, t Type) (Value, error) {
	n, err := clockUnits(text, t)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func clockUnits(text string, t Type) (int64, error) {
	clock, fraction, hasPoint := strings.Cut(text, ".")
	seconds, ok := sexagesimal(clock)
	if !ok || hasPoint && (!isDigits(fraction) || strings.Count(clock, ":") != 2) {
		return 0, fmt.Errorf("a time is written as 22:31:08 or 22:31:08.000001")
	}
	if seconds >= secondsPerDay {
		return 0, fmt.Errorf("the hour is at most 23")
	}
	fraction, ok = fitFraction(fraction, t.fractionDigits())
	if !ok {
		return 0, fmt.Errorf("at most %d digits may follow the point", t.fractionDigits())
	}
	units, _ := strconv.ParseInt(fraction, 10, 64)
	return seconds*t.unitsPerSecond() + units, nil
}

// sexagesimal reads "22:31" and "22:31:08" as seconds.
func sexagesimal(text string) (int64, bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 2 && len(parts) != 3 {
		return 0, false
	}
	var seconds int64
	for i := range 3 {
		var n int
		if i < len(parts) {
			if len(parts[i]) != 2 || !isDigits(parts[i]) {
				return 0, false
			}
			n, _ = strconv.Atoi(parts[i])
		}
		if i > 0 && n > 59 {
			return 0, false
		}
		seconds = seconds*60 + int64(n)
	}
	return seconds, true
}

// parseTimestamp reads a date, a blank or T, and a time; midnight where there is no time. With a zone, an offset from
// UTC may follow, and UTC is meant where none does.
func parseTimestamp(text string, t Type) (Value, error) {
	date, clock := text, "00:00:00"
	if i := strings.IndexAny(text, "Tt "); i >= 0 {
		date, clock = text[:i], text[i+1:]
	}
	days, err := parseDays(date)
	if err != nil {
		return nil, err
	}
	clock, offset, err := cutOffset(clock, t)
	if err != nil {
		return nil, err
	}
	units, err := clockUnits(clock, t)
	if err != nil {
		return nil, err
	}
	n := big.NewInt(days*secondsPerDay - offset)
	n.Mul(n, big.NewInt(t.unitsPerSecond())).Add(n, big.NewInt(units))
	if !n.IsInt64() {
		return nil, fmt.Errorf("the year is out of range")
	}
	return n.Int64(), nil
}

// cutOffset takes the offset from UTC, in seconds, off the end of a time: Z, +05, +0530, +05:30 or +05:30:15.
func cutOffset(clock string, t Type) (rest string, seconds int64, err error) {
	i := strings.IndexAny(clock, "+-Zz")
	if i < 0 {
		return clock, 0, nil
	}
	rest, zone := strings.TrimRight(clock[:i], " "), clock[i:]
	if !t.hasZone() {
		return "", 0, fmt.Errorf("the type has no time zone, but %q gives one", zone)
	}
	if strings.EqualFold(zone, "z") {
		return rest, 0, nil
	}
	digits := zone[1:]
	switch {
	case len(digits) == 2:
		digits += ":00"
	case len(digits) == 4 && isDigits(digits):
		digits = digits[:2] + ":" + digits[2:]
	}
	seconds, ok := sexagesimal(digits)
	if !ok || seconds > 18*secondsPerHour {
		return "", 0, fmt.Errorf("%q is no offset from UTC, such as +05:30", zone)
	}
	if zone[0] == '-' {
		seconds = -seconds
	}
	return rest, seconds, nil
}
