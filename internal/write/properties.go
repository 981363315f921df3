package write

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// The table properties that say how files are written, and what holds without them. They are Iceberg's own, but for the rows of a
// row group: files of DuckDB's size are read by several threads and skipped in finer pieces.
const (
	targetBytesProperty  = "write.target-file-size-bytes"
	codecProperty        = "write.parquet.compression-codec"
	levelProperty        = "write.parquet.compression-level"
	groupBytesProperty   = "write.parquet.row-group-size-bytes"
	groupRowsProperty    = "write.parquet.row-group-limit"
	distributionProperty = "write.distribution-mode"
	formatProperty       = "write.format.default"
	defaultTargetBytes   = 512 << 20
	defaultGroupRows     = 122_880
	defaultRowGroupRows  = 1_048_576 // of row-group-limit, where only the size is given
	leastRowGroupRows    = 2048
)

// properties are a table's wishes for its files.
type properties struct {
	targetBytes int64
	codec       string // as COPY calls it
	level       int    // 0: the codec's own
	groupBytes  int64  // 0: not given
	groupRows   int64
	isScattered bool // parts of the plan may each write files of their own
}

// codecs are Iceberg's names for Parquet's codecs, as COPY calls them.
var codecs = map[string]string{
	"zstd": "zstd", "gzip": "gzip", "snappy": "snappy", "brotli": "brotli", "lz4": "lz4_raw", "lz4_raw": "lz4_raw",
	"uncompressed": "uncompressed", "none": "uncompressed",
}

// distributions are the modes by which rows are shared out to writers. All rows of a partition have one writer, which sorts them as
// a whole, so that there is what hash and range ask for whatever is said. By none rows may be written by whoever has them.
var distributions = []string{noDistribution, "hash", "range"}

const noDistribution = "none"

// checkFormat refuses a table that wants data files of another format than ours.
func checkFormat(t *catalog.Table) error {
	if format := t.Properties[formatProperty]; format != "" && !strings.EqualFold(format, "parquet") {
		return errs.New(errs.Unsupported, "write to", t.Ident.String(), "%s is %s, and only Parquet files can be written", formatProperty, format)
	}
	return nil
}

func propertiesOf(t *catalog.Table) (properties, error) {
	p := properties{codec: "zstd", targetBytes: defaultTargetBytes, groupRows: defaultGroupRows}
	if text, ok := t.Properties[codecProperty]; ok {
		if p.codec, ok = codecs[strings.ToLower(text)]; !ok {
			return p, invalidProperty(codecProperty, text, "zstd, gzip, snappy, brotli, lz4 or uncompressed")
		}
	}
	if text, ok := t.Properties[distributionProperty]; ok && !slices.Contains(distributions, strings.ToLower(text)) {
		return p, invalidProperty(distributionProperty, text, "none, hash or range")
	}
	p.isScattered = strings.EqualFold(t.Properties[distributionProperty], noDistribution)
	var groupRows, level int64
	for _, n := range []struct {
		name        string
		to          *int64
		least, most int64
		wanted      string
	}{
		{targetBytesProperty, &p.targetBytes, 1, 1 << 62, "a number of bytes"},
		{groupBytesProperty, &p.groupBytes, 1, 1 << 62, "a number of bytes"},
		{groupRowsProperty, &groupRows, 1, 1 << 62, "a number of rows"},
		{levelProperty, &level, -1 << 16, 1 << 16, "a level"},
	} {
		text, ok := t.Properties[n.name]
		if !ok || text == "null" { // as Iceberg's Java writes a default that is none
			continue
		}
		v, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil || v < n.least || v > n.most {
			return p, invalidProperty(n.name, text, n.wanted)
		}
		*n.to = v
	}
	switch {
	case groupRows > 0:
		p.groupRows = groupRows
	case p.groupBytes > 0:
		p.groupRows = defaultRowGroupRows
	}
	if p.codec == "zstd" { // the only codec whose level DuckDB takes
		if level < -7 || level > 22 {
			return p, invalidProperty(levelProperty, strconv.FormatInt(level, 10), "a level of zstd, up to 22")
		}
		p.level = int(level)
	}
	return p, nil
}

func invalidProperty(name, text, wanted string) error {
	return errs.New(errs.Invalid, "read table property", name, "found %q, wanted %s", text, wanted)
}

// rowGroup returns the rows and the bytes in memory of which the fewer fill a row group, when nobody knows how many bytes rows
// take: what the properties say, within the memory that a writer has for one; 0 is no limit.
func (p properties) rowGroup(memory int64) (rows int, bytes int64) {
	bytes = p.groupBytes
	if memory > 0 && (bytes == 0 || memory < bytes) {
		bytes = memory
	}
	return int(max(p.groupRows, leastRowGroupRows)), bytes
}

// rowGroupRows returns the rows of a row group of rows that take so many bytes each: what the properties say, but no more than
// fit into the memory that a writer has for one; 0 is no limit.
func (p properties) rowGroupRows(rowBytes, memory int64) int {
	rows := p.groupRows
	if p.groupBytes > 0 {
		rows = min(rows, p.groupBytes/max(rowBytes, 1))
	}
	if memory > 0 {
		rows = min(rows, memory/max(rowBytes, 1))
	}
	return int(max(rows, leastRowGroupRows))
}
