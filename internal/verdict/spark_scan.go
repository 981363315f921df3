package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// scan returns what Iceberg reports to Spark of a table's layout, with preserve-data-grouping.
func (m *sparkModel) scan(s *plan.Scan) spread {
	if !m.on[preserveGrouping] {
		return spread{why: []Finding{{Rule: sparkGrouping, What: "Iceberg doesn't tell Spark of the layout of " + s.Table.Ident.String(), Mend: setStatement(preserveGrouping)}}}
	}
	l := m.Layouts[s]
	name := s.Table.Ident.String()
	if what := unreadable(s.Table); what != "" {
		return spread{why: []Finding{{Rule: sparkReadable, What: "Spark can't read " + name + ": " + what}}}
	}
	if s.Table.Virtual || l.Repeats {
		return spread{why: []Finding{{Rule: sparkPartition, What: mention(s) + " has no layout"}}}
	}
	specs := specsInUse(l)
	if len(specs) == 0 {
		return spread{why: []Finding{{Rule: sparkFiles, What: "no file of " + name + " is left to read, so there is little to shuffle", Mend: "nothing needs to be done"}}}
	}
	fields, lost := m.groupingFields(s, specs)
	if len(fields) == 0 {
		return spread{why: []Finding{m.noField(s, specs, lost)}}
	}
	for _, f := range fields {
		column, _ := s.Table.Schema.Field(f.Sources[0])
		switch {
		case f.Transform.Op == transform.Truncate:
			return spread{why: []Finding{{
				Rule: sparkTransform, What: fmt.Sprintf("Spark can't compare by %s, and drops the whole layout for it", fieldText(s, f)),
				Mend: fmt.Sprintf("ALTER TABLE %s REPLACE PARTITION FIELD %s WITH bucket(16, %s); %s", name, fieldSQL(s.Table, f), catalog.ShownName(column.Name), rewrite(s.Table)),
			}}}
		case !m.isNeeded(s, column):
			return spread{why: []Finding{{
				Rule: sparkFilterOnly, What: fmt.Sprintf("only filters read %s, which %s is of: Spark drops the column after them, and the layout with it", catalog.ShownName(column.Name), fieldText(s, f)),
				Mend: fmt.Sprintf("select %s.%s too", catalog.ShownName(cmp.Or(s.Alias, name)), catalog.ShownName(column.Name)),
			}}}
		}
	}
	return spread{claims: []claim{m.scanClaim(s, l, fields)}, why: lost}
}

// unreadable returns what in a table Spark refuses, or "".
func unreadable(t *catalog.Table) string {
	for _, f := range t.Schema.Fields {
		switch f.Type.Primitive.Kind {
		case transform.Time, transform.TimestampNS, transform.TimestampTZNS:
			return "the column " + catalog.ShownName(f.Name) + " is a " + f.Type.Primitive.String()
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.Specs)) {
		for _, f := range t.Specs[id].Fields {
			if f.Transform.Op == transform.OpUnknown {
				return "the transform " + f.Transform.String() + " is unknown"
			}
		}
	}
	return ""
}

// specsInUse returns the specs of the files that are left, newest first.
func specsInUse(l *catalog.TableLayout) []catalog.PartitionSpec {
	seen := map[catalog.SpecID]bool{}
	for _, g := range l.Groups {
		seen[g.Spec] = true
	}
	var out []catalog.PartitionSpec
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, l.Table.Specs[id])
	}
	slices.Reverse(out)
	return out
}

// groupingFields returns the fields that stand in all specs and whose column is read, by their IDs, and why others don't
// count.
func (m *sparkModel) groupingFields(s *plan.Scan, specs []catalog.PartitionSpec) ([]catalog.PartitionField, []Finding) {
	var fields []catalog.PartitionField
	var lost []Finding
	for _, f := range specs[0].Fields {
		if len(f.Sources) != 1 || f.Transform.Op == transform.Void || !m.isRead(s, f.Sources[0]) {
			continue
		}
		if stale, ok := without(specs, f); ok {
			lost = append(lost, Finding{
				Rule: sparkSpecs, What: fmt.Sprintf("files written under %s have no %s", specText(s.Table, stale), fieldText(s, f)), Mend: rewrite(s.Table),
			})
			continue
		}
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b catalog.PartitionField) int { return cmp.Compare(a.ID, b.ID) })
	return fields, lost
}

