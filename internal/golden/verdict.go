package golden

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// Mode is a way of running a check.
type Mode string

// The modes: group by group in packs of the usual size, with one group per pack and all dynamic filters, with rows sent to
// their groups wherever that makes a join run by groups, and whole.
const (
	Auto   Mode = "auto"
	Groups Mode = "groups"
	Routed Mode = "routed"
	Off    Mode = "off"
)

// Modes are all modes.
var Modes = []Mode{Auto, Groups, Routed, Off}

// Settings returns the statements that bring a session into the mode.
func (m Mode) Settings() []string {
	switch m {
	case Groups:
		return []string{"SET tarn.pack_bytes = 0", "SET tarn.dynamic_filter = 'force'"}
	case Routed:
		return []string{"SET tarn.pack_bytes = 0", "SET tarn.exchange = 'force'", "SET tarn.broadcast_bytes = 0"}
	case Off:
		return []string{"SET tarn.spj = 'off'", "SET tarn.dynamic_filter = 'off'"}
	}
	return nil
}

// Judge tells what is wrong with an answer to the check, or "".
func (c *Check) Judge(m Mode, a Answer) string {
	if own, ok := ownVerdicts[c.ID]; ok {
		return own(c, m, a)
	}
	if c.Expect == "error" {
		kinds, ok := faults[c.ID]
		if !ok {
			return "no kind of error is known to fit this check's fault"
		}
		return judgeError(a, kinds...)
	}
	return c.judgeRows(a)
}

func (c *Check) judgeRows(a Answer) string {
	want, err := c.Rows()
	switch {
	case err != nil:
		return err.Error()
	case a.Err != nil:
		return fmt.Sprintf("error of kind %s: %v", errs.KindOf(a.Err), a.Err)
	}
	if d := DiffNames(c.Names(), a.Names); d != "" {
		return d
	}
	if c.Ordered {
		return DiffOrdered(want, a.Rows)
	}
	return Diff(want, a.Rows)
}

// judgeError wants an error of one of the kinds. A corrupt or missing file must be named.
func judgeError(a Answer, kinds ...errs.Kind) string {
	if a.Err == nil {
		return fmt.Sprintf("%d rows, wanted an error", len(a.Rows))
	}
	kind := errs.KindOf(a.Err)
	for _, k := range kinds {
		if k != kind {
			continue
		}
		if kind == errs.Corrupt && !strings.Contains(a.Err.Error(), "/warehouse/") {
			return fmt.Sprintf("the error doesn't name the file: %v", a.Err)
		}
		return ""
	}
	return fmt.Sprintf("error of kind %s, wanted one of %v: %v", kind, kinds, a.Err)
}

// faults are the kinds of error that fit a check's fault.
var faults = map[string][]errs.Kind{
	"k1-expr-overflow":     {errs.Invalid},
	"k4-evolve-gone":       {errs.NotFound},
	"k6-expired-gone":      {errs.NotFound},
	"k6-no-ref":            {errs.NotFound},
	"k6-no-snap":           {errs.NotFound},
	"k6-timestamp-before":  {errs.NotFound},
	"k10-m-card-cond":      {errs.Invalid},
	"k10-m-cardinality":    {errs.Invalid},
	"k10-u-badcol":         {errs.NotFound},
	"k10-u-overflow":       {errs.Invalid},
	"k12-bad_footer":       {errs.Corrupt},
	"k12-bad_page":         {errs.Corrupt},
	"k12-cut_manifest":     {errs.Corrupt},
	"k12-cut_metadata":     {errs.Corrupt},
	"k12-cut_mlist":        {errs.Corrupt},
	"k12-dv_crc":           {errs.Corrupt},
	"k12-dv_magic":         {errs.Corrupt},
	"k12-hint_ahead":       {errs.Corrupt, errs.NotFound},
	"k12-missing_data":     {errs.NotFound, errs.Corrupt},
	"k12-missing_delete":   {errs.NotFound, errs.Corrupt},
	"k12-missing_manifest": {errs.NotFound, errs.Corrupt},
	"k12-missing_mlist":    {errs.NotFound, errs.Corrupt},
	"k12-no_schema":        {errs.Corrupt},
	"k12-no_snapshot":      {errs.Corrupt, errs.NotFound},
	"k12-v4":               {errs.Unsupported},
	"k12-v99":              {errs.Unsupported},
}

// ownVerdicts are those of checks whose rows aren't the bar, or not the only one.
var ownVerdicts = map[string]func(*Check, Mode, Answer) string{
	"k12-lying_bucket-join": func(c *Check, m Mode, a Answer) string {
		if m == Off {
			return c.judgeRows(a)
		}
		return judgeError(a, errs.Corrupt)
	},
	// The row is filed where its id doesn't belong: pruning may hide it.
	"k12-lying_bucket-point": func(c *Check, _ Mode, a Answer) string {
		if a.Err != nil {
			return judgeError(a, errs.Corrupt)
		}
		if len(a.Rows) == 0 {
			return DiffNames(c.Names(), a.Names)
		}
		return Diff([]Row{{whole(0)}}, a.Rows)
	},
	// The spec's letter: partition metadata is for columns that the file lacks.
	"k12-lying_identity": func(_ *Check, _ Mode, a Answer) string {
		if a.Err != nil {
			return judgeError(a, errs.Corrupt)
		}
		return Diff([]Row{{whole(1), "inside"}, {whole(2), "inside"}}, a.Rows)
	},
	// A write needs to know the transform. An error that isn't about it proves nothing.
	"k12-unknown_transform-write": func(_ *Check, _ Mode, a Answer) string { return judgeUnsupported(a, "hilbert") },
	"k4-variant":                  orUnsupported("x"),
	"k5-eq_formats-count":         orUnsupported(".orc"),
	"k5-eq_formats-join":          orUnsupported(".orc"),
	"k5-eq_formats-notes":         orUnsupported(".orc"),
	"k5-eq_formats-scan":          orUnsupported(".orc"),
	"k8-mixed-formats":            orUnsupported(".orc"),
	"k8-wr-orc-agg":               orUnsupported(".orc"),
	"k8-wr-orc-filter":            orUnsupported(".orc"),
	"k8-wr-orc-scan":              orUnsupported(".orc"),
}

// orUnsupported takes the rows, or a refusal that names what can't be read.
func orUnsupported(names string) func(*Check, Mode, Answer) string {
	return func(c *Check, _ Mode, a Answer) string {
		if a.Err == nil {
			return c.judgeRows(a)
		}
		return judgeUnsupported(a, names)
	}
}

func judgeUnsupported(a Answer, names string) string {
	if a.Err != nil && !strings.Contains(a.Err.Error(), names) {
		return fmt.Sprintf("the error doesn't name %s: %v", names, a.Err)
	}
	return judgeError(a, errs.Unsupported)
}
