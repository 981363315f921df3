package quote

import "strings"

// Name returns a name as a quoted identifier: also one that is a keyword is a name then.
func Name(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Text returns text as a string. DuckDB and Spark know no escapes in it but the doubled quote.
func Text(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
