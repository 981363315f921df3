package property

import (
	"fmt"
	"slices"
	"strings"
)

// modelChange is a statement and what it does.
type modelChange struct {
	sql string
	// do returns the rows after, or errModelTwice.
	do func(before []modelRow) ([]modelRow, modelCounts, error)
}

type modelCounts struct{ inserted, updated, deleted int64 }

func (g *modeller) change(before []modelRow) modelChange {
	switch g.r.IntN(5) {
	case 0:
		return g.delete(before)
	case 1:
		return g.update(before)
	}
	return g.merge(before)
}

func (g *modeller) delete(before []modelRow) modelChange {
	if g.oneIn(4) {
		on := g.on()
		return modelChange{"DELETE FROM " + g.target + " t USING " + g.source + " s WHERE " + on.sql, func(rows []modelRow) ([]modelRow, modelCounts, error) {
			return deleteModel(rows, func(t *modelRow) bool { return len(matches(on, t, g.rows)) > 0 })
		}}
	}
	if g.oneIn(20) {
		return modelChange{"DELETE FROM " + g.target, func(rows []modelRow) ([]modelRow, modelCounts, error) {
			return nil, modelCounts{deleted: int64(len(rows))}, nil
		}}
	}
	where := g.where(before)
	return modelChange{"DELETE FROM " + g.target + " AS t WHERE " + where.sql, func(rows []modelRow) ([]modelRow, modelCounts, error) {
		return deleteModel(rows, func(t *modelRow) bool { return where.eval(modelPair{t: t}) == true })
	}}
}

func deleteModel(rows []modelRow, goes func(*modelRow) bool) (left []modelRow, n modelCounts, err error) {
	for i := range rows {
		if goes(&rows[i]) {
			n.deleted++
			continue
		}
		left = append(left, rows[i])
	}
	return left, n, nil
}

// matches returns the places of the rows of a source that a row of the table matches.
func matches(on modelExpr, t *modelRow, source []modelRow) (out []int) {
	for i := range source {
		if on.eval(modelPair{t, &source[i]}) == true {
			out = append(out, i)
		}
	}
	return out
}

// set draws assignments, each with the column that it is to.
func (g *modeller) set(of sides) (text string, apply func(modelPair) modelRow) {
	var parts []string
	values := map[int]modelExpr{}
	for _, at := range g.r.Perm(tagAt)[:1+g.r.IntN(3)] {
		values[at] = g.integer(of, 1)
		switch {
		case at == kAt:
			values[at] = g.text(of)
		case g.oneIn(8):
			values[at] = modelExpr{"NULL", func(modelPair) any { return nil }}
		}
		name := modelColumns[at]
		if g.oneIn(2) {
			name = "t." + name
		}
		parts = append(parts, name+" = "+values[at].sql)
	}
	return strings.Join(parts, ", "), func(p modelPair) modelRow {
		out := p.t.changed(p.t.values)
		for at, v := range values {
			out.values[at] = v.eval(p)
		}
		return out
	}
}

func (g *modeller) update(before []modelRow) modelChange {
	if !g.oneIn(4) {
		set, apply := g.set(sides{t: true})
		where := g.where(before)
		return modelChange{"UPDATE " + g.target + " t SET " + set + " WHERE " + where.sql, func(rows []modelRow) ([]modelRow, modelCounts, error) {
			out, n := slices.Clone(rows), modelCounts{}
			for i := range rows {
				if p := (modelPair{t: &rows[i]}); where.eval(p) == true {
					out[i] = apply(p)
					n.updated++
				}
			}
			return out, n, nil
		}}
	}
	set, apply := g.set(sides{true, true})
	on := g.on()
	return modelChange{"UPDATE " + g.target + " t SET " + set + " FROM " + g.source + " s WHERE " + on.sql, func(rows []modelRow) ([]modelRow, modelCounts, error) {
		out, n := slices.Clone(rows), modelCounts{}
		for i := range rows {
			switch found := matches(on, &rows[i], g.rows); len(found) {
			case 0:
			case 1:
				out[i] = apply(modelPair{&rows[i], &g.rows[found[0]]})
				n.updated++
			default:
				return nil, n, errModelTwice
			}
		}
		return out, n, nil
	}}
}

