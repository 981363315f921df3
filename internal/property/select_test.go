package property

import (
	"fmt"
	"slices"
	"strings"
)

// choose writes the SELECT list and what belongs to it, and puts the query together.
func (g *gen) choose(from string, inputs []input) {
	var head, tail string
	width := 0
	kind := g.rng.IntN(12)
	if g.query.joins == 0 && inputs[0].tab != nil && g.chance(2) {
		kind = facts
	}
	switch kind {
	case facts:
		head = g.facts(inputs[0])
	case 0, 1, 2:
		head, width = g.rowItems(inputs)
		g.query.eligible = g.query.joins > 0
	case 3, 9, 10:
		head = g.aggregates(inputs, 0)
		g.query.eligible = g.query.joins > 0
	case 4, 5, 6:
		head, tail, width = g.grouped(inputs)
	case 7:
		head, width = g.rowItems(inputs)
		head = "DISTINCT " + head
		g.query.eligible = g.query.joins > 0
	case 8:
		head, width = g.windows(inputs)
	default:
		head = "*"
		g.query.eligible = g.query.joins > 0
	}
	g.query.head, g.query.from, g.query.tail = head, from, tail
	g.order(width, inputs)
}

// facts is the kind of SELECT lists that statistics may tell.
const facts = -1

func (g *gen) facts(in input) string {
	f := pick(g.rng, in.fields)
	if f.class == "boolean" || f.class == "uuid" || f.class == "binary" {
		return "count(*) AS c0"
	}
	return fmt.Sprintf("count(*) AS c0, %s(%s.%s) AS c1", pick(g.rng, []string{"count", "count", "min", "max"}), in.alias, f.name)
}

func (g *gen) any(inputs []input) (input, field) {
	in := pick(g.rng, inputs)
	return in, pick(g.rng, in.fields)
}

// rowItems picks columns and expressions.
func (g *gen) rowItems(inputs []input) (string, int) {
	var items []string
	for i := range 1 + g.rng.IntN(4) {
		in, f := g.any(inputs)
		e := in.alias + "." + f.name
		switch {
		case g.chance(30):
			e = g.valueOf(in)
		case f.class == "v" && g.chance(3):
			e += " * 2 + 1"
		}
		items = append(items, fmt.Sprintf("%s AS c%d", e, i))
	}
	return strings.Join(items, ", "), len(items)
}

// aggregates returns aggregate calls, named from c(first) on.
func (g *gen) aggregates(inputs []input, first int) string {
	var items []string
	for i := range 1 + g.rng.IntN(3) {
		in, f := g.any(inputs)
		e := in.alias + "." + f.name
		calls := []string{"count(*)", "count(%s)", "count(DISTINCT %s)", "count(DISTINCT %s)", "min(%s)", "max(%s)"}
		if f.kind != nil && (f.class == "boolean" || f.class == "uuid" || f.class == "binary") {
			calls = calls[:4]
		}
		if f.kind == nil && f.class != "string" {
			calls = append(calls, "sum(%s)", "avg(%s)", "sum(DISTINCT %s)", "count(%s) FILTER (WHERE "+e+" > 1)", "sum(%s) + count(*)", "median(%s)")
		}
		if f.class == "string" {
			calls = append(calls, "string_agg(%s, ',' ORDER BY "+e+")", "bool_or("+e+" = 'p')", "max(length(%s))")
		}
		call := pick(g.rng, calls)
		if strings.Contains(call, "%s") {
			call = fmt.Sprintf(call, e)
		}
		items = append(items, fmt.Sprintf("%s AS c%d", call, first+i))
	}
	return strings.Join(items, ", ")
}

