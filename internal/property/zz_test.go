package property

import (
	"os"
	"testing"
	"fmt"
)

func TestZZ(t *testing.T) {
	if os.Getenv("ZZ") == "" { t.Skip() }
	l := newLab(t)
	d := t.TempDir()
	for i, c := range []string{`'\x80'::BLOB`, `'abc'::BLOB`,`'a\x0Ab'::BLOB`, `'f79c3e09-677c-4bbd-a479-3f349cb785e7'::UUID`, "14.20::DECIMAL(9,2)", "14.20::DECIMAL(38,10)", "TIME '12:00:00'", "TIMESTAMP '1969-12-31 23:00:00'", "TIMESTAMPTZ '1969-12-31 23:00:00+00'", "DATE '1969-12-31'", "1.5::DOUBLE", "1.5::FLOAT", "true", "'é'", "7::INT", "7::BIGINT", "7::SMALLINT", "(-0.0)::DOUBLE","'\\x80'"} {
		for _, bf := range []string{"true", "false"} {
			f := fmt.Sprintf("%s/x%d%s.parquet", d, i, bf)
			l.exec("COPY (SELECT %s AS k FROM range(20)) TO '%s' (FORMAT parquet, WRITE_BLOOM_FILTER %s)", c, f, bf)
			a := l.judge(fmt.Sprintf("SELECT count(*), (SELECT count(*) FROM (VALUES (%s)) v(k) JOIN '%s' p ON p.k = v.k), (SELECT count(*) FROM '%s' WHERE k IN (%s, %s)) FROM '%s' WHERE k = %s", c, f, f, c, c, f, c))
			b := l.judge("SELECT encodings, bloom_filter_offset FROM parquet_metadata('"+f+"')")
			t.Log(c, bf, a.rows, a.err, b.rows)
		}
	}
}
