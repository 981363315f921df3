package property

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tarndb/tarn/internal/settings"
)

// drawn are the values that random plans try of settings, some of them more often than others. Of choices that aren't
// here every value is tried, of other settings that aren't here only the default.
var drawn = map[string][]string{
	"tarn.spj":              {"auto"},
	"tarn.pack_bytes":       {"0", "0", "0", "1", "4KiB", "2MiB"},
	"tarn.verify_layout":    {"on", "on", "on", "on", "off"},
	"tarn.metadata_answers": {"on", "on", "off"},
	"tarn.threads":          {"1", "2", "2", "3"},
	"tarn.memory":           {"0", "0", "0", "1536MiB", "3GiB"},
	"tarn.exchange":         {"auto", "force", "force", "force", "off"},
	"tarn.broadcast_bytes":  {"0", "0", "4KiB", "1GiB", "1GiB"},
	"tarn.skew":             {"auto", "off", "slice", "slice", "bucket", "alone"},
}

// draw returns random settings of a session.
func draw(rng *rand.Rand) mode {
	set, err := settings.New(nil)
	if err != nil {
		panic(err) // the registry's own defaults
	}
	var m mode
	for _, o := range set.List() {
		values, ok := drawn[o.Name]
		if !ok && (o.Type == "choice" || o.Type == "bool") {
			values = strings.Split(o.Bounds, ", ")
		}
		if len(values) == 0 {
			continue
		}
		if v := pick(rng, values); v != o.Default {
			m = append(m, fmt.Sprintf("SET %s = '%s'", o.Name, v))
		}
	}
	return m
}
