package commit

import (
	"strconv"

	"github.com/tarndb/tarn/internal/errs"
)

// numberProperty reads a table property that is a whole number from 0 to 2^31-1, as Iceberg's are. Anything else is Invalid.
func numberProperty(properties map[string]string, name string, otherwise int64) (int64, error) {
	text, ok := properties[name]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, errs.New(errs.Invalid, "read table property", name, "it is %q, not a number from 0", text)
	}
	return n, nil
}
