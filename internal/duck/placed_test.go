package duck

import (
	"fmt"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Many keys of one file, which is what C decides on: right ones pass, and a single wrong one or a NULL among them is found.
func TestVerifyOfManyKeysOfOneFile(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	random := newSource(t)
	for _, typ := range keyTypes {
		for _, tr := range allTransforms {
			if tr.CanApply(typ) {
				verifyOneFile(t, db, c, random, typ, tr)
			}
		}
	}
}

// alike returns keys that all have the tuple of the first, and one that hasn't, or nil when none was met.
func alike(random source, typ transform.Type, tr transform.Transform) (keys []transform.Value, tuple, other transform.Value) {
	result := tr.ResultType(typ)
	for len(keys) == 0 {
		v := random.value(typ)
		if got, err := tr.Apply(typ, v); err == nil && v != nil {
			keys, tuple = append(keys, v), got
		}
	}
	for range 500 {
		v := random.value(typ)
		got, err := tr.Apply(typ, v)
		switch {
		case err != nil:
		case string(transform.AppendKey(nil, result, got)) == string(transform.AppendKey(nil, result, tuple)):
			keys = append(keys, v)
		default:
			other = v
		}
	}
	return keys, tuple, other
}

func verifyOneFile(t *testing.T, db *DB, c *Conn, random source, typ transform.Type, tr transform.Transform) {
	t.Helper()
	keys, tuple, other := alike(random, typ, tr)
	id := registerCheck(t, db, KeyCheck{Column: "v", Type: typ, Transform: tr, Files: []string{"a", "b"}, Expected: []transform.Value{nil, tuple}})
	check := func(keys []transform.Value, wrong bool) {
		t.Helper()
		fill(t, c, "keys", typ, keys)
		// Several vectors of rows, the last of them not full.
		query := fmt.Sprintf("SELECT count(*) FROM (SELECT v FROM keys, range(5) ORDER BY i) WHERE %s(%d, v, 1::UBIGINT) IS DISTINCT FROM v", verifyName(typ), id)
		got, err := rowsOf(t.Context(), c, query)
		switch {
		case wrong && errs.KindOf(err) != errs.Corrupt:
			t.Errorf("%s of %s in a file of %v: a wrong key passed: %v %v", tr, typ, tuple, got, err)
		case !wrong && (err != nil || got[0] != "0"):
			t.Errorf("%s of %s in a file of %v: %v %v", tr, typ, tuple, got, err)
		}
	}
	check(keys, false)
	at := random.IntN(len(keys))
	if keys[at] = other; other != nil {
		check(keys, true)
	}
	keys[at] = nil
	check(keys, tr.Op != transform.Void)
}

// Checks that C knows are forgotten with their release.
func TestPlacesAreForgotten(t *testing.T) {
	db, _ := session(t, Options{Threads: 1})
	held := placesInC()
	for _, typ := range keyTypes {
		k := KeyCheck{Column: "k", Type: typ, Transform: transform.Transform{Op: transform.Bucket, N: 4}, Files: []string{"a"}, Expected: []transform.Value{int32(1)}}
		_, release, err := db.RegisterKeyCheck(k)
		if err != nil {
			if typ.Kind != transform.Boolean {
				t.Error(err)
			}
			continue
		}
		inC := keyWidth(typ) > 0 && typ.Kind != transform.TimestampNS
		if got := placesInC() - held; got == 1 != inC {
			t.Errorf("%s: %d checks are in C", typ, got)
		}
		release()
		if left := placesInC(); left != held {
			t.Errorf("%s: %d checks are left in C memory", typ, left-held)
		}
	}
}
