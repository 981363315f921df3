package lake

import (
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// partitionSummaries sums up the files' tuples for the manifest list. Where a bound can't be encoded there are none at
// all, since readers take an absent bound for the absence of values.
func partitionSummaries(spec catalog.PartitionSpec, tuples [][]transform.Value) []iceberg.FieldSummary {
	summaries := make([]iceberg.FieldSummary, len(spec.Fields))
	for i, typ := range manifest.TupleTypes(spec) {
		var s fieldRange
		for _, tuple := range tuples {
			s.add(typ, tuple[i])
		}
		lower, okLower := encoded(typ, s.lower)
		upper, okUpper := encoded(typ, s.upper)
		if !okLower || !okUpper {
			return nil
		}
		summaries[i] = iceberg.FieldSummary{ContainsNull: s.null, ContainsNaN: &s.nan, LowerBound: lower, UpperBound: upper}
	}
	return summaries
}

// fieldRange gathers the values of one partition field.
type fieldRange struct {
	null, nan    bool
	lower, upper transform.Value
}

func (r *fieldRange) add(t transform.Type, v transform.Value) {
	switch {
	case v == nil:
		r.null = true
	case isNaN(v):
		r.nan = true
	default:
		if r.lower == nil || transform.Compare(t, v, r.lower) < 0 {
			r.lower = v
		}
		if r.upper == nil || transform.Compare(t, v, r.upper) > 0 {
			r.upper = v
		}
	}
}

func isNaN(v transform.Value) bool {
	switch v := v.(type) {
	case float32:
		return v != v
	case float64:
		return v != v
	}
	return false
}

// encoded returns a bound's bytes, nil for no bound. Those of the empty string are an empty slice: nil would be written as
// null, and readers would skip the manifest.
func encoded(t transform.Type, v transform.Value) (*[]byte, bool) {
	if v == nil {
		return nil, true
	}
	b, err := catalog.EncodeValue(t, v)
	return &b, err == nil
}

// summary counts what the change adds and, where the parent says its own totals, what there is then.
func (a *appender) summary(on *handle) *table.Summary {
	added := map[string]int64{}
	partitions := map[string]bool{}
	for _, f := range a.files {
		added["data-files"]++
		added["records"] += f.Rows
		added["files-size"] += f.Ref.Bytes
		partitions[catalog.TupleKey(f.Spec, f.Partition)] = true
	}
	for _, d := range a.deletes {
		countDelete(added, d)
		partitions[catalog.TupleKey(d.Spec, d.Partition)] = true
	}
	props := iceberg.Properties{"changed-partition-count": strconv.Itoa(len(partitions))}
	for what, n := range added {
		props["added-"+what] = strconv.FormatInt(n, 10)
	}
	for _, what := range []string{"data-files", "records", "files-size", "delete-files", "position-deletes", "equality-deletes"} {
		if before, known := totalBefore(on.snapshot, "total-"+what); known {
			props["total-"+what] = strconv.FormatInt(before+added[what], 10)
		}
	}
	return &table.Summary{Operation: a.operation(), Properties: props}
}

func (a *appender) operation() table.Operation {
	switch {
	case len(a.deletes) == 0:
		return table.OpAppend
	case len(a.files) == 0:
		return table.OpDelete
	}
	return table.OpOverwrite
}

// countDelete adds a delete file to what a change adds.
func countDelete(added map[string]int64, d catalog.DeleteFile) {
	added["delete-files"]++
	switch d.Kind {
	case catalog.EqualityDeletes:
		added["equality-delete-files"]++
		added["equality-deletes"] += d.Rows
		added["files-size"] += d.Ref.Bytes
	case catalog.DeletionVector:
		added["dvs"]++
		added["position-deletes"] += d.Rows
		added["files-size"] += d.Length
	default:
		added["position-delete-files"]++
		added["position-deletes"] += d.Rows
		added["files-size"] += d.Ref.Bytes
	}
}

func totalBefore(parent *table.Snapshot, total string) (int64, bool) {
	if parent == nil {
		return 0, true
	}
	if parent.Summary == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(parent.Summary.Properties[total], 10, 64)
	return n, err == nil
}
