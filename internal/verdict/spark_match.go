package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// differ returns why the claims of both sides don't fit; nothing when Spark joins them as they lie.
func (m *sparkModel) differ(j *plan.Join, l, r *side) []Finding {
	a, b := l.best, r.best
	if a.hash != b.hash {
		return []Finding{{Rule: sparkKept, What: "one side comes shuffled from a join or a grouping below"}}
	}
	at, bt := a.places(l.cols), b.places(r.cols)
	if a.hash {
		if meets(at, bt) {
			return nil
		}
		return []Finding{{Rule: sparkKept, What: "the sides come shuffled by different columns from joins or groupings below"}}
	}
	if len(a.keys) != len(b.keys) || !meets(at, bt) {
		return []Finding{m.unordered(a, b)}
	}
	for i, k := range a.keys {
		if !m.compatible(k.transform, b.keys[i].transform) {
			return []Finding{m.unlike(l, r, k, b.keys[i])}
		}
	}
	m.needsMore(j, a, b)
	m.needsMore(j, b, a)
	return nil
}

// needsMore notes a side that was shuffled into the parts of one table and is joined with a table that has others: Spark
// gives the scan below more parts, and the shuffle beside it keeps its own.
func (m *sparkModel) needsMore(j *plan.Join, a, b *claim) {
	if !a.pinned {
		return
	}
	isSubset := !slices.ContainsFunc(b.values, func(v string) bool { return !slices.Contains(a.values, v) })
	isSame := slices.EqualFunc(a.keys, b.keys, func(x, y key) bool { return x.transform == y.transform })
	if isSubset && isSame {
		return
	}
	m.hazard(shuffleOneSide, Finding{
		Rule: sparkPinned,
		What: fmt.Sprintf("with v2.bucketing.shuffle.enabled Spark fails to plan: a join below has shuffled one side into the partitions of [%s], and (%s) needs others of [%s] too",
			a.layoutText(), strings.TrimSpace(j.Text), b.layoutText()),
		Mend: "give the table that is shuffled below the layout of the others",
	})
}

// unordered tells of layouts that don't match field by field.
func (m *sparkModel) unordered(a, b *claim) Finding {
	f := Finding{Rule: sparkOrder, What: fmt.Sprintf("the layouts don't match field by field: [%s] and [%s]", a.layoutText(), b.layoutText())}
	if len(a.keys) != len(b.keys) {
		f.Mend = "give both tables the same fields, or leave the column that one lacks out of the condition"
		return f
	}
	f.Mend = "Spark matches fields by their IDs, which ALTER TABLE doesn't change: CREATE TABLE ... PARTITIONED BY with the fields in the other table's order AS SELECT * FROM the one table"
	return f
}

// compatible says whether Spark joins two transforms of one key, the settings being as they are.
func (m *sparkModel) compatible(a, b transform.Transform) bool {
	return a == b || m.on[allowCompatible] && reducible(a, b)
}

