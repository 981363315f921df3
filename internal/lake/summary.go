package lake

import (
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// partitionSummaries sums up the files' tuples for the manifest list. Where a bound can't be encoded there are none at
// all, since readers take an absent bound for the absence of values.
func partitionSummaries(spec catalog.PartitionSpec, files []NewDataFile) []iceberg.FieldSummary {
	summaries := make([]iceberg.FieldSummary, len(spec.Fields))
	for i, typ := range tupleTypes(spec) {
		var s fieldRange
		for _, f := range files {
			s.add(typ, f.Partition[i])
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

// encoded returns a bound's bytes. Those of the empty string are none, which is not the same as no bytes: a nil slice
// would be written as null, and readers would skip the manifest.
func encoded(t transform.Type, v transform.Value) (*[]byte, bool) {
	if v == nil {
		return nil, true
	}
	b, err := transform.EncodeBound(t, v)
	if b == nil {
		b = []byte{}
	}
	return &b, err == nil
}

// summary counts what the append adds and, where the parent says its own totals, what there is then.
func (a *appender) summary(on *handle) *table.Summary {
	var rows, size int64
	partitions := map[string]bool{}
	for _, f := range a.files {
		rows += f.Rows
		size += f.Ref.Bytes
		partitions[groupKey(f.Spec, f.Partition)] = true
	}
	props := iceberg.Properties{
		"added-data-files":        strconv.Itoa(len(a.files)),
		"added-records":           strconv.FormatInt(rows, 10),
		"added-files-size":        strconv.FormatInt(size, 10),
		"changed-partition-count": strconv.Itoa(len(partitions)),
	}
	for total, added := range map[string]int64{
		"total-data-files": int64(len(a.files)), "total-records": rows, "total-files-size": size,
		"total-delete-files": 0, "total-position-deletes": 0, "total-equality-deletes": 0,
	} {
		if before, known := totalBefore(on.snapshot, total); known {
			props[total] = strconv.FormatInt(before+added, 10)
		}
	}
	return &table.Summary{Operation: table.OpAppend, Properties: props}
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