// without returns a spec that lacks the field.
func without(specs []catalog.PartitionSpec, f catalog.PartitionField) (catalog.PartitionSpec, bool) {
	for _, spec := range specs {
		if !slices.ContainsFunc(spec.Fields, func(g catalog.PartitionField) bool { return g.ID == f.ID && g.Transform.Op != transform.Void }) {
			return spec, true
		}
	}
	return catalog.PartitionSpec{}, false
}

// noField says why no field of a table is a key.
func (m *sparkModel) noField(s *plan.Scan, specs []catalog.PartitionSpec, lost []Finding) Finding {
	current := s.Table.Spec()
	if len(lost) > 0 && len(current.Fields) > 0 {
		return lost[0]
	}
	if len(current.Fields) == 0 {
		return Finding{Rule: sparkPartition, What: s.Table.Ident.String() + " is unpartitioned"}
	}
	if specs[0].ID != current.ID {
		return Finding{
			Rule: sparkSpecs, What: fmt.Sprintf("files of %s are written under %s, and its spec is %s now", s.Table.Ident, specText(s.Table, specs[0]), specText(s.Table, current)),
			Mend: rewrite(s.Table),
		}
	}
	return Finding{Rule: sparkPartition, What: fmt.Sprintf("the query reads no column of the layout %s of %s", specText(s.Table, current), s.Table.Ident)}
}

// isRead says whether Spark reads the column at all.
func (m *sparkModel) isRead(s *plan.Scan, id catalog.FieldID) bool {
	f, ok := s.Table.Schema.Field(id)
	return ok && slices.Contains(s.Columns, id) && (m.isNeeded(s, f) || m.mentionsColumn(m.Uses.Filters, s, f.Name))
}

// isNeeded says whether the column is read above the filters.
func (m *sparkModel) isNeeded(s *plan.Scan, f catalog.Field) bool {
	return m.Uses.All || m.mentionsColumn(m.Uses.Above, s, f.Name) || m.compared[plan.Col{Source: s.Source, Index: int(f.ID)}]
}

// scanClaim makes the claim, with the number of parts and which keys have NULL parts.
func (m *sparkModel) scanClaim(s *plan.Scan, l *catalog.TableLayout, fields []catalog.PartitionField) claim {
	out := claim{}
	for _, f := range fields {
		out.keys = append(out.keys, key{
			col: plan.Col{Source: s.Source, Index: int(f.Sources[0])}, transform: f.Transform, field: fieldText(s, f), modulus: f.Transform.N,
		})
	}
	parts := map[string]bool{}
	for _, g := range l.Groups {
		var tuple []byte
		isRead := true
		for i, f := range fields {
			at := slices.IndexFunc(l.Table.Specs[g.Spec].Fields, func(p catalog.PartitionField) bool { return p.ID == f.ID })
			v := g.Partition[at]
			tuple = transform.AppendKey(tuple, f.Transform.ResultType(f.SourceType), v)
			k := &out.keys[i]
			k.nulls = k.nulls || v == nil && !m.notNull[k.col]
			isRead = isRead && (v != nil || !m.notNull[k.col])
		}
		if isRead {
			parts[string(tuple)] = true
		}
	}
	out.parts = len(parts)
	out.values = slices.Sorted(maps.Keys(parts))
	return out
}

// specText writes a spec as DDL does.
func specText(t *catalog.Table, spec catalog.PartitionSpec) string {
	var parts []string
	for _, f := range spec.Fields {
		parts = append(parts, fieldSQL(t, f))
	}
	if len(parts) == 0 {
		return "no spec"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// rewrite is the statement that brings all files to the table's current spec.
func rewrite(t *catalog.Table) string {
	return fmt.Sprintf("CALL system.rewrite_data_files(table => %s, options => map('rewrite-all', 'true'))", quote.Text(t.Ident.String()))
}

func setStatement(i int) string {
	return "SET " + sparkSettings[i].Name + " = " + sparkSettings[i].Want
}
