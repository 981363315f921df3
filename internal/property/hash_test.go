package property

import (
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// values compares SQL expressions with the values wanted, all in one query.
func (l *lab) values(wanted map[string]string) {
	l.t.Helper()
	var exprs []string
	for e := range wanted {
		exprs = append(exprs, e)
	}
	var items []string
	for _, e := range exprs {
		items = append(items, "CAST("+e+" AS VARCHAR)")
	}
	a := l.ask(auto, "SELECT "+strings.Join(items, ", "))
	l.must(a.err)
	for i, e := range exprs {
		if got, ok := a.rows[0][i].(string); !ok || got != wanted[e] {
			l.t.Errorf("%s is %v, wanted %s", e, a.rows[0][i], wanted[e])
		}
	}
}

// buckets compares system.bucket(16, x) with the numbers wanted.
func (l *lab) buckets(wanted map[string]string) {
	l.t.Helper()
	exprs := map[string]string{}
	for e, b := range wanted {
		exprs["system.bucket(16, "+e+")"] = b
	}
	l.values(exprs)
}

// TestHSH1: a decimal hashes as the fewest bytes of its unscaled two's complement; the scale plays no part.
func TestHSH1(t *testing.T) {
	const nines = "99999999999999999999999999999999999999"
	newLab(t).buckets(map[string]string{
		"CAST(0 AS DECIMAL(9,2))": "7", "CAST(-0.01 AS DECIMAL(9,2))": "13", "CAST(1.28 AS DECIMAL(9,2))": "5", "CAST(-1.28 AS DECIMAL(9,2))": "13",
		"CAST(-1.29 AS DECIMAL(4,2))": "1", "CAST(2.55 AS DECIMAL(18,2))": "4", "CAST(-255 AS DECIMAL(20,0))": "10",
		"CAST(-32768 AS DECIMAL(9,0))": "3", "CAST(-8388.608 AS DECIMAL(9,3))": "13", "CAST(14.20 AS DECIMAL(9,2))": "3",
		"CAST(-14.20 AS DECIMAL(9,2))": "7", "CAST('" + nines + "' AS DECIMAL(38,0))": "6", "CAST('-" + nines + "' AS DECIMAL(38,0))": "10",
		"CAST(1420 AS DECIMAL(38,0))": "3", "CAST(1.28 AS DECIMAL(30,2))": "5",
	})
}

// TestHSH2: a uuid hashes as its bytes in the order of its text.
func TestHSH2(t *testing.T) {
	newLab(t).buckets(map[string]string{
		"'f79c3e09-677c-4bbd-a479-3f349cb785e7'::UUID": "12", "'00000000-0000-0000-0000-000000000000'::UUID": "8",
		"'ffffffff-ffff-ffff-ffff-ffffffffffff'::UUID": "14",
	})
}

// TestHSH3: nanoseconds hash as the microsecond that they fall in.
func TestHSH3(t *testing.T) {
	newLab(t).buckets(map[string]string{
		"TIMESTAMP_NS '2017-11-16 22:31:08.000001001'": "6", "TIMESTAMP_NS '1969-12-31 23:59:59.999999999'": "8",
		"TIMESTAMP '1969-12-31 23:59:59.999999'": "8",
	})
}

// TestHSH4: integers and dates hash as eight bytes.
func TestHSH4(t *testing.T) {
	newLab(t).buckets(map[string]string{
		"34": "3", "34::BIGINT": "3", "34::SMALLINT": "3", "34::TINYINT": "3", "DATE '2017-11-16'": "10", "-1": "8", "-1::BIGINT": "8",
		"(-2147483648)::INTEGER": "8", "2147483647": "14", "(-9223372036854775808)::BIGINT": "5", "9223372036854775807": "15",
		"DATE '1969-12-31'": "8", "DATE '0001-01-01'": "9",
	})
}

// TestHSH6: text hashes as its UTF-8, not normalised.
func TestHSH6(t *testing.T) {
	newLab(t).buckets(map[string]string{"'a💰'": "2", "'😀'": "10", "'\U00020000'": "2", "'日本'": "2", "'żółw'": "0", "'iceberg'": "9"})
}

// TestHSH7: the sign bit is dropped before the remainder is taken, and a bucket count is positive.
func TestHSH7(t *testing.T) {
	l := newLab(t)
	l.values(map[string]string{"system.bucket(16, -34)": "13", "system.bucket(100, -34)": "97", "system.bucket(1, -34)": "0"})
	for _, n := range []string{"0", "-1"} {
		if a := l.ask(auto, "SELECT system.bucket("+n+", 34)"); a.err == nil {
			t.Errorf("bucket(%s) gives %v", n, a.rows)
		}
	}
	if a := l.ask(auto, "SELECT system.bucket(16, 1.5::DOUBLE)"); a.err == nil {
		t.Errorf("a double has the bucket %v", a.rows)
	}
}

// TestTRF1: truncate goes toward negative infinity.
func TestTRF1(t *testing.T) {
	want := map[string]string{
		"system.truncate(50, 10.65::DECIMAL(9,2))": "10.50", "system.truncate(50, -10.65::DECIMAL(9,2))": "-11.00",
		"system.truncate(50, -0.01::DECIMAL(9,2))": "-0.50", "system.truncate(3, -3)": "-3", "system.truncate(3, -4)": "-6",
	}
	for v, r := range map[string]string{"1": "0", "9": "0", "10": "10", "-1": "-10", "-10": "-10", "-11": "-20", "-12": "-20"} {
		want["system.truncate(10, "+v+")"] = r
		want["system.truncate(10, "+v+"::BIGINT)"] = r
	}
	newLab(t).values(want)
}

// TestTRF2: the time transforms go toward the past.
func TestTRF2(t *testing.T) {
	want := map[string]string{}
	for ts, r := range map[string][4]string{
		"1969-12-31 23:59:59":        {"-1", "-1", "1969-12-31", "-1"},
		"1969-01-01 00:00:00":        {"-1", "-12", "1969-01-01", "-8760"},
		"1968-12-31 23:59:59.999999": {"-2", "-13", "1968-12-31", "-8761"},
		"1970-01-01 00:00:00":        {"0", "0", "1970-01-01", "0"},
	} {
		for i, fn := range []string{"years", "months", "days", "hours"} {
			want["system."+fn+"(TIMESTAMP '"+ts+"')"] = r[i]
			want["system."+fn+"(TIMESTAMPTZ '"+ts+"+00')"] = r[i]
		}
	}
	want["system.years(DATE '1900-02-28')"] = "-70"
	want["system.months(DATE '1900-02-28')"] = "-839"
	want["system.days(DATE '1900-02-28')"] = "1900-02-28"
	want["system.days(TIMESTAMP_NS '1969-12-31 23:59:59.999999999')"] = "1969-12-31"
	newLab(t).values(want)
}

// TestTRF3: text is cut by code points, bytes by bytes.
func TestTRF3(t *testing.T) {
	newLab(t).values(map[string]string{
		"system.truncate(3, '日本語文字')": "日本語", "system.truncate(1, '💰x')": "💰", "system.truncate(2, 'e\u0301a')": "e\u0301",
		`hex(system.truncate(2, '\xE4\xB8\x96'::BLOB))`: "E4B8", "system.truncate(2, '')": "", "system.truncate(5, 'ab')": "ab",
	})
}

// TestTRF5: a result that leaves the type is refused on write; rows of foreign files with a wrapped one are still read.
func TestTRF5(t *testing.T) {
	l := newLab(t)
	bare := map[string]string{"write.metadata.metrics.default": "none"}
	for _, d := range []struct{ typ, fn, row, wrapped string }{
		{"int", "truncate[10000]", "(-2147483648)", ""},
		{"long", "truncate[10]", "(-9223372036854775808)", ""},
		{"decimal(7,3)", "truncate[10]", "(-9999.999)", ""},
	} {
		name := "c." + strings.NewReplacer("(", "", ")", "", ",", "").Replace(d.typ)
		l.create(definition{name: name, columns: []string{"x " + d.typ}, spec: []string{d.fn + " x"}, props: bare})
		err := l.tryAppend(name, d.row)
		if err == nil || errs.KindOf(err) == errs.Internal {
			t.Errorf("%s: writing %s gives %v", d.typ, d.row, err)
		}
	}
	for _, w := range []struct {
		name, typ, fn, row string
		tuple              transform.Value
	}{
		{"c.wrappedint", "int", "truncate[10000]", "(-2147483648)", int32(2147477296)},
		{"c.wrappedlong", "long", "truncate[10]", "(-9223372036854775808)", int64(9223372036854775806)},
	} {
		l.create(definition{name: w.name, columns: []string{"x " + w.typ}, spec: []string{"identity x"}, props: bare})
		l.misplace(w.name, tuple(w.tuple), w.row)
		l.evolve(w.name, func(meta map[string]any) { // the tuple is what truncate gave when it wrapped around
			field := meta["partition-specs"].([]any)[0].(map[string]any)["fields"].([]any)[0].(map[string]any)
			field["transform"] = w.fn
		})
		l.append(w.name, "(5), (NULL)")
		name := w.name
		l.agree("SELECT x FROM " + name + " WHERE x < 0")
		l.agree("SELECT x FROM " + name + " WHERE x = (SELECT min(x) FROM " + name + ")")
		l.agree("SELECT a.x FROM " + name + " a JOIN " + name + " b USING (x)")
		l.agree("SELECT x, count(*) FROM " + name + " GROUP BY x")
	}
}
