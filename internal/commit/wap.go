package commit

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// The properties of a snapshot's summary by which Iceberg's own engines know staged snapshots.
const (
	// WAPProperty has the ID under which a snapshot was staged.
	WAPProperty = "wap.id"
	// PublishedProperty has, in a snapshot that publishes another one's change, the ID that that was staged under.
	PublishedProperty = "published-wap-id"
)

// Stages says whether a table with these properties has changes with a WAP ID staged.
func Stages(properties map[string]string) bool {
	return catalog.IsSet(properties, "write.wap.enabled", false)
}

// CheckWAPID fails with Exists where a version has a snapshot that was staged under the ID, or that publishes one: a second one
// couldn't be published any more, since an ID is. name is the table's.
func CheckWAPID(v *Version, name, id string) error {
	for _, s := range v.Snapshots {
		var state string
		switch id {
		case s.Summary[WAPProperty]:
			state = "is staged under"
		case s.Summary[PublishedProperty]:
			state = "publishes the change that was staged under"
		default:
			continue
		}
		return errs.New(errs.Exists, "stage a change of", name, "snapshot %d %s the WAP ID %q already, and an ID is for one change", s.ID, state, id).
			WithHint("SET tarn.wap_id to another ID for each statement; CALL system.publish_changes publishes what is staged")
	}
	return nil
}
