package evolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// text writes a State down: the current schema, and of the others what tells them apart.
func (s State) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "v%d last-column %d last-partition %d", s.FormatVersion, s.LastColumnID, s.LastPartitionID)
	if s.Location != "" {
		fmt.Fprintf(&b, " at %s", s.Location)
	}
	fmt.Fprintf(&b, "\nschema %d of %d", s.SchemaID, len(s.Schemas))
	if id := s.Schema().Identifier; len(id) > 0 {
		fmt.Fprintf(&b, " identifier %v", id)
	}
	b.WriteString("\n" + fieldsText(s.Schema().Fields, "  "))
	for _, spec := range s.Specs {
		fmt.Fprintf(&b, "spec %d%s:", spec.ID, star(spec.ID == s.SpecID))
		for _, f := range spec.Fields {
			fmt.Fprintf(&b, " %d %s=%s%v", f.ID, f.Name, f.Transform, f.Sources)
		}
		b.WriteString("\n")
	}
	for _, order := range s.Orders {
		fmt.Fprintf(&b, "order %d%s:", order.ID, star(order.ID == s.OrderID))
		for _, f := range order.Fields {
			fmt.Fprintf(&b, " %s(%d) desc=%v nulls-last=%v", f.Transform, f.Source, f.Descending, f.NullsLast)
		}
		b.WriteString("\n")
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		fmt.Fprintf(&b, "%s = %s\n", key, s.Properties[key])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Refs)) {
		r := s.Refs[name]
		fmt.Fprintf(&b, "%s %s at %d, ref-age %d, snapshot-age %d, min-snapshots %d\n", refKind(r.IsTag), name, r.Snapshot, r.MaxRefAgeMs, r.MaxSnapshotMs, r.MinSnapshots)
	}
	return b.String()
}

func star(is bool) string {
	if is {
		return "*"
	}
	return ""
}

func fieldsText(fields []catalog.Field, indent string) string {
	var b strings.Builder
	for _, f := range fields {
		name := f.Type.Primitive.String()
		if f.Type.Nested != catalog.NotNested {
			name = [...]string{catalog.Struct: "struct", catalog.List: "list", catalog.Map: "map"}[f.Type.Nested]
		}
		fmt.Fprintf(&b, "%s%d %s %s", indent, f.ID, f.Name, name)
		if f.Required {
			b.WriteString(" required")
		}
		if f.Doc != "" {
			fmt.Fprintf(&b, " %q", f.Doc)
		}
		if f.HasDefault {
			b.WriteString(" initial " + transform.FormatValue(f.Type.Primitive, f.InitialDefault))
		}
		if f.WriteDefault != nil {
			b.WriteString(" write " + transform.FormatValue(f.Type.Primitive, f.WriteDefault))
		}
		b.WriteString("\n" + fieldsText(f.Type.Fields, indent+"  "))
	}
	return b.String()
}
