package spj

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
	"github.com/tarndb/tarn/internal/units"
	"github.com/tarndb/tarn/transform"
)

// whys says of each table whose rows would be sent to their groups why, and what would mend it, and which tables would be
// read everywhere.
func (c *choice) whys() []string {
	var texts []string
	c.tree.Scans(func(k *ScanKeys) {
		if k.Why != "" && !slices.Contains(texts, k.Why) {
			texts = append(texts, k.Why)
		}
	})
	c.tree.ScansEverywhere(func(s *plan.Scan) {
		texts = append(texts, s.Table.Ident.String()+" would be read by each pack")
	})
	return texts
}

// noKeys says why an input that could be run by groups of some columns has no keys.
func (in *input) noKeys() string {
	var texts []string
	for _, s := range in.scans() {
		text := laidOut(s.Table)
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return "no table is laid out by a column that the query joins or groups by: " + strings.Join(texts, ", ")
}

// laidOut says how a table is laid out.
func laidOut(t *catalog.Table) string {
	if len(t.Spec().Fields) == 0 {
		return t.Ident.String() + " is unpartitioned"
	}
	return t.Ident.String() + " is laid out by " + layout.SpecText(t, t.DefaultSpec)
}

// explainRouted writes on each scan of a choice why files of it are routed.
func (in *input) explainRouted(c *choice) {
	c.tree.Scans(func(k *ScanKeys) {
		if k.Routed.Files > 0 {
			k.Why = in.whyRouted(c, k)
		}
	})
}

// whyRouted says why files of a scan lie in no one group, for the first key that they miss.
func (in *input) whyRouted(c *choice, k *ScanKeys) string {
	for i := range c.keys {
		if text := in.missing(c, k, i); text != "" {
			return text
		}
	}
	return ""
}

// missing says which files of a scan don't conform to a key, or "" when all do.
func (in *input) missing(c *choice, k *ScanKeys, key int) string {
	l := in.decider.out.layouts[k.Scan]
	one := layout.NewConformity(k.Scan.Table, k.Conforms.Keys[key:key+1])
	var stray Sum
	var spec catalog.SpecID
	liar := ""
	for _, g := range l.Groups {
		if one.Of(g.Spec, g.Partition, g.Contradicts).Conforms {
			continue
		}
		stray.add(g.Files, g.Bytes)
		spec = g.Spec
		for _, path := range g.Liars {
			liar = path
		}
	}
	if stray.Files == 0 {
		return ""
	}
	t, want := k.Scan.Table, k.Conforms.Keys[key]
	text := laidOut(t)
	if len(t.Spec().Fields) > 0 {
		text += ", not by " + catalog.ShownName(want.Column.Name)
	}
	other, others := in.otherKey(c, k, key)
	switch {
	case liar != "":
		return fmt.Sprintf("the bounds of %s contradict its partition tuple; a rewrite of the file would mend it", liar)
	case stray.Files < k.Total.Files:
		return in.strayText(k, one, stray.Files, spec)
	case others == "":
		return in.noKeys()
	}
	if natives := layout.Natives(l, want.Column); len(natives) > 0 {
		mine := layout.ScanKey{Column: want.Column, Transform: natives[0]}
		return fmt.Sprintf("%s of %s, but %s: neither can be reduced to the other or to one that both can; after ALTER TABLE %s REPLACE PARTITION FIELD %s WITH %s and a rewrite of its files the join needs no exchange",
			mine, t.Ident, others, t.Ident, mine, layout.ScanKey{Column: want.Column, Transform: other})
	}
	return fmt.Sprintf("%s, and the other side has %s; after ALTER TABLE %s ADD PARTITION FIELD %s and a rewrite of its files the join needs no exchange",
		text, others, t.Ident, layout.ScanKey{Column: want.Column, Transform: other})
}

// strayText says which part of a scan's files don't conform to a key, and what would mend it.
func (in *input) strayText(k *ScanKeys, key *layout.Conformity, files int, spec catalog.SpecID) string {
	t := k.Scan.Table
	were, have := "were", "have"
	if files == 1 {
		were, have = "was", "has"
	}
	text := fmt.Sprintf("%s of %d of %s ", units.Count(files, "file"), k.Total.Files, t.Ident)
	if len(t.Specs[spec].Fields) == 0 {
		text += were + " written while it was unpartitioned; "
	} else {
		text += fmt.Sprintf("%s no %s, such as those that are laid out by %s; ", have, key.Keys[0], layout.SpecText(t, spec))
	}
	if key.Covers(t.DefaultSpec) {
		return text + "a rewrite of those files by the current spec would mend it"
	}
	return text + fmt.Sprintf("after ALTER TABLE %s ADD PARTITION FIELD %s and a rewrite of its files the join needs no exchange", t.Ident, key.Keys[0])
}

// otherKey returns the finest layout key of another table of the choice whose files conform, with its text; "" when there is
// none.
func (in *input) otherKey(c *choice, k *ScanKeys, key int) (transform.Transform, string) {
	var t transform.Transform
	text := ""
	c.tree.Scans(func(o *ScanKeys) {
		if o == k || text != "" || o.Routed.Files == o.Total.Files && o.Total.Files > 0 {
			return
		}
		column := o.Conforms.Keys[key].Column
		if natives := layout.Natives(in.decider.out.layouts[o.Scan], column); len(natives) > 0 {
			t = natives[0]
			text = layout.ScanKey{Column: column, Transform: t}.String() + " of " + o.Scan.Table.Ident.String()
		}
	})
	return t, text
}
