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

func TestZY(t *testing.T) {
	if os.Getenv("ZZ") == "" { t.Skip() }
	l := newLab(t)
	d := t.TempDir()
	for i, c := range [][2]string{{`'\x80'::BLOB`,"to_hex(k) = '80'"},{`'\x80'::BLOB`,"hex(k) = '80'"}, {`'A'`,"lower(k) = 'a'"}, {"7", "k+1=8"}, {"7", "k::BIGINT=7"}, {"7::BIGINT", "-k=-7"}, {"'7'", "k::INT=7"},{"'A'", "k||'x'='Ax'"}, {"'A'", "substr(k,1,1)='A'"}, {"'abc'", "k[1]='a'"}, {"case when range=0 then (-0.0)::DOUBLE else 1 end", "k=0"}, {"case when range=0 then (-0.0)::FLOAT else 1 end", "k=0"}, {"case when range=0 then (-0.0)::DOUBLE else 1 end", "k IN (0,2)"}, {"case when range=0 then (0.0)::DOUBLE else 1 end", "k=-0.0::DOUBLE"}, {"{'a': 1}", "k.a=1"}, {"[1]", "k=[1]"}, {"{'a': 'A'}", "lower(k.a)='a'"}, {"{'a': '\\x80'::BLOB}", "k.a='\\x80'::BLOB"}, {"5::UTINYINT", "k=5"}, {"1e30", "k=1e30"}, {"TIMESTAMP '2020-01-01'", "k=DATE '2020-01-01'"}, {"DATE '2020-01-01'", "k=TIMESTAMP '2020-01-01'"}, {"7", "k=7.0"}, {"7", "k='7'"}, {"5.0::DECIMAL(4,1)", "k=5"}, {"'\\x80'::BLOB", "k IN ('\\x80'::BLOB)"}} {
		f := fmt.Sprintf("%s/x%d.parquet", d, i)
		l.exec("COPY (SELECT %s AS k FROM range(20)) TO '%s' (FORMAT parquet)", c[0], f)
		a := l.judge(fmt.Sprintf("SELECT count(*) FROM '%s' WHERE %s", f, c[1]))
		j := l.judge(fmt.Sprintf("SELECT count(*) FROM '%s' p JOIN (SELECT DISTINCT k FROM '%s') v ON p.k = v.k", f, f))
		v := l.judge(fmt.Sprintf("SELECT count(*) FROM (SELECT %s AS k FROM range(20)) WHERE %s", c[0], c[1]))
		t.Log(c, a.rows, a.err, v.rows, j.rows)
	}
}

func TestZX(t *testing.T) {
	if os.Getenv("ZZ") == "" { t.Skip() }
	l := newLab(t)
	d := t.TempDir()
	l.exec("COPY (SELECT unnest(['3.0', 'nan', '3.0']::DOUBLE[]) AS k) TO '%s/n.parquet' (FORMAT parquet)", d)
	l.exec("COPY (SELECT unnest(['3.0', 'nan', '3.0']::FLOAT[]) AS k) TO '%s/nf.parquet' (FORMAT parquet)", d)
	for _, f := range []string{"/tmp/rep/nan.parquet", d+"/n.parquet", d+"/nf.parquet"} {
		for _, c := range []string{"k > 5", "k >= 'nan'::DOUBLE", "k = 'nan'::DOUBLE", "isnan(k)", "k <> 3", "k IN (1, 'nan'::DOUBLE)", "k IS DISTINCT FROM 3", "k > 3"} {
			t.Log(f, c, l.judge("SELECT count(*) FROM '"+f+"' WHERE "+c).rows)
		}
		t.Log(f, l.judge("SELECT count(*) FROM '"+f+"' p JOIN (VALUES ('nan'::DOUBLE)) v(k) ON p.k=v.k").rows)
	}
	for _, c := range []string{"k = -0.0::DOUBLE", "k < -0.0::DOUBLE", "k <= -0.0::DOUBLE", "k > -0.0::DOUBLE"} {
		t.Log("z", c, l.judge("SELECT count(*) FROM '/tmp/rep/z.parquet' WHERE "+c).rows)
	}
	for _, c := range []string{"k = 0.0::DOUBLE", "k < 0.0::DOUBLE", "k >= 0.0::DOUBLE", "k > 0.0::DOUBLE"} {
		t.Log("nz", c, l.judge("SELECT count(*) FROM '/tmp/rep/nz.parquet' WHERE "+c).rows)
	}
	t.Log(l.judge("SELECT * FROM duckdb_settings() WHERE name ILIKE '%bloom%' or name ilike '%parquet%' or name ilike '%statis%' or name ilike '%nan%'").rows)
}
