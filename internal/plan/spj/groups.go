package spj

import (
	"context"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
	"github.com/tarndb/tarn/transform"
)

// Dropped counts what a core leaves unread.
type Dropped struct {
	Groups     int
	NullGroups int   // of Groups, those in which a key is NULL
	Tables     []Sum // files, by the places of Tree.Scans
}

// groupSet are the groups of a core that files lie in, by their keys, with whether each table's rows matter there.
type groupSet map[string][]bool

// findGroups finds out which groups of a core can give rows, and which tables' files of them matter to the answer, before
// any file of them is looked at. A table with routed files may have rows of any group.
func (c *Core) findGroups(layouts map[*plan.Scan]*catalog.TableLayout) {
	var scans []*ScanKeys
	index := map[*plan.Scan]int{}
	c.Tree.Scans(func(k *ScanKeys) {
		index[k.Scan] = len(scans)
		scans = append(scans, k)
	})
	isRouted := func(table int) bool { return scans[table].Routed.Files > 0 }
	c.groups, c.Dropped.Tables = groupSet{}, make([]Sum, len(scans))
	null := map[string][]bool{}
	c.eachSum(scans, layouts, func(table int, key string, values []transform.Value, _ catalog.GroupSum) {
		if c.groups[key] == nil {
			c.groups[key] = make([]bool, len(scans))
			null[key] = nulls(values)
		}
		c.groups[key][table] = true
	})
	for key, has := range c.groups {
		needed := c.Tree.needed(null[key], index, func(t int) bool { return has[t] || isRouted(t) })
		c.groups[key] = needed
		if !anyOf(needed) {
			c.Dropped.Groups++
			if anyOf(null[key]) {
				c.Dropped.NullGroups++
			}
		}
	}
	c.eachSum(scans, layouts, func(table int, key string, _ []transform.Value, g catalog.GroupSum) {
		if !c.groups[key][table] {
			c.Dropped.Tables[table].add(g.Files, g.Bytes)
		}
	})
	if !slices.ContainsFunc(scans, func(k *ScanKeys) bool { return isRouted(index[k.Scan]) }) {
		return
	}
	for mask := range 1 << len(c.Keys) {
		isNull := make([]bool, len(c.Keys))
		for k := range isNull {
			isNull[k] = mask&(1<<k) != 0
		}
		c.Strays = append(c.Strays, c.Tree.needed(isNull, index, isRouted))
	}
}

// eachSum calls visit for each partition of the tables whose files lie in one group.
func (c *Core) eachSum(scans []*ScanKeys, layouts map[*plan.Scan]*catalog.TableLayout, visit func(int, string, []transform.Value, catalog.GroupSum)) {
	for table, k := range scans {
		for _, g := range layouts[k.Scan].Groups {
			if v := k.Conforms.Of(g.Spec, g.Partition, g.Contradicts); v.Conforms {
				visit(table, c.GroupKey(v.Values), v.Values, g)
			}
		}
	}
}

// GroupKey returns bytes that stand for a group's values and for no others.
func (c *Core) GroupKey(values []transform.Value) string { return groupKey(c.Keys, values) }

func groupKey(keys []Key, values []transform.Value) string {
	var key []byte
	for i, v := range values {
		key = transform.AppendKey(key, keys[i].Type, v)
	}
	return string(key)
}

// Needs says whether the files of a group matter to the answer, of the table at a place of Tree.Scans.
func (c *Core) Needs(table int, v layout.Verdict) bool {
	if !v.Conforms {
		return true // rows of it may be of any group
	}
	needed := c.groups[c.GroupKey(v.Values)]
	return needed != nil && needed[table]
}

// Narrow makes layouts those of the files that are read. What is left out is in the cores' Dropped.
func (p *Physical) Narrow(layouts map[*plan.Scan]*catalog.TableLayout) {
	for _, c := range p.Cores {
		table := 0
		c.Tree.Scans(func(k *ScanKeys) {
			layouts[k.Scan] = narrowed(layouts[k.Scan], c, k, table)
			table++
		})
	}
}

func narrowed(l *catalog.TableLayout, c *Core, k *ScanKeys, table int) *catalog.TableLayout {
	out := *l
	out.Files = func(ctx context.Context, yield func(catalog.DataFile) error) error {
		return l.Files(ctx, func(f catalog.DataFile) error {
			if !c.Needs(table, k.Conforms.Of(f.Spec, f.Partition, f.Contradicts)) {
				return nil
			}
			return yield(f)
		})
	}
	return &out
}

func nulls(values []transform.Value) []bool {
	out := make([]bool, len(values))
	for i, v := range values {
		out[i] = v == nil
	}
	return out
}

func anyOf(list []bool) bool {
	for _, b := range list {
		if b {
			return true
		}
	}
	return false
}
