package duck

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// The spec's own vectors, through SQL.
func TestBucketFollowsSpecVectors(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	for _, v := range transform.SpecVectors() {
		typ, err := transform.ParseType(v.Type)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := typeSQL(typ); err != nil || !typ.CanHash() {
			continue // no DuckDB type holds it, or it has a hash but no buckets
		}
		value, err := transform.ParseValue(typ, v.Value)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(transform.BucketOf(v.Hash, 1_000_003))
		wantRows(t, c, fmt.Sprintf("SELECT tarn_bucket(1000003, %s)", literal(t, typ, value)), want)
	}
}

// Each function agrees with package transform on random values of each type, NULLs among them, and keeps to the result
// types that Spark gives.
func TestFunctionsAgreeWithTransform(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	random := newSource(t)
	calls := map[transform.Op]string{
		transform.Bucket: "tarn_bucket(%d, v)", transform.Truncate: "tarn_truncate(%d, v)", transform.Year: "tarn_years(v)",
		transform.Month: "tarn_months(v)", transform.Day: "tarn_days(v)", transform.Hour: "tarn_hours(v)",
	}
	for _, typ := range keyTypes {
		values := make([]transform.Value, 300)
		for i := range values {
			if random.IntN(5) > 0 {
				values[i] = random.value(typ)
			}
		}
		fill(t, c, "keys", typ, values)
		for _, tr := range allTransforms {
			call := calls[tr.Op]
			if call == "" || !tr.CanApply(typ) {
				continue
			}
			if tr.N > 0 {
				call = fmt.Sprintf(call, tr.N)
			}
			compareCall(t, c, call, tr, typ, values)
		}
	}
}

func compareCall(t *testing.T, c *Conn, call string, tr transform.Transform, typ transform.Type, values []transform.Value) {
	t.Helper()
	result, err := typeSQL(tr.ResultType(typ))
	if err != nil {
		t.Fatal(err)
	}
	var want []transform.Value
	kept := "i IN ("
	for i, v := range values {
		r, err := tr.Apply(typ, v)
		if err != nil {
			continue // beyond its type: the function's error is tested apart
		}
		want = append(want, r)
		kept += fmt.Sprint(i, ", ")
	}
	fill(t, c, "want", tr.ResultType(typ), want)
	// The wanted values are numbered anew.
	rows := mustRows(t, c, fmt.Sprintf(`
		SELECT g.v, g.r, w.v, typeof(g.r) FROM (
			SELECT v, %s AS r, row_number() OVER (ORDER BY i) - 1 AS n FROM keys WHERE %s-1)
		) g JOIN want w ON w.i = g.n WHERE g.r IS DISTINCT FROM w.v OR typeof(g.r) <> '%s'`, call, kept, result))
	if len(rows) > 0 {
		t.Errorf("%s of %s: value, got, want, type got: %q", call, typ, rows[0])
	}
	if n := mustRows(t, c, "SELECT count(*) FROM keys WHERE "+kept+"-1)"); n[0] != fmt.Sprint(len(want)) {
		t.Errorf("%s of %s: %s rows were compared, not %d", call, typ, n[0], len(want))
	}
}

// Vectors of every form that DuckDB passes: more than one, constant, dictionary, with the count in a column.
func TestBucketOfVectorForms(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	mustExec(t, c, `CREATE TEMP TABLE t AS SELECT i, 1 + (i // 100 % 7)::INTEGER AS n, CASE WHEN i % 11 > 0 THEN i END AS k,
		CASE WHEN i % 3 > 0 THEN 'key number ' || (i % 5) END AS s FROM range(10000) r(i)`)
	for _, q := range []string{
		`SELECT count(*) FROM t WHERE tarn_bucket(n, k) IS DISTINCT FROM CASE n WHEN 1 THEN tarn_bucket(1, k) WHEN 2 THEN tarn_bucket(2, k)
			WHEN 3 THEN tarn_bucket(3, k) WHEN 4 THEN tarn_bucket(4, k) WHEN 5 THEN tarn_bucket(5, k) WHEN 6 THEN tarn_bucket(6, k) ELSE tarn_bucket(7, k) END`,
		`SELECT count(*) FROM t WHERE (tarn_bucket(4, k) IS NULL) <> (k IS NULL)`,
		`SELECT count(*) FROM t WHERE (tarn_bucket(4, s) IS NULL) <> (s IS NULL)`,
		`SELECT count(*) FROM t WHERE tarn_bucket(16, 'key number 3') <> (SELECT min(tarn_bucket(16, s)) FROM t WHERE s = 'key number 3')`,
	} {
		wantRows(t, c, q, "0")
	}
	wantRows(t, c, `SELECT tarn_bucket(NULL, 5), tarn_bucket(5, NULL), tarn_days(NULL)`, "(null)|(null)|(null)")
	wantRows(t, c, `SELECT tarn_bucket(8, x) FROM (SELECT NULL AS x)`, "(null)")
	if got := mustRows(t, c, `SELECT tarn_bucket(?, ?)`, int32(64), int64(34)); got[0] != fmt.Sprint(transform.BucketOf(2017239379, 64)) {
		t.Errorf("with arguments: %q", got)
	}
}

