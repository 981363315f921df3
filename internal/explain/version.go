package explain

import (
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
)

// Version is the version of a table that a statement names, and the snapshot that it is pinned to.
type Version struct {
	Reads    string `json:"reads"`              // state, appends, changes
	Named    string `json:"named,omitempty"`    // how: tag first, 2024-01-31 00:00:00+00; "" for its current snapshot
	Snapshot *int64 `json:"snapshot,omitempty"` // nil: the table has none
	Since    string `json:"since,omitempty"`    // of appends and changes: after which snapshot
}

func version(t *catalog.Table) *Version {
	v := t.Version
	if v == (catalog.Version{}) {
		return nil
	}
	out := &Version{Reads: [...]string{"state", "appends", "changes"}[v.Reading]}
	if !v.At.IsCurrent() {
		out.Named = v.At.String()
	}
	if t.Snapshot != nil {
		id := int64(t.Snapshot.ID)
		out.Snapshot = &id
	}
	if v.Since != nil {
		out.Since = v.Since.String()
	}
	return out
}

// text tells the version behind a table's name: "at snapshot 3 (tag first)", "changes after tag first up to snapshot 3".
func (v *Version) text() string {
	at := "no snapshot"
	if v.Snapshot != nil {
		at = "snapshot " + strconv.FormatInt(*v.Snapshot, 10)
	}
	if v.Named != "" && v.Named != at {
		at += " (" + v.Named + ")"
	}
	switch {
	case v.Reads == "state":
		return "at " + at
	case v.Since != "":
		return v.Reads + " after " + v.Since + " up to " + at
	}
	return v.Reads + " up to " + at
}

// isSuffix says whether a table's alias is nothing but what its name says of the version: branch_x, tag_x or changes.
func isSuffix(alias string, v catalog.Version) bool {
	if v.Reading == catalog.ReadChanges {
		return strings.EqualFold(alias, "changes")
	}
	return v.At.Kind != catalog.AnyRef && alias == string(v.At.Kind)+"_"+v.At.Ref
}
