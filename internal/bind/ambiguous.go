package bind

import (
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

// refuse returns an error for a name that DuckDB would take for another column, or not find, because texts know the columns
// that it may mean by other names.
func (sc *scope) refuse(n sql.Node) error {
	parts := n.Strs("column_names")
	var lacking error
	for s := sc; s != nil; s = s.outer {
		found, unsure := s.mayMean(parts)
		switch {
		case len(found) > 1 && anyRenamed(found):
			return ambiguous(strings.Join(parts, "."), found)
		case len(found) == 1 && unsure && anyRenamed(found):
			return errs.New(errs.Invalid, "bind", parts[0], "beside something whose columns aren't known the name can't be placed").
				WithHint("write %s", found[0])
		case len(found) > 0 || s.isAlias(n):
			return nil
		}
		if lacking == nil && !unsure {
			lacking = s.lacking(parts)
		}
	}
	return lacking
}

// mayMean returns the columns that a reference may lead to; unsure says that there may be more.
func (sc *scope) mayMean(parts []string) (found []match, unsure bool) {
	for _, s := range sc.sources {
		if used := s.matches(parts); used > 0 && used < len(parts) {
			for _, at := range s.meant(parts[used]) {
				found = append(found, match{s, at})
			}
			if len(found) > 0 {
				return found, false
			}
		}
	}
	found = sc.candidates(parts[0])
	if _, ok := sc.merged[strings.ToLower(parts[0])]; ok && !isExactly(found, parts[0]) {
		return found[:min(len(found), 1)], false
	}
	return found, sc.isUnknown()
}

// lacking returns an error when the reference is to a metadata column that a table of the scope doesn't have.
func (sc *scope) lacking(parts []string) error {
	for _, s := range sc.sources {
		used := s.matches(parts)
		if why := s.lacks[strings.ToLower(parts[used])]; why != "" {
			return errs.New(errs.NotFound, "bind", s.alias+"."+parts[used], "there is no such column: %s", why)
		}
	}
	return nil
}

// refuseNames returns an error for a join by the names of columns that texts know by other names: a USING column, or any
// but metadata columns in a NATURAL JOIN.
func refuseNames(join sql.Node, sides ...*scope) error {
	if join.Str("ref_type") == "NATURAL" {
		return refuseNatural(slices.Concat(sides[0].sources, sides[1].sources))
	}
	for _, name := range join.Strs("using_columns") {
		for _, sc := range sides {
			found, _ := sc.mayMean([]string{name})
			switch {
			case len(found) > 1 && anyRenamed(found):
				return ambiguous(name, found)
			case len(found) == 1 && anyRenamed(found):
				why := "the USING columns are to name more than one of its table's that differ only in case"
				if found[0].column().hidden {
					why = "it is a metadata column"
				}
				return errs.New(errs.Unsupported, "bind", "USING ("+name+")", "%s can't be a USING column: %s", found[0], why).
					WithHint("write ON with both columns")
			}
		}
	}
	return nil
}

func refuseNatural(sources []*source) error {
	for _, s := range sources {
		for _, c := range s.own() {
			if !c.hidden {
				return errs.New(errs.Unsupported, "bind", "NATURAL JOIN", "%s has columns that differ only in case, such as %s",
					s.alias, catalog.ShownName(c.name)).
					WithHint("write the columns with USING (...)")
			}
		}
	}
	return nil
}

func anyRenamed(found []match) bool {
	return slices.ContainsFunc(found, func(m match) bool { return m.column().isRenamed() })
}

// String returns the column as statements may write it.
func (m match) String() string {
	name := catalog.ShownName(m.column().name)
	if m.source.alias == "" {
		return name
	}
	return catalog.ShownName(m.source.alias) + "." + name
}

func ambiguous(name string, found []match) error {
	texts := make([]string, len(found))
	for i, m := range found {
		texts[i] = m.String()
	}
	return errs.New(errs.Invalid, "bind", name, "the name is ambiguous: it may be %s", strings.Join(texts, " or ")).
		WithHint("write one of them; a name in quotes is found as it is spelled")
}