// grouped makes a GROUP BY, by keys or others.
func (g *gen) grouped(inputs []input) (head, tail string, width int) {
	var keys, items []string
	byKey := false
	for range 1 + g.rng.IntN(2) {
		in, f := g.any(inputs)
		if f.kind == nil && g.chance(2) {
			in = pick(g.rng, inputs)
			f = in.fields[0]
		}
		e := in.alias + "." + f.name
		if f.class == "v" && g.chance(2) {
			e += " % 3"
		}
		byKey = byKey || g.keys[f.name]
		keys = append(keys, e)
		items = append(items, fmt.Sprintf("%s AS c%d", e, len(items)))
	}
	g.query.eligible = g.query.joins > 0 || byKey && allIn(g.tabs[0].slots(), inputs, keys)
	by := strings.Join(keys, ", ")
	switch g.rng.IntN(6) {
	case 0:
		by = "1"
		for i := 2; i <= len(keys); i++ {
			by += fmt.Sprintf(", %d", i)
		}
	case 1:
		by = "ALL"
	case 2:
		if g.chance(2) {
			by, g.query.eligible = pick(g.rng, []string{"ROLLUP", "CUBE"})+" ("+by+")", false
		}
	}
	aggs := g.aggregates(inputs, len(items))
	head = strings.Join(items, ", ") + ", " + aggs
	tail = " GROUP BY " + by
	if g.chance(5) {
		tail += pick(g.rng, []string{" HAVING count(*) > 1", " HAVING count(*) < 4 AND max(" + keys[0] + ") IS NOT NULL"})
	}
	return head, tail, len(items) + strings.Count(aggs, " AS c")
}

// allIn says whether one of the keys is a column that a slot of the single table carries.
func allIn(slots []string, inputs []input, keys []string) bool {
	return len(inputs) == 1 && slices.ContainsFunc(slots, func(s string) bool {
		_, col, _ := strings.Cut(s, " ")
		return slices.Contains(keys, inputs[0].alias+"."+col)
	})
}

// windows makes window functions that don't depend on the order of equal rows.
func (g *gen) windows(inputs []input) (string, int) {
	head, width := g.rowItems(inputs)
	in, f := g.any(inputs)
	if f.kind == nil {
		f = in.fields[0]
	}
	_, o := g.any([]input{in})
	by := "PARTITION BY " + in.alias + "." + f.name
	if g.chance(5) {
		by = ""
	}
	call := pick(g.rng, []string{
		"count(*) OVER (" + by + ")", "rank() OVER (" + by + " ORDER BY " + in.alias + "." + o.name + ")",
		"count(*) OVER (" + by + " ORDER BY " + in.alias + "." + o.name + " RANGE UNBOUNDED PRECEDING)",
		"max(" + in.alias + "." + f.name + ") OVER (" + by + ")",
	})
	g.query.eligible = g.query.joins > 0
	return head + ", " + call + fmt.Sprintf(" AS c%d", width), width + 1
}

// order adds ORDER BY and LIMIT: by all columns, so that the answer is one, or a bare LIMIT, for which any rows do.
func (g *gen) order(width int, inputs []input) {
	if width == 0 || !g.chance(4) {
		return
	}
	q := &g.query
	if q.limit = 1 + g.rng.IntN(8); g.chance(4) {
		return
	}
	var keys []string
	plain := q.union == "" && !strings.Contains(q.head, "DISTINCT") && q.tail == "" && !strings.Contains(q.head, "OVER")
	if plain && g.chance(3) {
		in, f := g.any(inputs)
		keys = append(keys, in.alias+"."+f.name+pick(g.rng, []string{"", " DESC", " NULLS FIRST"}))
	}
	for i := range width {
		key := fmt.Sprint(i + 1)
		if g.chance(3) {
			key = fmt.Sprintf("c%d", i)
		}
		keys = append(keys, key+pick(g.rng, []string{"", " DESC", " ASC NULLS FIRST", " DESC NULLS LAST"}))
	}
	q.order = " ORDER BY " + strings.Join(keys, ", ")
	if g.chance(4) {
		q.limit = -1
	} else if g.chance(3) {
		q.offset = g.rng.IntN(4)
	}
}
