package dml

import (
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
)

// Mode says how rows are changed.
type Mode string

// The modes, as Iceberg's table properties call them.
const (
	CopyOnWrite Mode = "copy-on-write" // files with such rows are written anew without them
	MergeOnRead Mode = "merge-on-read" // delete files say which rows are gone
)

// ModeOf returns how a statement of the kind op changes a table's rows: as asked, or, where that is "", as the table's property
// for it says.
func ModeOf(t *catalog.Table, op, asked string) (Mode, error) {
	name := "write." + strings.ToLower(op) + ".mode"
	text, given := asked, asked != ""
	if !given {
		text, given = t.Properties[name]
	}
	mode := Mode(strings.ToLower(text))
	switch {
	case !given || mode == CopyOnWrite:
		return CopyOnWrite, nil
	case mode != MergeOnRead:
		return "", errs.New(errs.Invalid, "read table property", name, "found %q, wanted %s or %s", text, CopyOnWrite, MergeOnRead)
	case t.FormatVersion < 2:
		remedy := "set the property " + name + " to " + string(CopyOnWrite)
		if asked != "" {
			remedy = "RESET tarn.row_change_mode"
		}
		return "", errs.New(errs.Unsupported, "change rows of", t.Ident.String(), "it is to be done by %s, and tables of format version %d have no delete files", mode, t.FormatVersion).
			WithHint("%s, or upgrade the table to format version 2", remedy)
	}
	return mode, nil
}

// IsolationOf returns what a table's property says of the changes of others that may come between a statement of the kind op and
// its commit.
func IsolationOf(t *catalog.Table, op string) (commit.Isolation, error) {
	name := "write." + strings.ToLower(op) + ".isolation-level"
	switch text := t.Properties[name]; strings.ToLower(text) {
	case "", "serializable":
		return commit.Serializable, nil
	case "snapshot":
		return commit.Snapshot, nil
	default:
		return 0, errs.New(errs.Invalid, "read table property", name, "found %q, wanted serializable or snapshot", text)
	}
}
