package settings

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// spjSwitches are the settings (or their prefixes, ending in a dot) that a Spark user must get right before a join
// avoids its shuffle.
var spjSwitches = []string{
	"spark.sql.sources.v2.bucketing.",
	"spark.sql.iceberg.planning.preserve-data-grouping",
	"spark.sql.requireAllClusterKeysForJoin",
	"spark.sql.requireAllClusterKeysForDistribution",
	"spark.sql.requireAllClusterKeysForCoPartition",
	"spark.sql.adaptive.",
	"spark.sql.join.preferSortMergeJoin",
	"spark.sql.shuffle.partitions",
}

// fixed are the Spark settings that would change what a query answers, with the only values that agree with what is done
// here. Another value is refused rather than ignored.
var fixed = []struct {
	name    string
	allowed []string
	why     string
}{
	{"spark.sql.session.timeZone", []string{"UTC", "Etc/UTC", "GMT", "Z", "+00:00", "UTC+00:00"}, "sessions run in UTC"},
	{"spark.sql.caseSensitive", []string{"false"}, "names match without regard to case"},
	{"spark.sql.ansi.enabled", []string{"true"}, "overflows and wrong casts are errors, as in ANSI mode"},
}

// writesElsewhere are the Spark settings that redirect writes: ignoring one would put rows where nobody expects them.
var writesElsewhere = []string{"spark.wap.branch"}

// sparkBroadcast is Spark's name of tarn.broadcast_bytes.
const sparkBroadcast = "spark.sql.autoBroadcastJoinThreshold"

// sparkOverwrite is Spark's name of tarn.partition_overwrite_mode.
const sparkOverwrite = "spark.sql.sources.partitionOverwriteMode"

// sparkWAP is Spark's name of tarn.wap_id.
const sparkWAP = "spark.wap.id"

// translate returns our own option and its value for a setting of Spark's that means the same here.
func translate(name, text string) (string, string) {
	if strings.EqualFold(name, sparkOverwrite) {
		return nameOverwrite, text
	}
	if strings.EqualFold(name, sparkWAP) {
		return nameWAP, text
	}
	if !strings.EqualFold(name, sparkBroadcast) {
		return name, text
	}
	if strings.TrimSpace(text) == "-1" { // never
		text = "0"
	}
	return nameBroadcast, text
}

func isSpark(name string) bool { return hasPrefixFold(name, "spark.") }

// answerSpark says what one of Spark's settings means here.
func answerSpark(name, text string) (notice string, err error) {
	for _, f := range fixed {
		if !strings.EqualFold(name, f.name) {
			continue
		}
		for _, v := range f.allowed {
			if strings.EqualFold(text, v) {
				return "", nil
			}
		}
		return "", errs.New(errs.Unsupported, "set", f.name, "%q is not available: %s", text, f.why).
			WithHint("leave it unset, or set it to %s", f.allowed[0])
	}
	for _, n := range writesElsewhere {
		if strings.EqualFold(name, n) {
			return "", errs.New(errs.Unsupported, "set", n, "writing to a branch by a setting is not available")
		}
	}
	for _, s := range spjSwitches {
		if strings.EqualFold(name, s) || strings.HasSuffix(s, ".") && hasPrefixFold(name, s) {
			return spjNotice(name, text), nil
		}
	}
	return fmt.Sprintf("%s is a setting of Spark's and changes nothing here", name), nil
}

func spjNotice(name, text string) string {
	if on, err := parseBool(text); err == nil && !on && hasPrefixFold(name, "spark.sql.sources.v2.bucketing.") {
		return fmt.Sprintf("%s changes nothing here: to join without regard to the layout, SET %s = '%s'",
			name, nameSPJ, SPJOff)
	}
	return fmt.Sprintf("%s: nothing needs switching on, joins use the tables' layout wherever it is safe", name)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
