package duck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

// TestBloom: a filter lets all of its keys by, whatever they are and however wide, and few others.
func TestBloom(t *testing.T) {
	_, conn := session(t, Options{Threads: 1})
	rng := seed.Rand(t)
	for _, keys := range []struct {
		name string
		key  func(i int64) int64
	}{
		{"following each other", func(i int64) int64 { return i - 5000 }},
		{"of any bits", func(int64) int64 { return int64(rng.Uint64()) }},
		{"of upper bits", func(i int64) int64 { return i << 40 }},
		{"as wide as an INTEGER", func(int64) int64 { return int64(int32(rng.Uint32())) }},
	} {
		const count = 10_000
		b, err := NewBloom(count)
		if err != nil {
			t.Fatal(err)
		}
		list := make([]int64, count)
		for i := range list {
			list[i] = keys.key(int64(i))
		}
		b.Add(list[:count/2])
		b.Add(list[count/2:])
		b.Add(nil)
		for _, typ := range []string{"BIGINT", "INTEGER"} {
			texts := make([]string, count)
			for i, k := range list {
				texts[i] = fmt.Sprint(k)
			}
			rows := fmt.Sprintf("(SELECT try_cast(unnest([%s]::BIGINT[]) AS %s) AS k)", strings.Join(texts, ", "), typ)
			if got := one(t, conn, fmt.Sprintf("SELECT count(*) FROM %s WHERE k IS NOT NULL AND %s IS NOT true", rows, b.Condition("k"))); got != "0" {
				t.Errorf("%s: %s keys that are there are left out, as %s", keys.name, got, typ)
			}
		}
		others := fmt.Sprintf("(SELECT range * 3000017 + %d AS k FROM range(100000))", rng.Uint32())
		var passed int
		if _, err := fmt.Sscan(one(t, conn, fmt.Sprintf("SELECT count(*) FROM %s WHERE %s", others, b.Condition("k"))), &passed); err != nil || passed > 4000 {
			t.Errorf("%s: %d of 100000 other keys are let by, %v", keys.name, passed, err)
		}
		b.Close()
	}
}

// TestBloomForgotten: a condition of a filter that was closed is an error, and not true of all.
func TestBloomForgotten(t *testing.T) {
	_, conn := session(t, Options{Threads: 1})
	b, err := NewBloom(0)
	if err != nil {
		t.Fatal(err)
	}
	if got := one(t, conn, "SELECT count(*) FROM range(5000) r(k) WHERE "+b.Condition("k")); got != "0" {
		t.Errorf("%s rows are let by without a key", got)
	}
	b.Close()
	if err := conn.Exec(t.Context(), "SELECT count(*) FROM range(5) r(k) WHERE "+b.Condition("k")); err == nil || !strings.Contains(err.Error(), "is not registered") {
		t.Errorf("the error is %v", err)
	}
}

// one returns the only value of a query.
func one(t *testing.T, c *Conn, sql string) string {
	t.Helper()
	rows := mustRows(t, c, sql)
	if len(rows) != 1 {
		t.Fatalf("%s gives %v", sql, rows)
	}
	return rows[0]
}
