package plainreader

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/golden"
)

// File is a live data or delete file, as its manifest describes it.
type File struct {
	Path      string // as the metadata says
	Rows      int64
	Partition map[string]golden.Value // the partition tuple, by the names of the spec's fields

	format      string
	content     int64
	sequence    int64       // the data sequence number
	filed       string      // the spec and the tuple: files are of one partition when these are equal
	global      bool        // the spec has no field that isn't void
	identity    map[int]any // the tuple's values of identity fields, by their sources
	firstRow    *int64
	equalityIDs []int
	target      string // the one data file that a delete file is about, "" when there may be more
	offset      int64
	size        int64
}

// The values of a file's content.
const (
	contentData      = 0
	contentPositions = 1
	contentEquality  = 2
)

// The field IDs of a manifest's data_file.
const (
	filePath        = 100
	fileFormat      = 101
	filePartition   = 102
	fileRows        = 103
	fileLowerBounds = 125
	fileUpperBounds = 128
	fileContent     = 134
	fileEqualityIDs = 135
	fileFirstRow    = 142
	fileReferenced  = 143
	fileBlobOffset  = 144
	fileBlobSize    = 145
)

// newFile reads a manifest's data_file.
func newFile(in record, s spec) File {
	f := File{
		Path: in.text(filePath), Rows: in.wholeOr(fileRows, -1), Partition: map[string]golden.Value{},
		format: strings.ToLower(in.text(fileFormat)), content: in.wholeOr(fileContent, contentData),
		filed: fmt.Sprint(s.ID), global: true, identity: map[int]any{}, target: target(in),
		offset: in.wholeOr(fileBlobOffset, -1), size: in.wholeOr(fileBlobSize, -1),
	}
	if first, ok := in.whole(fileFirstRow); ok {
		f.firstRow = &first
	}
	ids, _ := in[fileEqualityIDs].([]any)
	for _, id := range ids {
		if n, ok := (record{0: id}).whole(0); ok {
			f.equalityIDs = append(f.equalityIDs, int(n))
		}
	}
	tuple, _ := in[filePartition].(record)
	for _, field := range s.Fields {
		v, ok := tuple[field.ID]
		f.Partition[field.Name] = v
		f.filed += " " + golden.Text(v)
		f.global = f.global && field.Transform == "void"
		if ok && field.Transform == "identity" {
			f.identity[field.Source] = v
		}
	}
	return f
}

// target returns the data file that position deletes or a deletion vector are about: either the entry says so, or the bounds
// of their paths are one.
func target(in record) string {
	if path := in.text(fileReferenced); path != "" {
		return path
	}
	if low := pathBound(in[fileLowerBounds]); low == pathBound(in[fileUpperBounds]) {
		return low
	}
	return ""
}

// pathBound returns a bound of the paths in a file of position deletes, "" when there is none.
func pathBound(bounds any) string {
	entries, _ := bounds.(pairs)
	at := slices.IndexFunc(entries, func(e [2]any) bool { return golden.Same(e[0], number(fieldDeletePath)) })
	if at < 0 {
		return ""
	}
	digits, _ := entries[at][1].(string)
	text, _ := hex.DecodeString(digits)
	return string(text)
}
