package lake

import (
	"context"
	"maps"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
)

// Create makes an empty table and loads it. It fails with Exists when there is one of that name.
func (c *Catalog) Create(ctx context.Context, id catalog.Ident, s evolve.State) (*catalog.Table, error) {
	h, err := c.newHandle(ctx, id, s)
	if err != nil {
		return nil, err
	}
	return c.makeTable(ctx, id, h.meta)
}

// newTable returns the updates that make a table from nothing.
func newTable(s evolve.State) ([]table.Update, error) {
	updates := []table.Update{table.NewAssignUUIDUpdate(uuid.New()), table.NewSetLocationUpdate(s.Location)}
	rest, err := updatesTo(evolve.State{FormatVersion: s.FormatVersion, Location: s.Location, SchemaID: -1, SpecID: -1, OrderID: -1}, s, nil)
	return append(updates, rest...), err
}

// checkLocation refuses a place of its own for a table of a catalog that finds tables by their places.
func (c *Catalog) checkLocation(id catalog.Ident, place, location string) error {
	if _, ok := c.store.(*hadoopStore); ok && location != place {
		return errs.New(errs.Unsupported, "place table", id.String(), "a hadoop catalog has its tables at %s, not at %s", place, location).
			WithHint("leave LOCATION out, or use a SQL catalog")
	}
	return nil
}

// StateOf returns what statements may change of the table's metadata.
func (c *Catalog) StateOf(t *catalog.Table) (evolve.State, error) {
	h, err := c.handleOf(t)
	if err != nil {
		return evolve.State{}, err
	}
	return h.state()
}

// Evolve changes a table's metadata, op says in errors what was attempted, and loads the result. The change is computed from
// the newest version, and again when another writer comes first; where it can't be made any more by then, that is a
// Conflict. The other outcomes are done; failed, when the table is as it was and no file of the change is left; and CommitUnknown,
// when the catalog may or may not have taken it, and nothing is removed.
func (c *Catalog) Evolve(ctx context.Context, t *catalog.Table, op string, change func(evolve.State) (evolve.State, error)) (*catalog.Table, error) {
	tries := 0
	return c.update(ctx, t, op, func(newest *handle) ([]table.Update, error) {
		tries++
		before, err := newest.state()
		if err != nil {
			return nil, err
		}
		after, err := change(before)
		if err != nil && tries > 1 && errs.KindOf(err) != errs.Internal {
			return nil, &errs.Error{Kind: errs.Conflict, Op: op, Object: t.Ident.String(), Msg: "another writer changed the table meanwhile", Err: err}
		}
		if err != nil {
			return nil, err
		}
		if before.Location != after.Location {
			if err := c.checkLocation(t.Ident, before.Location, after.Location); err != nil {
				return nil, err
			}
		}
		return updatesTo(before, after, newest.meta.Schemas())
	})
}

// state returns what statements may change of the version.
func (h *handle) state() (evolve.State, error) {
	s := evolve.State{
		FormatVersion: h.meta.Version(), Location: h.meta.Location(),
		SchemaID: h.meta.CurrentSchema().ID, LastColumnID: catalog.FieldID(h.meta.LastColumnID()),
		SpecID: catalog.SpecID(h.meta.DefaultPartitionSpec()), LastPartitionID: lastPartitionID(h.meta),
		OrderID: h.meta.DefaultSortOrder(), Properties: maps.Clone(map[string]string(h.meta.Properties())),
		Refs: map[string]evolve.Ref{}, Snapshots: map[catalog.SnapshotID]bool{},
	}
	for _, schema := range h.meta.Schemas() {
		fields, err := h.fields(schema)
		if err != nil {
			return s, err
		}
		s.Schemas = append(s.Schemas, catalog.Schema{ID: schema.ID, Fields: fields, Identifier: identifierOf(schema)})
	}
	specs, err := specsOf(h.meta, h.meta.CurrentSchema())
	if err != nil {
		return s, errs.Wrap(errs.Corrupt, "read metadata", h.location, err)
	}
	for _, id := range slices.Sorted(maps.Keys(specs)) {
		s.Specs = append(s.Specs, specs[id])
	}
	for _, o := range h.meta.SortOrders() {
		order, err := sortOrderOf(o)
		if err != nil {
			return s, errs.Wrap(errs.Corrupt, "read metadata", h.location, err)
		}
		s.Orders = append(s.Orders, order)
	}
	for _, snapshot := range h.meta.Snapshots() {
		s.Snapshots[catalog.SnapshotID(snapshot.SnapshotID)] = true
	}
	for name, r := range h.meta.Refs() {
		s.Refs[name] = refOf(r)
	}
	return s, nil
}

func refOf(r table.SnapshotRef) evolve.Ref {
	out := evolve.Ref{Snapshot: catalog.SnapshotID(r.SnapshotID), IsTag: r.SnapshotRefType == table.TagRef}
	if r.MaxRefAgeMs != nil {
		out.MaxRefAgeMs = *r.MaxRefAgeMs
	}
	if r.MaxSnapshotAgeMs != nil {
		out.MaxSnapshotMs = *r.MaxSnapshotAgeMs
	}
	if r.MinSnapshotsToKeep != nil {
		out.MinSnapshots = *r.MinSnapshotsToKeep
	}
	return out
}

// lastPartitionID returns the highest ID that a partition field has or had. Metadata of version 1 need not say it.
func lastPartitionID(meta table.Metadata) catalog.PartitionFieldID {
	last := iceberg.PartitionDataIDStart - 1
	if id := meta.LastPartitionSpecID(); id != nil {
		last = max(last, *id)
	}
	for _, spec := range meta.PartitionSpecs() {
		for _, f := range spec.Fields() {
			last = max(last, f.FieldID)
		}
	}
	return catalog.PartitionFieldID(last)
}

