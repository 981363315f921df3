package commit

import (
	"errors"
	"strconv"

	"github.com/tarndb/tarn/internal/errs"
)

// CheckProperties refuses a table whose properties no commit could be made by.
func CheckProperties(properties map[string]string) error {
	_, err := RetryOf(properties)
	_, count := numberProperty(properties, minToMergeProperty, 0)
	_, bytes := longProperty(properties, manifestBytesProperty, 0)
	return errors.Join(err, count, bytes)
}

// The properties of how manifests are merged.
const (
	minToMergeProperty    = "commit.manifest.min-count-to-merge"
	manifestBytesProperty = "commit.manifest.target-size-bytes"
)

// numberProperty reads a table property that is a whole number from 0 to 2^31-1, as most of Iceberg's are. Anything else is Invalid.
func numberProperty(properties map[string]string, name string, otherwise int64) (int64, error) {
	return property(properties, name, otherwise, 32)
}

// longProperty is numberProperty of one that Iceberg takes up to 2^63-1.
func longProperty(properties map[string]string, name string, otherwise int64) (int64, error) {
	return property(properties, name, otherwise, 64)
}

func property(properties map[string]string, name string, otherwise int64, bits int) (int64, error) {
	text, ok := properties[name]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil || n < 0 {
		return 0, errs.New(errs.Invalid, "read table property", name, "it is %q, not a number from 0", text)
	}
	return n, nil
}