// on draws a condition between the table and the source.
func (g *modeller) on() modelExpr {
	t := func(at int) modelExpr {
		return modelExpr{"t." + modelColumns[at], func(p modelPair) any { return p.t.at(at) }}
	}
	s := func(at int) modelExpr {
		return modelExpr{"s." + modelColumns[at], func(p modelPair) any { return p.s.at(at) }}
	}
	key := same(t(idAt), s(idAt))
	switch g.r.IntN(12) {
	case 0:
		key = notDistinct(t(idAt), s(idAt))
	case 1:
		key = both(key, same(t(kAt), s(kAt)), false)
	case 2:
		key = same(t(pAt), s(pAt))
	case 3:
		key = truth("%s < %s", t(idAt), s(vAt), func(x, y any) bool { return x.(int64) < y.(int64) })
	case 4:
		return modelExpr{"1 = 0", func(modelPair) any { return false }}
	case 5:
		return g.condition(sides{true, true}, 1)
	}
	switch g.r.IntN(4) {
	case 0:
		return both(key, g.condition(sides{t: true}, 1), false)
	case 1:
		return both(key, g.condition(sides{s: true}, 1), false)
	}
	return key
}

// modelClause is a WHEN clause of a MERGE.
type modelClause struct {
	sql   string
	when  modelExpr // its condition
	apply func(modelPair) modelRow
	do    string // update, insert, delete
	// all says that there is no condition.
	all bool
}

func (g *modeller) clauses(words string, of sides, n int, actions ...string) (out []modelClause) {
	for i := range n {
		c := modelClause{do: actions[g.r.IntN(len(actions))], all: i == n-1 && !g.oneIn(3), when: modelExpr{"", func(modelPair) any { return true }}}
		c.sql = " WHEN " + words
		if !c.all {
			c.when = g.condition(of, 2)
			c.sql += " AND " + c.when.sql
		}
		c.sql += " THEN " + g.action(&c, of)
		out = append(out, c)
	}
	return out
}

func (g *modeller) action(c *modelClause, of sides) string {
	switch c.do {
	case "delete":
		return "DELETE"
	case "update":
		if of.s && g.oneIn(4) {
			c.apply = func(p modelPair) modelRow { return p.t.changed(p.s.values) }
			return "UPDATE SET *"
		}
		set, apply := g.set(of)
		c.apply = apply
		return "UPDATE SET " + set
	}
	if g.oneIn(3) {
		c.apply = func(p modelPair) modelRow { return modelRow{values: p.s.values} }
		return "INSERT *"
	}
	id, v, k := g.integer(of, 1), g.integer(of, 1), g.text(of)
	c.apply = func(p modelPair) modelRow {
		return modelRow{values: [modelWidth]any{idAt: id.eval(p), vAt: v.eval(p), kAt: k.eval(p), tagAt: p.s.at(tagAt)}}
	}
	return fmt.Sprintf("INSERT (id, tag, v, k) VALUES (%s, s.tag, %s, %s)", id.sql, v.sql, k.sql)
}

// mergeSource draws what a MERGE takes rows from.
func (g *modeller) mergeSource(before []modelRow) (text string, rows []modelRow) {
	switch g.r.IntN(6) {
	case 0:
		where := g.condition(sides{s: true}, 1)
		for i := range g.rows {
			if where.eval(modelPair{s: &g.rows[i]}) == true {
				rows = append(rows, g.rows[i])
			}
		}
		return "(SELECT * FROM " + g.source + " s WHERE " + where.sql + ") s", rows
	case 1: // one row of each key, the kind of source that a MERGE is for
		return g.newest()
	case 2:
		var list []string
		for range 1 + g.r.IntN(4) {
			g.tag++
			id, v := g.r.Int64N(12), g.r.Int64N(5)
			rows = append(rows, modelRow{values: [modelWidth]any{idAt: id, kAt: "v", vAt: v, tagAt: g.tag}})
			list = append(list, fmt.Sprintf("(%d::BIGINT, 'v', %d::BIGINT, NULL::BIGINT, %d::BIGINT)", id, v, g.tag))
		}
		return "(VALUES " + strings.Join(list, ", ") + ") AS s(id, k, v, p, tag)", rows
	case 3:
		return g.target + " s", before
	}
	return g.source + " s", g.rows
}