// updatesTo returns what makes one state of the other; older are the table's schemas. What is new has the numbers that the
// state has for it, so that an update that were given another one would fail.
func updatesTo(from, to evolve.State, older []*iceberg.Schema) ([]table.Update, error) {
	var out []table.Update
	if to.FormatVersion != from.FormatVersion {
		out = append(out, table.NewUpgradeFormatVersionUpdate(to.FormatVersion))
	}
	if to.Location != from.Location {
		out = append(out, table.NewSetLocationUpdate(to.Location))
	}
	schemas, err := schemaUpdates(from, to, older)
	if err != nil {
		return nil, err
	}
	layout, err := layoutUpdates(from, to)
	if err != nil {
		return nil, err
	}
	return slices.Concat(out, schemas, layout, propertyUpdates(from, to), refUpdates(from, to)), nil
}

func schemaUpdates(from, to evolve.State, older []*iceberg.Schema) ([]table.Update, error) {
	if to.SchemaID == from.SchemaID {
		return nil, nil
	}
	var out []table.Update
	isOld := slices.ContainsFunc(from.Schemas, func(s catalog.Schema) bool { return s.ID == to.SchemaID })
	if !isOld {
		schema, err := newSchemaWriter(older).schema(to.Schema())
		if err != nil {
			return nil, err
		}
		out = append(out, table.NewAddSchemaUpdate(schema))
	}
	return append(out, table.NewSetCurrentSchemaUpdate(to.SchemaID)), nil
}

func layoutUpdates(from, to evolve.State) ([]table.Update, error) {
	var out []table.Update
	if to.SpecID != from.SpecID {
		isOld := slices.ContainsFunc(from.Specs, func(s catalog.PartitionSpec) bool { return s.ID == to.SpecID })
		if !isOld {
			spec, err := icebergSpec(to.Spec())
			if err != nil {
				return nil, err
			}
			out = append(out, table.NewAddPartitionSpecUpdate(&spec, false))
		}
		out = append(out, table.NewSetDefaultSpecUpdate(int(to.SpecID)))
	}
	if to.OrderID != from.OrderID {
		isOld := slices.ContainsFunc(from.Orders, func(o catalog.SortOrder) bool { return o.ID == to.OrderID })
		if !isOld {
			order, err := icebergOrder(to.Order())
			if err != nil {
				return nil, err
			}
			out = append(out, table.NewAddSortOrderUpdate(&order))
		}
		out = append(out, table.NewSetDefaultSortOrderUpdate(to.OrderID))
	}
	return out, nil
}

func icebergSpec(spec catalog.PartitionSpec) (iceberg.PartitionSpec, error) {
	fields := make([]iceberg.PartitionField, len(spec.Fields))
	for i, f := range spec.Fields {
		parsed, err := iceberg.ParseTransform(f.Transform.String())
		if err != nil {
			return iceberg.PartitionSpec{}, err
		}
		sources := []int{0} // a void field whose column is gone has none
		if len(f.Sources) > 0 {
			sources = nil
		}
		for _, id := range f.Sources {
			sources = append(sources, int(id))
		}
		fields[i] = iceberg.PartitionField{SourceIDs: sources, FieldID: int(f.ID), Name: f.Name, Transform: parsed}
	}
	return iceberg.NewPartitionSpecID(int(spec.ID), fields...), nil
}

func icebergOrder(order catalog.SortOrder) (table.SortOrder, error) {
	fields := make([]table.SortField, len(order.Fields))
	for i, f := range order.Fields {
		parsed, err := iceberg.ParseTransform(f.Transform.String())
		if err != nil {
			return table.SortOrder{}, err
		}
		fields[i] = table.SortField{SourceIDs: []int{int(f.Source)}, Transform: parsed, Direction: table.SortASC, NullOrder: table.NullsFirst}
		if f.Descending {
			fields[i].Direction = table.SortDESC
		}
		if f.NullsLast {
			fields[i].NullOrder = table.NullsLast
		}
	}
	return table.NewSortOrder(order.ID, fields)
}

func propertyUpdates(from, to evolve.State) []table.Update {
	var out []table.Update
	set := iceberg.Properties{}
	for k, v := range to.Properties {
		if old, ok := from.Properties[k]; !ok || old != v {
			set[k] = v
		}
	}
	if len(set) > 0 {
		out = append(out, table.NewSetPropertiesUpdate(set))
	}
	var gone []string
	for _, k := range slices.Sorted(maps.Keys(from.Properties)) {
		if _, ok := to.Properties[k]; !ok {
			gone = append(gone, k)
		}
	}
	if len(gone) > 0 {
		out = append(out, table.NewRemovePropertiesUpdate(gone))
	}
	return out
}

func refUpdates(from, to evolve.State) []table.Update {
	var out []table.Update
	for _, name := range slices.Sorted(maps.Keys(from.Refs)) {
		if _, ok := to.Refs[name]; !ok {
			out = append(out, table.NewRemoveSnapshotRefUpdate(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(to.Refs)) {
		r := to.Refs[name]
		if old, ok := from.Refs[name]; ok && old == r {
			continue
		}
		kind := table.BranchRef
		if r.IsTag {
			kind = table.TagRef
		}
		out = append(out, table.NewSetSnapshotRefUpdate(name, int64(r.Snapshot), kind, r.MaxRefAgeMs, r.MaxSnapshotMs, r.MinSnapshots))
	}
	return out
}