// reducible are the pairs for which Iceberg gives Spark a reducer.
func reducible(a, b transform.Transform) bool {
	if a.Op == transform.Bucket && b.Op == transform.Bucket {
		return gcd(a.N, b.N) > 1
	}
	return a.Op == transform.Hour && b.Op == transform.Day || a.Op == transform.Day && b.Op == transform.Hour
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// unlike tells of two transforms that Spark doesn't join.
func (m *sparkModel) unlike(l, r *side, a, b key) Finding {
	f := Finding{Rule: sparkSame, What: fmt.Sprintf("%s and %s are different transforms", a.field, b.field)}
	if reducible(a.transform, b.transform) {
		f.Rule = sparkCompatible
		f.What += ", which Spark can't be told to reduce here"
	}
	s, k, want := r, b, a.transform
	if _, ok := s.rel.(*plan.ScanRel); !ok {
		s, k, want = l, a, b.transform
	}
	scan, ok := s.rel.(*plan.ScanRel)
	if !ok {
		return f
	}
	if _, column, ok := m.origin(k.col); ok {
		name := catalog.ShownName(column.Name)
		f.Mend = fmt.Sprintf("ALTER TABLE %s REPLACE PARTITION FIELD %s WITH %s; %s",
			scan.Scan.Table.Ident, k.transform.SQL(name), want.SQL(name), rewrite(scan.Scan.Table))
	}
	return f
}

// reduce brings the claims of both sides to what they are in truth after the join, and notes what Spark gets wrong on the
// way: a reducer fails on NULL, and a key that an earlier join has reduced still goes for the unreduced one.
func (m *sparkModel) reduce(j *plan.Join, l, r *side) {
	if l.best.hash {
		return
	}
	for i := range l.best.keys {
		a, b := l.best.keys[i], r.best.keys[i]
		m.failsOnNull(a, b.transform)
		m.failsOnNull(b, a.transform)
		if a.transform.Op != transform.Bucket || b.transform.Op != transform.Bucket {
			continue
		}
		to := gcd(a.transform.N, b.transform.N)
		m.losesRows(j, a, b, to)
		m.losesRows(j, b, a, to)
		lower(l, r, i, to)
	}
	l.claims, r.claims = kept(l), kept(r)
}

// kept are the claims of a side after the join: those that aren't the chosen one stay, since the join has moved no row.
func kept(s *side) []claim {
	out := []claim{*s.best}
	for _, c := range s.claims {
		if !c.hash && len(c.keys) == len(s.best.keys) && c.keys[0].col != s.best.keys[0].col {
			for i := range c.keys {
				c.keys[i].modulus = gcd(c.keys[i].modulus, s.best.keys[i].modulus)
			}
			out = append(out, c)
		}
	}
	return out
}

// lower notes how many parts the key has in truth from here on.
func lower(l, r *side, i, to int) {
	for _, s := range []*side{l, r} {
		s.best.keys = slices.Clone(s.best.keys)
		s.best.keys[i].modulus = gcd(s.best.keys[i].modulus, to)
	}
}

func (m *sparkModel) failsOnNull(k key, other transform.Transform) {
	isReduced := k.transform.Op == transform.Hour && other.Op == transform.Day
	if k.transform.Op == transform.Bucket && other.Op == transform.Bucket {
		isReduced = gcd(k.transform.N, other.N) != k.transform.N
	}
	if !isReduced || !k.nulls {
		return
	}
	_, column, _ := m.origin(k.col)
	m.hazard(allowCompatible, Finding{
		Rule: sparkNullFails,
		What: fmt.Sprintf("with allowCompatibleTransforms Spark fails with a NullPointerException, since %s has rows whose key is NULL and is reduced to %s", k.field, shorter(k.transform, other)),
		Mend: fmt.Sprintf("filter by %s IS NOT NULL before the join, and join the other rows apart", catalog.ShownName(column.Name)),
	})
}

// shorter names what both transforms are reduced to.
func shorter(a, b transform.Transform) string {
	if a.Op == transform.Bucket {
		return fmt.Sprintf("%d buckets", gcd(a.N, b.N))
	}
	return "days"
}

// losesRows notes a key that was reduced below what this join takes it to be.
func (m *sparkModel) losesRows(j *plan.Join, k, other key, to int) {
	if k.modulus%to == 0 {
		return
	}
	m.hazard(allowCompatible, Finding{
		Rule: sparkLosesRows,
		What: fmt.Sprintf("with allowCompatibleTransforms Spark loses rows without a word: a join below has reduced %s to %d buckets, and (%s) pairs it with %s as if it had not",
			k.field, k.modulus, strings.TrimSpace(j.Text), other.field),
		Mend: "join the third table by the key of the table that has the fewest buckets, or give all tables one bucket count",
	})
}

func (m *sparkModel) hazard(setting int, f Finding) {
	if h := (hazard{f, setting}); !slices.Contains(m.hazards, h) {
		m.hazards = append(m.hazards, h)
	}
}
