package property

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// predicate makes a condition on the world's columns, of at most so many levels of AND, OR and NOT. A # stands where a
// column's table may be named.
func (w *pruneWorld) predicate(rng *rand.Rand, depth int) string {
	if depth > 0 {
		switch rng.IntN(6) {
		case 0:
			return "(" + w.predicate(rng, depth-1) + " AND " + w.predicate(rng, depth-1) + ")"
		case 1:
			return "(" + w.predicate(rng, depth-1) + " OR " + w.predicate(rng, depth-1) + ")"
		case 2:
			return "NOT (" + w.predicate(rng, depth-1) + ")"
		}
	}
	if chance(rng, 20) {
		return fmt.Sprintf("#rid %s %d", pick(rng, comparisons), rng.IntN(w.next))
	}
	c := pick(rng, w.columns)
	c.name = "#" + c.name
	return w.test(rng, c)
}

func literalOf(rng *rand.Rand, k *kind) string {
	switch rng.IntN(8) {
	case 0:
		return pick(rng, k.mates)
	case 1:
		if o := odd[k.class]; len(o) > 0 {
			return pick(rng, o)
		}
	case 2:
		if len(k.extreme) > 0 {
			return pick(rng, k.extreme)
		}
	}
	return pick(rng, k.values)
}

// test makes a condition on one column.
func (w *pruneWorld) test(rng *rand.Rand, c pcolumn) string {
	lit := func() string { return literalOf(rng, c.kind) }
	not := pick(rng, []string{"", "", "NOT "})
	switch n := rng.IntN(16); {
	case n == 0:
		return fmt.Sprintf("%s IS %sNULL", c.name, not)
	case n <= 2:
		list := []string{lit()}
		for range rng.IntN(3) {
			list = append(list, lit())
		}
		return fmt.Sprintf("%s %sIN (%s)", c.name, not, strings.Join(list, ", "))
	case n <= 4:
		return fmt.Sprintf("%s %sBETWEEN %s AND %s", c.name, not, lit(), lit())
	case n == 5:
		return lit() + " " + pick(rng, comparisons) + " " + c.name
	case n == 6:
		return w.computed(rng, c)
	case n <= 8 && c.kind.class == "string":
		return patternTest(rng, c, not)
	case n <= 8 && c.kind.class == "float":
		return not + "isnan(" + c.name + ")"
	case n == 7:
		return w.transformed(rng, c)
	}
	return c.name + " " + pick(rng, comparisons) + " " + lit()
}

// patternTest tests a string for a prefix, which a pattern may or may not be.
func patternTest(rng *rand.Rand, c pcolumn, not string) string {
	prefix := pick(rng, []string{"", "a", "ab", "abc", "abd", "a💰", "😀", "日", "日本", "é", "%", "_", "a_", "a%c", "%b", "\U00020000", "2026", "A"})
	switch rng.IntN(5) {
	case 0:
		return fmt.Sprintf("%sstarts_with(%s, '%s')", not, c.name, prefix)
	case 1:
		return fmt.Sprintf("%s(%s ^@ '%s')", not, c.name, prefix)
	case 2:
		return fmt.Sprintf("%s %sLIKE '%s'", c.name, not, prefix)
	case 3:
		return fmt.Sprintf("%s %sILIKE '%s%%'", c.name, not, prefix)
	}
	return fmt.Sprintf("%s %sLIKE '%s%%'", c.name, not, prefix)
}

// transformed compares a partition transform of a column.
func (w *pruneWorld) transformed(rng *rand.Rand, c pcolumn) string {
	fn, n, _ := strings.Cut(strings.TrimSuffix(pick(rng, c.kind.fns), "]"), "[")
	switch fn {
	case "bucket":
		return fmt.Sprintf("system.bucket(%s, %s) %s %d", n, c.name, pick(rng, []string{"=", "<>", "<"}), rng.IntN(4))
	case "truncate":
		return fmt.Sprintf("system.truncate(%s, %s) = %s", n, c.name, literalOf(rng, c.kind))
	case "year", "month", "hour":
		return fmt.Sprintf("system.%ss(%s) %s %d", fn, c.name, pick(rng, comparisons[:8]), rng.IntN(700)-12)
	}
	return c.name + " IS NOT NULL"
}

// computed compares what is computed from a column, so that nothing of it can be told by the column's bounds.
func (w *pruneWorld) computed(rng *rand.Rand, c pcolumn) string {
	lit := literalOf(rng, c.kind)
	exprs := []string{
		fmt.Sprintf("CAST(%s AS VARCHAR) < CAST(%s AS VARCHAR)", c.name, lit), fmt.Sprintf("coalesce(%s, %s) = %s", c.name, lit, lit),
		fmt.Sprintf("(%s = %s) IS NOT TRUE", c.name, lit), fmt.Sprintf("CASE WHEN %s = %s THEN NULL ELSE true END", c.name, lit),
		fmt.Sprintf("(%s < %s) IS NULL", c.name, lit), fmt.Sprintf("nullif(%s, %s) IS NULL", c.name, lit),
		fmt.Sprintf("(%s > %s) = (%s IS NULL)", c.name, lit, c.name),
	}
	switch c.kind.class {
	case "integer", "decimal2", "decimal10", "float":
		exprs = append(exprs, "-"+c.name+" < "+lit, c.name+" / 2 = 0", "abs("+c.name+") = "+lit, c.name+" % 5 = 2")
	case "date", "timestamp", "timestamptz":
		exprs = append(exprs, "CAST("+c.name+" AS DATE) = DATE '1969-12-31'", "year("+c.name+") = 2024", c.name+" + INTERVAL 1 DAY > "+lit,
			"date_trunc('month', "+c.name+") = DATE '2024-01-01'")
	case "string":
		exprs = append(exprs, "lower("+c.name+") = 'a'", "length("+c.name+") = 2", c.name+" || 'b' = 'ab'", c.name+" SIMILAR TO 'a.*'")
	}
	if other := pick(rng, w.columns); other.kind.class == c.kind.class {
		exprs = slices.Insert(exprs, 0, c.name+" "+pick(rng, comparisons)+" #"+other.name)
	}
	return pick(rng, exprs)
}
