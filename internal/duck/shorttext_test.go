package duck

import (
	"slices"
	"testing"
)

// TestShortTexts: numbers are as different as texts are, texts come back, and NULL stays NULL.
func TestShortTexts(t *testing.T) {
	_, c := session(t, Options{})
	const short = `'', 'a', 'A', 'a ', 'a' || chr(0), chr(0), chr(0) || chr(0), 'ab', 'ba', 'é', 'e' || chr(769), '💰', '💰💰', '1234567', '12345678',
		'ÿÿÿÿ', repeat(chr(0), 8), repeat(chr(127), 7), repeat(chr(127), 8), 'ab' || chr(0) || 'c', NULL`
	const inline = short + `, '123456789', 'ÿÿÿÿÿÿ', '123456789012', '1234567890ÿ', '12345678901', chr(127) || repeat('ÿ', 5)`
	for width, texts := range map[ShortWidth]string{ShortWord: short, ShortInline: inline} {
		rows, err := rowsOf(t.Context(), c, `WITH v AS (SELECT x, `+ShortSQL("x", width)+` AS n FROM (SELECT unnest([`+texts+`]) AS x))
			SELECT count(*) - (SELECT count(*) FROM v) ** 2, count(*) FILTER ((a.x = b.x) IS DISTINCT FROM (a.n = b.n)),
				count(*) FILTER (tarn_short_text(a.n) IS DISTINCT FROM a.x), (SELECT count(*) > 20 FROM v) FROM v a, v b`)
		if want := []string{"0|0|0|true"}; err != nil || !slices.Equal(rows, want) {
			t.Errorf("%d bytes: %v %v, want %v", width, rows, err, want)
		}
	}
}

// TestLongTexts are told from other errors, also when a statement is only planned, and name the width that will do.
func TestLongTexts(t *testing.T) {
	_, c := session(t, Options{})
	for _, x := range []struct {
		sql   string
		width ShortWidth
		long  bool
		wider ShortWidth
	}{
		{"SELECT tarn_short_8('123456789')", ShortWord, true, ShortInline},
		{"SELECT tarn_short_8('1234567890123')", ShortWord, true, NoShort},
		{"SELECT tarn_short_12('1234567890123')", ShortInline, true, NoShort},
		{"SELECT count(DISTINCT tarn_short_8(repeat('é', (range % 7)::INTEGER))) FROM range(100)", ShortWord, true, ShortInline},
		{"SELECT count(DISTINCT tarn_short_8(repeat('é', (range % 9)::INTEGER))) FROM range(100)", ShortWord, true, NoShort},
		{"SELECT tarn_short_text((-1)::HUGEINT)", ShortInline, false, NoShort},
		{"SELECT error('x')", ShortWord, false, NoShort},
	} {
		_, err := rowsOf(t.Context(), c, x.sql)
		if err == nil || IsTooLong(err) != x.long || x.width.Wider(err) != x.wider {
			t.Errorf("%s: %v, then %d", x.sql, err, x.width.Wider(err))
		}
	}
}
