// Package settings is the registry of a session's options: name, type, default, bounds, meaning, and what Spark calls
// it. SET, RESET and SHOW SETTINGS are answered here, and the stages read their options through typed accessors.
//
// It refuses unknown names and values out of bounds, saying what is allowed. Spark's own switches are accepted with a
// notice where they change nothing here, and refused where obeying them would change an answer. It knows nothing of
// statements: package sql parses SET before, the root acts on the values after.
package settings
