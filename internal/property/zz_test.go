package property

import (
	"os"
	"testing"
	"fmt"
)

func TestZZ(t *testing.T) {
	if os.Getenv("ZZ") == "" { t.Skip() }
	l := newLab(t)
	odd := map[string][]string{
		"timestamp": {"'2020-01-01 00:00:00+02'", "'2020-01-01T00:00:00Z'", "'2020-1-1'", "'2020-01-01'", "'infinity'", "'-infinity'", "'epoch'", "'2020-01-01 00:00:00.0000005'", "' 2020-01-01 '", "'2020-01-01 00:00:00 UTC'", "TIMESTAMPTZ '2020-01-01 00:00:00+02'", "TIMESTAMP_NS '2020-01-01 00:00:00'", "TIMESTAMP_S '2020-01-01 00:00:00'", "TIMESTAMP_MS '2020-01-01 00:00:00'", "DATE '2020-01-01'", "'2020-01-01 24:00:00'", "'20200101'", "'2020/01/01'", "'2020-01-01 (BC)'", "make_timestamp(2020,1,1,0,0,0)", "to_timestamp(0)", "epoch_ms(0)", "'2020-01-01 00:00'", "'2020-01-01 00:00:00,5'"},
		"timestamptz": {"'2020-01-01 00:00:00+02'", "'2020-01-01T00:00:00Z'", "'2020-01-01'", "TIMESTAMP '2020-01-01 00:00:00'", "DATE '2020-01-01'", "'2020-01-01 00:00:00 Europe/Berlin'", "'2020-01-01 00:00:00+02:30'", "'2020-01-01 00:00:00-0230'", "'2020-01-01 00:00:00.0000005+00'"},
		"date": {"'2020-1-1'", "'2020-01-01 12:00:00'", "'infinity'", "TIMESTAMP '2020-01-01 00:00:00'", "TIMESTAMP '2020-01-01 12:00:00'", "'2020/01/01'", "'20200101'", "'2020-01-01 (BC)'", "' 2020-01-01'", "DATE '2020-01-01' + 1", "DATE '2020-01-01' + INTERVAL 1 DAY", "TIMESTAMPTZ '2020-01-01 00:00:00+02'", "'2020-02-30'"},
		"time": {"'24:00:00'", "'1:2:3'", "'00:00:00.0000005'", "TIME '00:00:00'", "'12:00'", "TIMETZ '12:00:00+00'"},
		"int": {"1.0", "1.5", "'1'", "' 1 '", "'1.0'", "'1.5'", "1e0", "true", "3000000000", "99999999999999999999999", "1::HUGEINT", "1::UTINYINT", "'x'", "0x1", "1_0", "- 1", "-(-1)", "+1", "1::FLOAT", "0.99999999999999999999", "'1e0'", "NULL::INT"},
		"long": {"1.0", "'1'", "9223372036854775808", "-9223372036854775809", "1e0", "1e19", "true", "1::UBIGINT", "18446744073709551615::UBIGINT"},
		"decimal(9,2)": {"1", "1.00", "1.001", "'1.0'", "1e0", "'1.005'", "10000000", "9999999.994", "9999999.999", "1::DOUBLE", "0.1::FLOAT", "'abc'", "true"},
		"string": {"1", "1.0", "DATE '2020-01-01'", "true", "'1'", "'a\u0000b'", "E'a\\nb'", "$$1$$", "chr(49)", "'2020-01-01'", "'' || '1'", "'1' COLLATE NOCASE"},
		"uuid": {"'F79C3E09-677C-4BBD-A479-3F349CB785E7'", "'{f79c3e09-677c-4bbd-a479-3f349cb785e7}'", "'f79c3e09677c4bbda4793f349cb785e7'", "'x'"},
		"boolean": {"'t'", "'yes'", "'1'", "1", "0", "'TRUE'", "2", "1.0", "'on'"},
		"binary": {"'a'", "'\\x61'", "'\\x61'::BLOB", "encode('a')", "'a'::BLOB", "from_hex('61')"},
	}
	vals := map[string][]string{
		"timestamp": {"TIMESTAMP '2020-01-01 00:00:00'", "TIMESTAMP '2019-12-31 22:00:00'", "TIMESTAMP '2020-01-02 00:00:00'", "TIMESTAMP '1970-01-01'", "TIMESTAMP '2019-12-31 23:59:59.999999'", "TIMESTAMP '2020-01-01 00:00:00.5'", "TIMESTAMP '2020-01-01 00:00:00.000001'", "TIMESTAMP 'infinity'"},
		"timestamptz": {"TIMESTAMPTZ '2020-01-01 00:00:00+00'", "TIMESTAMPTZ '2019-12-31 22:00:00+00'","TIMESTAMPTZ '2019-12-31 21:30:00+00'", "TIMESTAMPTZ '2020-01-01 02:30:00+00'", "TIMESTAMPTZ '2019-12-31 23:00:00+00'"},
		"date": {"DATE '2020-01-01'", "DATE '2020-01-02'", "DATE '2019-12-31'", "DATE '2019-12-30'"},
		"time": {"TIME '00:00:00'", "TIME '01:02:03'", "TIME '12:00:00'", "TIME '24:00:00'"},
		"int": {"1", "2", "0", "10", "-1", "2147483647"}, "long": {"1", "2", "0", "9223372036854775807", "-9223372036854775808"}, "decimal(9,2)": {"1.00", "1.01", "0.10", "9999999.99", "0"},
		"string": {"'1'", "'1.0'", "'2020-01-01'", "'true'", "'a'", "E'a\\nb'"}, "uuid": {"'f79c3e09-677c-4bbd-a479-3f349cb785e7'::UUID", "'00000000-0000-0000-0000-000000000000'::UUID"}, "boolean": {"true", "false"}, "binary": {"'a'::BLOB", "'b'::BLOB", "'\\x61'::BLOB"},
	}
	fns := map[string][]string{"timestamp": {"identity", "day", "bucket[4]", "year"}, "timestamptz": {"identity", "hour"}, "date": {"identity", "month", "bucket[4]"}, "time": {"identity"}, "int": {"identity", "truncate[10]", "bucket[4]"}, "long": {"identity", "bucket[4]"}, "decimal(9,2)": {"identity", "bucket[4]"}, "string": {"identity", "truncate[1]", "bucket[4]"}, "uuid": {"identity", "bucket[4]"}, "boolean": {"identity"}, "binary": {"identity", "truncate[1]", "bucket[4]"}}
	n := 0
	for typ, lits := range odd {
		for _, fn := range fns[typ] {
			n++
			name := fmt.Sprintf("z.t%d", n)
			l.create(definition{name: name, columns: []string{"a "+typ}, spec: []string{fn+" a"}})
			for _, v := range vals[typ] { if err := l.tryAppend(name, "("+v+")", "(NULL)"); err != nil { t.Log(typ, fn, v, err) } }
			for _, lit := range lits {
				for _, op := range []string{"=", "<", ">=", "<>", "IN"} {
					q := "SELECT a FROM "+name+" WHERE a "+op+" "+lit
					if op == "IN" { q = "SELECT a FROM "+name+" WHERE a IN ("+lit+", "+lit+")" }
					want := l.judge(q)
					got := l.ask(off, q)
					if d := differ(want, got, false); d != "" {
						t.Error(typ, fn, q, d)
					}
				}
			}
		}
	}
}
