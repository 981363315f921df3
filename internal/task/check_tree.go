package task

import (
	"github.com/tarndb/tarn/internal/plan"
)

// role is what a core's joins allow with a table.
type role uint8

const (
	unknown    role = iota
	grouped         // its rows must be together in their groups
	divisible       // rows of one group may be divided among packs
	everywhere      // each pack has all of its rows
)

// checkTree checks that each table of a core has one place in its tree, that tables that are read everywhere are so where
// that is legal, and returns the tables' roles. It is written apart from the planner's rules, from the root down.
func checkTree(c *Core) ([]role, error) {
	roles := make([]role, len(c.Tables))
	if c.Tree == nil || c.Tree.Everywhere != nil {
		return nil, broken(c.Name, "the core joins nothing by groups")
	}
	if err := assign(c, c.Tree, true, roles); err != nil {
		return nil, err
	}
	for t, r := range roles {
		if r == unknown {
			return nil, broken(c.Tables[t].Name, "the table has no place in the core's joins")
		}
	}
	return roles, nil
}

// assign gives the tables below a node their roles; may says whether its rows may be divided.
func assign(c *Core, t *Tree, may bool, roles []role) error {
	may = may && !t.Whole
	switch {
	case t.Everywhere != nil:
		for _, at := range t.Everywhere {
			if err := place(c, at, everywhere, roles); err != nil {
				return err
			}
		}
		return nil
	case t.Union != nil:
		for _, u := range t.Union {
			if u.Everywhere != nil {
				return broken(c.Name, "a side of a union is read everywhere")
			}
			if err := assign(c, u, false, roles); err != nil {
				return err
			}
		}
		return nil
	case t.Left == nil && t.Right == nil:
		if may {
			return place(c, t.Table, divisible, roles)
		}
		return place(c, t.Table, grouped, roles)
	case t.Left == nil || t.Right == nil:
		return broken(c.Name, "a join has one side")
	}
	left, right := rowWise(t.Kind)
	switch {
	case len(t.Strict) != len(c.Keys):
		return broken(c.Name, "a join tells of %d keys, not of %d", len(t.Strict), len(c.Keys))
	case t.Left.Everywhere != nil && t.Right.Everywhere != nil:
		return broken(c.Name, "both sides of a join are read everywhere")
	case t.Left.Everywhere != nil && !right, t.Right.Everywhere != nil && !left:
		return broken(c.Name, "a side of a %s join is read everywhere, and rows of its own come out", t.Kind)
	}
	if err := assign(c, t.Left, may && left, roles); err != nil {
		return err
	}
	return assign(c, t.Right, may && right, roles)
}

// rowWise says of which sides of a join each row decides by itself what comes out for it, given all rows of the other.
func rowWise(k plan.JoinKind) (left, right bool) {
	switch k {
	case plan.Inner:
		return true, true
	case plan.Left, plan.Semi, plan.Anti:
		return true, false
	case plan.Right:
		return false, true
	}
	return false, false
}

func place(c *Core, table int, r role, roles []role) error {
	if table < 0 || table >= len(roles) || roles[table] != unknown {
		return broken(c.Name, "table %d has several places in the core's joins, or is none of it", table)
	}
	roles[table] = r
	return nil
}

// checkStrays checks that no routed row of no known group is thrown away that could come out. Such rows come from tables with
// routed files alone.
func checkStrays(c *Core, at int) error {
	t := &c.Tables[at]
	if len(t.Routed) == 0 {
		if t.Strays != nil {
			return broken(t.Name, "no file is routed, and strays are told of")
		}
		return nil
	}
	if len(t.Strays) != 1<<len(c.Keys) {
		return broken(t.Name, "strays are told of for %d of %d patterns of NULL keys", len(t.Strays), 1<<len(c.Keys))
	}
	for mask, kept := range t.Strays {
		if !kept && strayMatters(c, c.Tree, at, mask) {
			return broken(t.Name, "routed rows whose keys are NULL by %b are dropped, and may come out", mask)
		}
		if kept && c.Bins == 0 {
			return broken(t.Name, "routed rows are kept, and there is no bin")
		}
	}
	return nil
}

// strayMatters says whether rows of a table below t can have an effect on what comes out of it, in a group that no file lies
// in: is every join on the way up one that lets them through.
func strayMatters(c *Core, t *Tree, table, mask int) bool {
	if t.isLeaf() {
		return t.Table == table
	}
	if t.Everywhere != nil {
		return false
	}
	for _, u := range t.Union {
		if strayMatters(c, u, table, mask) {
			return true
		}
	}
	if t.Left == nil {
		return false
	}
	meet := mayGive(c, t.Left, mask) && mayGive(c, t.Right, mask)
	for k, strict := range t.Strict {
		meet = meet && (!strict || mask&(1<<k) == 0)
	}
	inLeft, inRight := strayMatters(c, t.Left, table, mask), strayMatters(c, t.Right, table, mask)
	switch t.Kind {
	case plan.Left, plan.Anti:
		return inLeft || inRight && meet
	case plan.Right:
		return inRight || inLeft && meet
	case plan.Full:
		return inLeft || inRight
	}
	return (inLeft || inRight) && meet
}

// mayGive says whether anything can come out of a relation in a group that no file lies in.
func mayGive(c *Core, t *Tree, mask int) bool {
	if t.Everywhere != nil {
		return true
	}
	for at := range c.Tables {
		if len(c.Tables[at].Routed) > 0 && strayMatters(c, t, at, mask) {
			return true
		}
	}
	return false
}