func TestFunctionErrors(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	for _, test := range []struct {
		sql, part string
	}{
		{`SELECT tarn_bucket(0, 1)`, "count above 0, not 0"},
		{`SELECT tarn_bucket(n::INTEGER, n) FROM range(-1, 3) t(n)`, "count above 0, not -1"},
		{`SELECT tarn_bucket(4, 1.5::DOUBLE)`, "bucket is not defined on DOUBLE"},
		{`SELECT tarn_bucket(4, true)`, "bucket is not defined on BOOLEAN"},
		{`SELECT tarn_bucket(4, [1])`, "bucket is not defined on INTEGER[]"},
		{`SELECT tarn_bucket(4, 1::HUGEINT)`, "bucket is not defined on HUGEINT"},
		{`SELECT tarn_truncate(-1, 5)`, "width above 0, not -1"},
		{`SELECT tarn_truncate(10, 1.5::FLOAT)`, "truncate is not defined on FLOAT"},
		{`SELECT tarn_truncate(10, DATE '2020-01-01')`, "truncate is not defined on DATE"},
		{`SELECT tarn_truncate(10, (-2147483647)::INTEGER)`, "beyond int"},
		{`SELECT tarn_truncate(10, (-128)::TINYINT)`, "leaves its argument's type"},
		{`SELECT tarn_hours(DATE '2020-01-01')`, "hours is not defined on DATE"},
		{`SELECT tarn_days('2020-01-01')`, "not defined on VARCHAR"},
	} {
		_, err := rowsOf(t.Context(), c, test.sql)
		wantError(t, err, errs.Invalid, test.part)
	}
}

func TestSystemFunctionNames(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	args := map[string]string{"bucket": "4, 1", "truncate": "4, 1"}
	for name := range systemFunctions {
		own, ok := SystemFunction(name)
		if !ok {
			t.Fatal(name)
		}
		arg := args[name]
		if arg == "" {
			arg = "TIMESTAMP '2017-11-16 22:31:08'"
		}
		mustRows(t, c, fmt.Sprintf("SELECT %s(%s)", own, arg))
	}
	if _, ok := SystemFunction("BUCKET"); !ok {
		t.Error("names have no letter case")
	}
	if _, ok := SystemFunction("version"); ok {
		t.Error("version is not ours")
	}
}

// Keys of each type under each transform: right ones pass unchanged, and one in a wrong file is found.
func TestVerifyAgreesWithTransform(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	random := newSource(t)
	for _, typ := range keyTypes {
		for _, tr := range allTransforms {
			if tr.CanApply(typ) {
				verifyRandomKeys(t, db, c, random, typ, tr)
			}
		}
	}
}

func verifyRandomKeys(t *testing.T, db *DB, c *Conn, random source, typ transform.Type, tr transform.Transform) {
	t.Helper()
	var keys, tuples []transform.Value
	for len(keys) < 60 {
		var v transform.Value
		if random.IntN(8) > 0 {
			v = random.value(typ)
		}
		if tuple, err := tr.Apply(typ, v); err == nil {
			keys, tuples = append(keys, v), append(tuples, tuple)
		}
	}
	fill(t, c, "keys", typ, keys)
	check := KeyCheck{Column: "v", Type: typ, Transform: tr, Files: make([]string, len(keys)), Expected: tuples}
	for i := range check.Files {
		check.Files[i] = fmt.Sprintf("file %d", i)
	}
	id := registerCheck(t, db, check)
	same := fmt.Sprintf(`SELECT count(*) FROM keys WHERE %s(%d, v, %%s) IS DISTINCT FROM v`, verifyName(typ), id)
	wantRows(t, c, fmt.Sprintf(same, "i::UBIGINT"), "0")

	// One row claims to be in another's file: an error exactly when the tuples differ.
	row, file := random.IntN(len(keys)), random.IntN(len(keys))
	_, err := rowsOf(t.Context(), c, fmt.Sprintf(same, fmt.Sprintf("CASE i WHEN %d THEN %d ELSE i END::UBIGINT", row, file)))
	result := tr.ResultType(typ)
	agree := string(transform.AppendKey(nil, result, tuples[row])) == string(transform.AppendKey(nil, result, tuples[file]))
	switch {
	case agree && err != nil:
		t.Errorf("%s of %s: key %v in a file of %v: %v", tr, typ, keys[row], tuples[file], err)
	case !agree && errs.KindOf(err) != errs.Corrupt:
		t.Errorf("%s of %s: key %v in a file of %v passed: %v", tr, typ, keys[row], tuples[file], err)
	case !agree && err.(*errs.Error).Object != check.Files[file]:
		t.Errorf("%s of %s: the error names %q, not %q", tr, typ, err.(*errs.Error).Object, check.Files[file])
	}
}

