package duck

import (
	"slices"
	"testing"
)

// TestShortTexts: numbers are as different as texts are, texts come back, and NULL stays NULL.
func TestShortTexts(t *testing.T) {
	_, c := session(t, Options{})
	const texts = `(SELECT unnest(['', 'a', 'A', 'a ', 'a' || chr(0), chr(0), chr(0) || chr(0), 'ab', 'ba', 'é', 'e' || chr(769), '💰', '12345678', '123456789',
		'ÿÿÿÿÿÿ', '123456789012', '1234567890ÿ', '12345678901', chr(127) || repeat('ÿ', 5), NULL]) AS x)`
	rows, err := rowsOf(t.Context(), c, `WITH v AS (SELECT x, `+ShortSQL("x")+` AS n FROM `+texts+`)
		SELECT count(*), count(*) FILTER ((a.x = b.x) IS DISTINCT FROM (a.n = b.n)), count(*) FILTER (tarn_short_text(a.n) IS DISTINCT FROM a.x) FROM v a, v b`)
	if want := []string{"400|0|0"}; err != nil || !slices.Equal(rows, want) {
		t.Errorf("%v %v, want %v", rows, err, want)
	}
}

// TestLongTexts are told from other errors, also when a statement is only planned.
func TestLongTexts(t *testing.T) {
	_, c := session(t, Options{})
	for sql, want := range map[string]bool{
		"SELECT tarn_short('1234567890123')":                                                   true,
		"SELECT count(DISTINCT tarn_short(repeat('é', (range % 9)::INTEGER))) FROM range(100)": true,
		"SELECT tarn_short_text(-1)":                                                           false,
		"SELECT error('x')":                                                                    false,
	} {
		_, err := rowsOf(t.Context(), c, sql)
		if err == nil || IsTooLong(err) != want {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
