package catalog

import "strings"

// IsSet reads a table property that is true or false, as Iceberg's own engines do: whatever isn't "true", in capitals or not, is
// false. otherwise is what holds without it.
func IsSet(properties map[string]string, name string, otherwise bool) bool {
	text, ok := properties[name]
	if !ok {
		return otherwise
	}
	return strings.EqualFold(text, "true")
}