// The range of keys that a tuple stands for ends where the transform says, also at the ends of a type, and is empty for a
// tuple that no key has.
func TestKeyRangeEnds(t *testing.T) {
	random := newSource(t)
	for _, typ := range keyTypes {
		for _, tr := range allTransforms {
			if !isOrdinal(typ) || !tr.CanApply(typ) || tr.Op == transform.Bucket || tr.Op == transform.Void {
				continue
			}
			k := &keyCheck{KeyCheck: KeyCheck{Type: typ, Transform: tr}}
			least, greatest := domain(typ)
			for _, key := range []int64{least, greatest, ordinalOf(random.value(typ)), ordinalOf(random.value(typ))} {
				tuple, err := tr.Apply(typ, integerValue(typ, key))
				if err != nil {
					continue
				}
				checkRange(t, k, key, tuple)
			}
		}
	}
	k := &keyCheck{KeyCheck: KeyCheck{Type: longType, Transform: transform.Transform{Op: transform.Truncate, N: 10}}}
	if low, high := k.keyRange(int64(7)); low <= high {
		t.Errorf("no key truncates to 7, yet %d to %d", low, high)
	}
}

func checkRange(t *testing.T, k *keyCheck, key int64, tuple transform.Value) {
	t.Helper()
	low, high := k.keyRange(tuple)
	least, greatest := domain(k.Type)
	if key < low || key > high {
		t.Errorf("%s of %s: %d is outside %d to %d", k.Transform, k.Type, key, low, high)
	}
	same := func(v int64) bool {
		got, err := k.Transform.Apply(k.Type, integerValue(k.Type, v))
		return err == nil && transform.Compare(k.Transform.ResultType(k.Type), got, tuple) == 0
	}
	if !same(low) || !same(high) || low > least && same(low-1) || high < greatest && same(high+1) {
		t.Errorf("%s of %s = %v: %d to %d are not the ends", k.Transform, k.Type, tuple, low, high)
	}
}

func ordinalOf(v transform.Value) int64 {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case int32:
		return int64(v)
	case int64:
		return v
	default:
		return v.(*big.Int).Int64()
	}
}

func TestVerifyRefusesWhatIsNotRegistered(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	id := registerCheck(t, db, KeyCheck{Column: "k", Type: longType, Files: []string{"a"}, Expected: []transform.Value{int64(1)}})
	narrow := registerCheck(t, db, KeyCheck{Column: "k", Type: transform.Type{Kind: transform.Int}, Files: []string{"a"}, Expected: []transform.Value{int32(1)}})
	for _, args := range []string{
		"999999, 1::BIGINT, 0::UBIGINT", fmt.Sprintf("%d, 1::BIGINT, 0::UBIGINT", narrow), fmt.Sprintf("%d, 1::BIGINT, 1::UBIGINT", id), fmt.Sprintf("%d, 1::BIGINT, NULL", id),
	} {
		_, err := rowsOf(t.Context(), c, fmt.Sprintf("SELECT tarn_verify_long(%s)", args))
		wantError(t, err, errs.Internal, "key check")
	}
	// A value of another type makes package transform panic: an error, and the process lives.
	odd := registerCheck(t, db, KeyCheck{Column: "k", Type: longType, Files: []string{"a"}, Expected: []transform.Value{struct{}{}}})
	_, err := rowsOf(t.Context(), c, fmt.Sprintf("SELECT tarn_verify_long(%d, 1::BIGINT, 0::UBIGINT)", odd))
	wantError(t, err, errs.Internal, "panicked")
	for _, k := range []KeyCheck{
		{Type: transform.Type{Kind: transform.Double}},
		{Type: stringType, Transform: transform.Transform{Op: transform.Year}},
		{Type: longType, Files: []string{"a"}},
	} {
		if _, _, err := db.RegisterKeyCheck(k); err == nil {
			t.Errorf("%v was registered", k)
		}
	}
}
