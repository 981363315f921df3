package startup

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// calmBytes is how large the heap may grow before it is collected. Go's own is 4 MiB: a MERGE whose heap never held more than
// 10 MiB was collected 17 times, and a point lookup twice. With 32 MiB nothing was measured to take less CPU than with these. A
// memory limit holds as ever.
const calmBytes = 16 << 20

// leastGoal is the goal that Go has for a heap of nothing, which the percentage multiplies, too.
const leastGoal = 4 << 20

// A user's GOGC stays as it is.
func init() {
	if os.Getenv("GOGC") == "" {
		paceHeap(100)
	}
}

// cycle is something that each collection finds unused. It has a pointer: small things without one share their place with others.
type cycle struct{ _ *byte }

// paceHeap sets when the heap is collected next, now and after each collection. before is the percentage that is set.
func paceHeap(before int) {
	percent := percentOf(liveBytes())
	if percent != before {
		debug.SetGCPercent(percent)
	}
	runtime.SetFinalizer(&cycle{}, func(*cycle) { paceHeap(percent) })
}

// percentOf returns by how much a heap of which so many bytes are in use may grow: to calmBytes, or to twice as much.
func percentOf(live uint64) int {
	const most = 100 * calmBytes / leastGoal
	if live == 0 {
		return most
	}
	return int(min(most, max(100, (calmBytes-min(live, calmBytes))*100/live)))
}

// liveBytes returns what was in use after the last collection; 0 before the first.
func liveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return calmBytes // an unknown runtime keeps Go's own pace
	}
	return sample[0].Value.Uint64()
}
