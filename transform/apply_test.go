package transform

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/tarndb/tarn/internal/seed"
)

type applyCase struct{ typ, transform, value, want string }

func checkApply(t *testing.T, cases []applyCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.transform+" of "+c.typ+" "+c.value, func(t *testing.T) {
			typ, tr := mustType(t, c.typ), mustParse(t, c.transform)
			got, err := tr.Apply(typ, mustValue(t, typ, c.value))
			if err != nil || FormatValue(tr.ResultType(typ), got) != c.want {
				t.Errorf("%v, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestTRF1(t *testing.T) {
	for _, typ := range []string{"int", "long"} {
		checkApply(t, []applyCase{
			{typ, "truncate[10]", "1", "0"}, {typ, "truncate[10]", "9", "0"}, {typ, "truncate[10]", "10", "10"},
			{typ, "truncate[10]", "-1", "-10"}, {typ, "truncate[10]", "-10", "-10"}, {typ, "truncate[10]", "-11", "-20"},
			{typ, "truncate[10]", "-12", "-20"}, {typ, "truncate[3]", "-3", "-3"}, {typ, "truncate[3]", "-4", "-6"},
		})
	}
	checkApply(t, []applyCase{
		{"decimal(9, 2)", "truncate[50]", "10.65", "10.50"}, {"decimal(9, 2)", "truncate[50]", "-10.65", "-11.00"},
		{"decimal(9, 2)", "truncate[50]", "-0.01", "-0.50"},
	})
}

func TestTRF2(t *testing.T) {
	ops := []Transform{{Op: Year}, {Op: Month}, {Op: Day}, {Op: Hour}}
	cases := []struct {
		value string
		want  []int32
	}{
		{"1969-12-31T23:59:59", []int32{-1, -1, -1, -1}},
		{"1969-01-01T00:00", []int32{-1, -12, -365, -8760}},
		{"1968-12-31T23:59:59.999999", []int32{-2, -13, -366, -8761}},
		{"1900-02-28", []int32{-70, -839, -25509}},
	}
	for _, name := range []string{"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"} {
		typ := mustType(t, name)
		for _, c := range cases {
			t.Run(name+" "+c.value, func(t *testing.T) {
				for i, want := range c.want {
					if got, err := ops[i].Apply(typ, mustValue(t, typ, c.value)); err != nil || got != want {
						t.Errorf("%s: %v, %v; want %d", ops[i], got, err, want)
					}
				}
			})
		}
	}
	for i, want := range []int32{-70, -839, -25509} {
		if got, err := ops[i].Apply(Type{Kind: Date}, int32(-25509)); err != nil || got != want {
			t.Errorf("%s of date 1900-02-28: %v, %v; want %d", ops[i], got, err, want)
		}
	}
	if got, err := ops[2].Apply(Type{Kind: TimestampNS}, int64(-1)); err != nil || got != int32(-1) {
		t.Errorf("day of -1 ns: %v, %v; want -1", got, err)
	}
}

func TestTRF3(t *testing.T) {
	checkApply(t, []applyCase{
		{"string", "truncate[3]", "日本語文字", "日本語"}, {"string", "truncate[1]", "💰x", "💰"},
		{"string", "truncate[2]", "e\u0301a", "e\u0301"}, {"binary", "truncate[2]", "e4b896", "e4b8"},
		{"string", "truncate[2]", "", ""}, {"string", "truncate[9]", "日本", "日本"}, {"binary", "truncate[2]", "", ""},
	})
}

func TestTRF5(t *testing.T) {
	cases := []struct {
		typ, transform string
		value          Value
	}{
		{"int", "truncate[10000]", int32(math.MinInt32)},
		{"long", "truncate[10]", int64(math.MinInt64)},
		{"decimal(7, 3)", "truncate[10]", big.NewInt(-9999999)},
		{"timestamp", "hour", (int64(2174186328)) * 3_600_000_000},
	}
	for _, c := range cases {
		t.Run(c.transform+" of "+c.typ, func(t *testing.T) {
			typ, tr := mustType(t, c.typ), mustParse(t, c.transform)
			if got, err := tr.Apply(typ, c.value); !errors.Is(err, ErrOutOfRange) {
				t.Errorf("%v, %v; want ErrOutOfRange", got, err)
			}
		})
	}
	wrapped := []struct {
		typ, transform string
		partition      Value
		literal, inAll Value
	}{
		{"int", "truncate[10000]", int32(2147477296), int32(0), int32(math.MinInt32)},
		{"long", "truncate[10]", int64(9223372036854775806), int64(0), int64(math.MinInt64)},
		{"long", "truncate[10000]", int64(2147477296), int64(0), int64(math.MinInt32)}, // written when it was an int
	}
	for _, c := range wrapped {
		typ, tr := mustType(t, c.typ), mustParse(t, c.transform)
		for _, p := range []Predicate{{Op: LT, Values: []Value{c.literal}}, {Op: EQ, Values: []Value{c.inAll}}} {
			q, ok := tr.Project(typ, p)
			if ok && (!q.Eval(typ, c.partition) || !q.MayHold(typ, c.partition, c.partition)) {
				t.Errorf("%s, %v: partition %v would be left out by %v", c.typ, p, c.partition, q)
			}
		}
		if q, ok := tr.ProjectStrict(typ, Predicate{Op: GT, Values: []Value{c.literal}}); ok && q.Eval(typ, c.partition) {
			t.Errorf("%s: partition %v is claimed to be above %v", c.typ, c.partition, c.literal)
		}
		if !tr.IsWrapped(typ, c.partition) || tr.IsWrapped(typ, c.literal) {
			t.Errorf("%s: IsWrapped(%v) or not IsWrapped(%v)", c.typ, c.partition, c.literal)
		}
	}
}

func TestTRF6(t *testing.T) {
	day := Transform{Op: Day}
	for _, src := range []Type{{Kind: Date}, {Kind: Timestamp}, {Kind: TimestampTZNS}} {
		if got := day.ResultType(src); got != (Type{Kind: Date}) {
			t.Errorf("day of %s is %s", src, got)
		}
		for _, v := range []Value{int32(17486), int64(17486)} { // Avro date and plain int decode alike or wider
			if got := day.Human(src, v); got != "2017-11-16" {
				t.Errorf("%v shows as %s", v, got)
			}
		}
	}
	if a, b := AppendKey(nil, Type{Kind: Date}, int32(17486)), AppendKey(nil, Type{Kind: Int}, int32(17486)); string(a) != string(b) {
		t.Errorf("keys %x and %x of one day", a, b)
	}
}

// TestTimesAgreeWithStandardLibrary compares with package time, which counts years and days by other means.
func TestTimesAgreeWithStandardLibrary(t *testing.T) {
	r := seed.Rand(t)
	ts := Type{Kind: Timestamp}
	for range 20_000 {
		v := r.Int64N(4_000_000*365*secondsPerDay) - 2_000_000*365*secondsPerDay
		v = v / 50 * 1_000_000 / 20 // years -40000 to 40000
		at := time.UnixMicro(v).UTC()
		want := []int32{
			int32(at.Year() - 1970), int32((at.Year()-1970)*12 + int(at.Month()) - 1),
			int32(floorDiv(at.Unix(), 86400)), int32(floorDiv(at.Unix(), 3600)),
		}
		for i, op := range []Op{Year, Month, Day, Hour} {
			if got, err := (Transform{Op: op}).Apply(ts, v); err != nil || got != want[i] {
				t.Fatalf("%s of %s: %v, %v; want %d", Transform{Op: op}, at, got, err, want[i])
			}
		}
		y, m, d := civil(floorDiv(at.Unix(), 86400))
		if int(y) != at.Year() || m != int(at.Month()) || d != at.Day() {
			t.Fatalf("%s: %d-%d-%d", at, y, m, d)
		}
	}
}

func TestCalendarInverts(t *testing.T) {
	r := seed.Rand(t)
	for range 50_000 {
		days := randomInt(r, 40)
		if y, m, d := civil(days); daysOf(y, m, d) != days || m < 1 || m > 12 || d < 1 || d > 31 {
			t.Fatalf("%d is %d-%d-%d is %d", days, y, m, d, daysOf(y, m, d))
		}
	}
}

func TestCanApply(t *testing.T) {
	defined := map[string]string{ // which of bucket, truncate, year, hour, identity
		"boolean": "i", "int": "bti", "long": "bti", "float": "i", "double": "i", "decimal(9, 2)": "bti", "date": "byi",
		"time": "bi", "timestamp": "byhi", "timestamptz": "byhi", "timestamp_ns": "byhi", "timestamptz_ns": "byhi",
		"string": "bti", "uuid": "bi", "fixed[3]": "bi", "binary": "bti", "unknown": "i", "variant": "", "geometry": "", "geography": "",
	}
	letters := map[string]string{
		"bucket[4]": "b", "truncate[4]": "t", "year": "y", "month": "y", "day": "y", "hour": "h", "identity": "i",
	}
	for name, have := range defined {
		typ := mustType(t, name)
		for text, letter := range letters {
			tr := mustParse(t, text)
			want := containsLetter(have, letter)
			if tr.CanApply(typ) != want || (tr.ResultType(typ).Kind != None) != want {
				t.Errorf("%s on %s: %v, result %s", text, name, tr.CanApply(typ), tr.ResultType(typ))
			}
			if _, err := tr.Apply(typ, nil); (err == nil) != want {
				t.Errorf("%s of NULL %s: %v", text, name, err)
			}
		}
		if typ.CanHash() != containsLetter(have, "b") {
			t.Errorf("%s: CanHash %v", name, typ.CanHash())
		}
	}
}

func containsLetter(s, letter string) bool {
	for i := range s {
		if s[i] == letter[0] {
			return true
		}
	}
	return false
}

func TestApplyNullAndMismatch(t *testing.T) {
	r := seed.Rand(t)
	for _, name := range allTypes {
		typ := mustType(t, name)
		for _, text := range allTransforms {
			tr := mustParse(t, text)
			if !tr.CanApply(typ) {
				continue
			}
			if v, err := tr.Apply(typ, nil); v != nil || err != nil {
				t.Errorf("%s of NULL %s: %v, %v", text, name, v, err)
			}
			if v, err := tr.Apply(typ, struct{}{}); tr.Op != Void && err == nil {
				t.Errorf("%s of a struct as %s: %v", text, name, v)
			}
			v, err := tr.Apply(typ, randomValue(r, typ))
			if _, bad := canonical(tr.ResultType(typ), v); err == nil && v != nil && bad != nil {
				t.Errorf("%s of %s: %v", text, name, bad)
			}
		}
	}
}
