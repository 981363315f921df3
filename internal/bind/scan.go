package bind

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
)

// scan makes a new mention of a table and puts its columns into src: those that the statement may use, then, hidden, the
// metadata columns that it may mean. The stub is made when all mentions of the columns are known.
func (b *binder) scan(t *catalog.Table, src *source) (*plan.Scan, error) {
	s := &plan.Scan{Source: b.nextSource(), Table: t, Alias: src.alias}
	var fields []catalog.Field
	var names []string
	for _, f := range t.Schema.Fields {
		if b.names.uses(f.Name) {
			fields, names = append(fields, f), append(names, f.Name)
		}
	}
	if dup := duplicate(names); dup != "" {
		return nil, errs.New(errs.Corrupt, "bind", t.Ident.String(), "the schema has two columns called %q", dup)
	}
	for i, as := range b.ownNames(names, b.names.using, fmt.Sprintf("c%d", s.Source)) {
		b.cased = b.cased || as != names[i]
		src.columns = append(src.columns, column{name: names[i], as: as, view: as, col: plan.Col{Source: s.Source, Index: int(fields[i].ID)}})
	}
	if b.cased && b.alike[0] != "" {
		return nil, errs.New(errs.Unsupported, "bind", "GROUP BY "+b.alike[0]+", "+b.alike[1],
			"%s has columns whose names differ only in case, and the parser takes these two for one", t.Ident).
			WithHint("write one of them with its table and the other without, as in GROUP BY t.a, \"A\", or the places of the columns: GROUP BY 1, 2")
	}
	b.metadataColumns(s, src)
	b.query.Scans = append(b.query.Scans, s)
	b.scanOf[s.Source], b.unread[s] = s, src
	return s, nil
}

// ownNames returns the names of columns in texts: their own, but of those that differ only in case, which DuckDB can't
// tell apart, the engine's. One of them stays as it is when USING names it alone of them.
func (b *binder) ownNames(names []string, using map[string]bool, prefix string) []string {
	alike := map[string][]string{}
	for _, n := range names {
		low := strings.ToLower(n)
		alike[low] = append(alike[low], n)
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n
		same := alike[strings.ToLower(n)]
		if len(same) == 1 || using[n] && countIn(using, same) == 1 {
			continue
		}
		out[i] = fmt.Sprintf("%s%s_%d", plan.Prefix, prefix, i)
		b.shown[out[i]] = n
	}
	return out
}

func countIn(set map[string]bool, names []string) int {
	n := 0
	for _, name := range names {
		if set[name] {
			n++
		}
	}
	return n
}

// alikeInside returns why a type can't be read by DuckDB, whose structs can't have fields whose names differ only in case.
func alikeInside(t catalog.Type) string {
	seen := map[string]string{}
	for _, f := range t.Fields {
		if why := alikeInside(f.Type); why != "" {
			return why
		}
		if t.Nested != catalog.Struct {
			continue
		}
		low := strings.ToLower(f.Name)
		if other, ok := seen[low]; ok {
			return fmt.Sprintf("its fields %q and %q have one name but for case, which a struct can't be read with", other, f.Name)
		}
		seen[low] = f.Name
	}
	return ""
}

// metadataColumns adds the metadata columns that the statement mentions and that no column of the table hides, under names
// that no other source has. Of those that the table lacks it notes why.
func (b *binder) metadataColumns(s *plan.Scan, src *source) {
	hidden := map[string]bool{}
	for _, f := range s.Table.Schema.Fields {
		hidden[strings.ToLower(f.Name)] = true
	}
	src.lacks = lackingMetadata(s.Table)
	columns := catalog.MetadataColumns(s.Table)
	if b.places && !s.Table.Virtual {
		place, _ := catalog.MetadataColumn(s.Table, catalog.PlaceID)
		columns = append(columns, place)
	}
	for _, f := range columns {
		if !b.names.names[f.Name] || hidden[f.Name] || src.lacks[f.Name] != "" {
			continue
		}
		as := fmt.Sprintf("%sm%d%s", plan.Prefix, s.Source, strings.ReplaceAll(f.Name, "=", "_"))
		b.shown[as] = f.Name
		src.columns = append(src.columns, column{
			name: f.Name, as: as, view: as, col: plan.Col{Source: s.Source, Index: int(f.ID)}, hidden: true,
		})
	}
}

// lackingMetadata tells why a table has no metadata columns of these names.
func lackingMetadata(t *catalog.Table) map[string]string {
	lacks := map[string]string{}
	if t.Virtual {
		for _, f := range catalog.MetadataColumns(t) {
			lacks[f.Name] = "the table is made of metadata, and its rows lie in no data file"
		}
		lacks["_partition"] = lacks["_file"]
		return lacks
	}
	if len(catalog.PartitionType(t).Fields) == 0 {
		lacks["_partition"] = "the table has no partition field in any spec"
	}
	if t.FormatVersion < 3 {
		for _, id := range []catalog.FieldID{catalog.RowID, catalog.LastUpdatedID} {
			f, _ := catalog.MetadataColumn(t, id)
			lacks[f.Name] = fmt.Sprintf("the table is of format version %d, and rows have it from version 3 on", t.FormatVersion)
		}
	}
	return lacks
}

// stub makes the stubs of the scans from the first on, now that the statement's mentions of their columns are known. A scan
// of no column reads the first one that can be read: count(*) takes any.
func (b *binder) stub(ctx context.Context, first int) error {
	for _, s := range b.query.Scans[first:] {
		src := b.unread[s]
		if src == nil {
			continue
		}
		delete(b.unread, s)
		if err := b.readColumns(s, src); err != nil {
			return err
		}
		fields := make([]catalog.Field, len(s.Columns))
		for i, id := range s.Columns {
			fields[i], _ = s.Field(id)
			fields[i].Name = s.Names[i]
		}
		if err := b.engine.StubTable(ctx, s.ViewName(), fields); err != nil {
			return errs.Wrap(errs.Unsupported, "bind", s.Table.Ident.String(), err)
		}
	}
	return nil
}

func (b *binder) readColumns(s *plan.Scan, src *source) error {
	for _, c := range src.columns {
		if c.hidden && !c.used {
			continue
		}
		f, _ := s.Field(catalog.FieldID(c.col.Index))
		if why := alikeInside(f.Type); why != "" {
			return errs.New(errs.Unsupported, "bind", s.Table.Ident.String()+"."+catalog.ShownName(f.Name), "%s", why)
		}
		s.Columns, s.Names = append(s.Columns, f.ID), append(s.Names, c.view)
	}
	if len(s.Columns) > 0 {
		return nil
	}
	for _, f := range s.Table.Schema.Fields {
		if alikeInside(f.Type) == "" {
			s.Columns, s.Names = []catalog.FieldID{f.ID}, []string{f.Name}
			return nil
		}
	}
	return errs.New(errs.Unsupported, "bind", s.Table.Ident.String(), "the table has no column that can be read")
}
