package evolve

import (
	"slices"
	"strconv"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

const (
	formatVersionKey = "format-version"
	defaultVersion   = 2 // of new tables, as in Iceberg
	newestVersion    = 3
	commentKey       = "comment"
)

// metadataKeys are reserved by Iceberg for what its metadata says elsewhere: they are never stored, and setting them does
// nothing, so that what SHOW TBLPROPERTIES lists may be given back.
var metadataKeys = []string{
	"uuid", "snapshot-count", "current-snapshot-summary", "current-snapshot-timestamp-ms", "current-schema",
	"default-partition-spec", "default-sort-order", "format", "provider", "owner", "external", "is_managed_location",
}

// insteads say which statement sets what Spark refuses as a property.
var insteads = map[string]string{
	"sort-order":              "ALTER TABLE ... WRITE ORDERED BY",
	"identifier-fields":       "ALTER TABLE ... SET IDENTIFIER FIELDS",
	"location":                "CREATE TABLE ... LOCATION, or ALTER TABLE ... SET LOCATION",
	"current-snapshot-id":     "CALL system.set_current_snapshot",
	"cherry-pick-snapshot-id": "CALL system.cherrypick_snapshot",
}

// setProperties also upgrades the format version, which is set as a property.
func (d *draft) setProperties(props []sql.Property) error {
	for _, p := range props {
		switch {
		case p.Key == formatVersionKey:
			if err := d.upgrade(p.Value); err != nil {
				return err
			}
		case slices.Contains(metadataKeys, p.Key):
		case insteads[p.Key] != "":
			return errs.New(errs.Invalid, "set property", p.Key, "it is no property of the table that can be set").WithHint("use %s", insteads[p.Key])
		default:
			d.Properties[p.Key] = p.Value
		}
	}
	return nil
}

func (d *draft) upgrade(text string) error {
	v, err := strconv.Atoi(text)
	switch {
	case err != nil || v < 1:
		return errs.New(errs.Invalid, "set property", formatVersionKey, "found %q, wanted a number from 1 to %d", text, newestVersion)
	case v > newestVersion:
		return errs.New(errs.Unsupported, "set property", formatVersionKey, "format version %d can't be written; versions up to %d can", v, newestVersion)
	case v < d.FormatVersion:
		return errs.New(errs.Invalid, "set property", formatVersionKey, "the table is of version %d, and there is no way back to %d", d.FormatVersion, v)
	}
	d.FormatVersion = v
	return nil
}

func (d *draft) unsetProperties(keys []string) error {
	for _, key := range keys {
		if key == formatVersionKey {
			return errs.New(errs.Invalid, "unset property", key, "a table always has a format version")
		}
		delete(d.Properties, key)
	}
	return nil
}
