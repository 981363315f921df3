package verdict

import (
	"fmt"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/units"
	"github.com/tarndb/tarn/transform"
)

// broadcastBytes is the default of spark.sql.autoBroadcastJoinThreshold.
const broadcastBytes = 10 << 20

// sparkBroadcast notes a side that Spark would rather broadcast: a small table on a side that the join doesn't preserve.
func (f *facts) sparkBroadcast(j *plan.Join) []Finding {
	if len(j.On) == 0 {
		return nil
	}
	right := j.Kind != plan.Right && j.Kind != plan.Full
	left := j.Kind == plan.Inner || j.Kind == plan.Right
	for _, side := range []struct {
		rel plan.Rel
		may bool
	}{{j.Right, right}, {j.Left, left}} {
		scan, ok := side.rel.(*plan.ScanRel)
		if !ok || !side.may {
			continue
		}
		if size := f.sparkBytes(scan.Scan); size < broadcastBytes {
			return []Finding{{
				Rule: sparkBroadcast,
				What: fmt.Sprintf("Spark takes %s for %s, which is below its threshold of %s, and broadcasts it instead: without a shuffle either", mention(scan.Scan), units.Bytes(size), units.Bytes(broadcastBytes)),
				Mend: "SET spark.sql.autoBroadcastJoinThreshold = -1",
			}}
		}
	}
	return nil
}

// sparkBytes is Spark's estimate of a scan: its rows times the default sizes of the columns that it reads.
func (f *facts) sparkBytes(s *plan.Scan) int64 {
	width := int64(8)
	for _, id := range s.Columns {
		field, ok := s.Field(id)
		if !ok {
			continue
		}
		width += defaultSize(field.Type.Primitive)
	}
	return f.Layouts[s].Counts.Rows * width
}

// defaultSize is DataType.defaultSize of Spark.
func defaultSize(t transform.Type) int64 {
	switch t.Kind {
	case transform.Boolean:
		return 1
	case transform.Int, transform.Float, transform.Date:
		return 4
	case transform.Long, transform.Double, transform.Timestamp, transform.TimestampTZ:
		return 8
	case transform.Decimal:
		if t.Precision <= 18 {
			return 8
		}
		return 16
	case transform.Binary, transform.Fixed:
		return 100
	}
	return 20
}