// newest returns the last of the source's rows of each id.
func (g *modeller) newest() (text string, rows []modelRow) {
	seen := map[any]bool{}
	most := map[any]modelRow{}
	for _, r := range g.rows {
		if m, ok := most[r.values[idAt]]; !ok || r.values[tagAt].(int64) > m.values[tagAt].(int64) {
			most[r.values[idAt]] = r
		}
	}
	for _, r := range g.rows {
		if id := r.values[idAt]; !seen[id] {
			seen[id] = true
			rows = append(rows, most[id])
		}
	}
	return "(SELECT * FROM " + g.source + " QUALIFY row_number() OVER (PARTITION BY id ORDER BY tag DESC) = 1) s", rows
}

// upsert draws a MERGE by id that changes rows and inserts others.
func (g *modeller) upsert() modelChange {
	source, rows := g.newest()
	on := same(modelExpr{"t.id", func(p modelPair) any { return p.t.at(idAt) }}, modelExpr{"s.id", func(p modelPair) any { return p.s.at(idAt) }})
	matched, absent := g.clauses("MATCHED", sides{true, true}, 1+g.r.IntN(2), "update", "delete"), g.clauses("NOT MATCHED", sides{s: true}, 1, "insert")
	text := "MERGE INTO " + g.target + " t USING " + source + " ON " + on.sql
	for _, c := range slices.Concat(absent, matched) {
		text += c.sql
	}
	return modelChange{text, func(before []modelRow) ([]modelRow, modelCounts, error) {
		return mergeModel(before, rows, on, matched, absent, nil)
	}}
}

// touch draws an UPDATE of the rows of one id.
func (g *modeller) touch() modelChange {
	id := g.r.Int64N(8)
	set, apply := g.set(sides{t: true})
	return modelChange{fmt.Sprintf("UPDATE %s t SET %s WHERE t.id = %d", g.target, set, id), func(rows []modelRow) ([]modelRow, modelCounts, error) {
		out, n := slices.Clone(rows), modelCounts{}
		for i := range rows {
			if rows[i].values[idAt] == id {
				out[i] = apply(modelPair{t: &rows[i]})
				n.updated++
			}
		}
		return out, n, nil
	}}
}

func (g *modeller) merge(before []modelRow) modelChange {
	source, rows := g.mergeSource(before)
	on := g.on()
	var matched, absent, alone []modelClause
	for len(matched)+len(absent)+len(alone) == 0 {
		matched = g.clauses("MATCHED", sides{true, true}, g.r.IntN(3), "update", "update", "delete")
		absent = g.clauses("NOT MATCHED", sides{s: true}, g.r.IntN(3), "insert")
		if g.oneIn(3) {
			alone = g.clauses("NOT MATCHED BY SOURCE", sides{t: true}, g.r.IntN(3), "update", "delete")
		}
	}
	text := "MERGE INTO " + g.target + " t USING " + source + " ON " + on.sql
	for _, c := range slices.Concat(absent, matched, alone) {
		text += c.sql
	}
	return modelChange{text, func(before []modelRow) ([]modelRow, modelCounts, error) {
		return mergeModel(before, rows, on, matched, absent, alone)
	}}
}

// first returns the first clause that applies to a pair.
func first(clauses []modelClause, p modelPair) *modelClause {
	for i := range clauses {
		if clauses[i].when.eval(p) == true {
			return &clauses[i]
		}
	}
	return nil
}

func mergeModel(before, source []modelRow, on modelExpr, matched, absent, alone []modelClause) (after []modelRow, n modelCounts, err error) {
	isFound := make([]bool, len(source))
	mayRepeat := len(matched) == 0 || len(matched) == 1 && matched[0].do == "delete" && matched[0].all
	for i := range before {
		t := &before[i]
		found := matches(on, t, source)
		for _, s := range found {
			isFound[s] = true
		}
		if len(found) > 1 && !mayRepeat {
			return nil, n, errModelTwice
		}
		p := modelPair{t: t}
		var c *modelClause
		if len(found) > 0 {
			p.s = &source[found[0]]
			c = first(matched, p)
		} else {
			c = first(alone, p)
		}
		switch {
		case c == nil:
			after = append(after, *t)
		case c.do == "delete":
			n.deleted++
		default:
			after = append(after, c.apply(p))
			n.updated++
		}
	}
	for i := range source {
		if p := (modelPair{s: &source[i]}); !isFound[i] {
			if c := first(absent, p); c != nil {
				after = append(after, c.apply(p))
				n.inserted++
			}
		}
	}
	return after, n, nil
}
