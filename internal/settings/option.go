package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// Option describes one setting of Tarn's own.
type Option struct {
	Name    string
	Type    string // "choice", "size", "bool", "count" or "text"
	Default string // as SHOW SETTINGS prints it
	Bounds  string // the values allowed, for people
	Meaning string
	Spark   string // what Spark calls it, or ""

	parse func(text string) (any, error)
	show  func(value any) string
}

// The names, each written once.
const (
	nameSPJ          = "tarn.spj"
	namePackBytes    = "tarn.pack_bytes"
	nameVerifyLayout = "tarn.verify_layout"
	nameExchange     = "tarn.exchange"
	nameBroadcast    = "tarn.broadcast_bytes"
	nameSkew         = "tarn.skew"
	nameOverwrite    = "tarn.partition_overwrite_mode"
	nameRowChange    = "tarn.row_change_mode"
	nameMetadata     = "tarn.metadata_answers"
	nameDynamic      = "tarn.dynamic_filter"
	nameDynamicBytes = "tarn.dynamic_filter_bytes"
	nameWAP          = "tarn.wap_id"
	nameThreads      = "tarn.threads"
	nameMemory       = "tarn.memory"
)

const (
	// MaxThreads bounds a typing error: more threads than this only cost memory on any machine that exists.
	MaxThreads = 1024
	// MinMemory is the smallest limit that the program keeps, in bytes: its own code and one DuckDB instance take up to
	// 110 MiB.
	MinMemory = 128 << 20
	// maxSize is 1 PiB: larger sizes are typing errors.
	maxSize = 1 << 50
)

// registry lists the options in the order in which SHOW SETTINGS prints them.
var registry = []*Option{
	choice(nameSPJ, []string{string(SPJAuto), string(SPJRequire), string(SPJOff)},
		"auto joins group by group where the layouts allow; require refuses a join that can't; off never does",
		"spark.sql.sources.v2.bucketing.enabled"),
	size(namePackBytes, "2MiB", 0,
		"group files by their layout key into packs of about this much data; 0 makes one pack of each group",
		"spark.sql.iceberg.split-size"),
	boolean(nameVerifyLayout, "on",
		"check while joining group by group that each row belongs to the group that its file claims", ""),
	choice(nameExchange, []string{"auto", "force", "off"},
		"auto sends rows that don't lie in their group to it, of a few files or of a whole side, where that costs less than joining all at once; force always does; off never does",
		""),
	size(nameBroadcast, "10MiB", 0,
		"a side of a join with up to this much data may be read whole by each pack; 0 never does that", sparkBroadcast),
	choice(nameSkew, []string{"auto", "off", "slice", "bucket", "alone"},
		"auto divides groups that are much larger than others as the join allows; off never does; slice, bucket and alone do one thing to each group that allows it: divide one table's files, divide all rows by a hash of their keys, run it by itself with all threads",
		"spark.sql.sources.v2.bucketing.partiallyClusteredDistribution.enabled"),
	boolean(nameMetadata, "on",
		"answer count, min and max by the statistics of data files where they are exact, without reading the files",
		"spark.sql.iceberg.aggregate-push-down.enabled"),
	choice(nameDynamic, []string{"auto", "force", "off"},
		"auto reads the values of a small table's join column first, to leave out files of a much larger table by them; force always does; off never does",
		"spark.sql.optimizer.dynamicPartitionPruning.enabled"),
	size(nameDynamicBytes, "10MiB", 0,
		"a table with up to this much data may be read first for the values of its join column", ""),
	choice(nameOverwrite, []string{"static", "dynamic"},
		"what INSERT OVERWRITE replaces: static all rows of the table, dynamic those of the partitions that the new rows are in",
		sparkOverwrite),
	text(nameWAP,
		"stages what is written to tables with the property write.wap.enabled under this ID, until CALL system.publish_changes; empty stages nothing",
		sparkWAP),
	choice(nameRowChange, []string{"table", "copy-on-write", "merge-on-read"},
		"how DELETE, UPDATE and MERGE change rows: table as the table's properties say; copy-on-write writes files anew; merge-on-read writes delete files",
		""),
	count(nameThreads, "0", 0, MaxThreads,
		"threads of one statement; 0 is one for each core", "spark.executor.cores"),
	size(nameMemory, "0", MinMemory,
		"memory of one statement before it spills to disk; 0 is 80 % of the machine's", "spark.executor.memory"),
}

func choice(name string, values []string, meaning, spark string) *Option {
	list := strings.Join(values, ", ")
	return &Option{
		Name: name, Type: "choice", Default: values[0], Bounds: list, Meaning: meaning, Spark: spark,
		parse: func(text string) (any, error) {
			for _, v := range values {
				if strings.EqualFold(text, v) {
					return v, nil
				}
			}
			return nil, fmt.Errorf("%q is not one of %s", text, list)
		},
		show: func(v any) string { return v.(string) },
	}
}

func text(name, meaning, spark string) *Option {
	return &Option{
		Name: name, Type: "text", Bounds: "any text", Meaning: meaning, Spark: spark,
		parse: func(text string) (any, error) { return text, nil },
		show:  func(v any) string { return v.(string) },
	}
}

func boolean(name, def, meaning, spark string) *Option {
	return &Option{
		Name: name, Type: "bool", Default: def, Bounds: "on, off", Meaning: meaning, Spark: spark,
		parse: func(text string) (any, error) { return parseBool(text) },
		show: func(v any) string {
			if v.(bool) {
				return "on"
			}
			return "off"
		},
	}
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes", "1":
		return true, nil
	case "off", "false", "no", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is not one of on, off", text)
}

func count(name, def string, low, high int, meaning, spark string) *Option {
	return &Option{
		Name: name, Type: "count", Default: def, Meaning: meaning, Spark: spark,
		Bounds: fmt.Sprintf("%d to %d", low, high),
		parse: func(text string) (any, error) {
			n, err := strconv.Atoi(text)
			if err != nil || n < low || n > high {
				return nil, fmt.Errorf("%q is not a whole number from %d to %d", text, low, high)
			}
			return n, nil
		},
		show: func(v any) string { return strconv.Itoa(v.(int)) },
	}
}

// size is an option in bytes, up to maxSize; 0 is always allowed, as "none" or "automatic".
func size(name, def string, low int64, meaning, spark string) *Option {
	bounds := fmt.Sprintf("0 to %s", FormatBytes(maxSize))
	if low > 0 {
		bounds = fmt.Sprintf("0, or %s to %s", FormatBytes(low), FormatBytes(maxSize))
	}
	return &Option{
		Name: name, Type: "size", Default: def, Bounds: bounds, Meaning: meaning, Spark: spark,
		parse: func(text string) (any, error) {
			n, err := ParseBytes(text)
			if err != nil {
				return nil, err
			}
			if n != 0 && (n < low || n > maxSize) {
				return nil, fmt.Errorf("%q is out of bounds: want %s", text, bounds)
			}
			return n, nil
		},
		show: func(v any) string { return FormatBytes(v.(int64)) },
	}
}
