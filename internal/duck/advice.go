package duck

import (
	"regexp"
	"strings"
)

// noFunction is how DuckDB says that there is no function of a name.
var noFunction = regexp.MustCompile(`(?i)^\w+ function with name "?(\w+)"? does not exist`)

// candidates are the names in DuckDB's lists of what may have been meant.
var candidates = regexp.MustCompile(`"(?:[^"]|"")+"`)

// advice splits a tidied message: its first line says what is wrong, and lists below of what may have been meant become a
// hint. Names of the engine's own are no advice. The functions that DuckDB lists by their types would fill a page.
func (r report) advice(text string) (message, hint string) {
	message, rest, _ := strings.Cut(text, "\n")
	message = strings.TrimRight(strings.TrimSpace(message), ".!")
	if m := noFunction.FindStringSubmatch(message); m != nil {
		message = "there is no function " + m[1]
		if _, ok := SystemFunction(strings.ToLower(m[1])); ok {
			return message, "Iceberg's transforms have a schema: system." + strings.ToLower(m[1]) + "(...)"
		}
	}
	if strings.Contains(rest, "Candidate functions") || strings.Contains(rest, "Candidates:") {
		return message, ""
	}
	var names []string
	for _, name := range candidates.FindAllString(rest, -1) {
		if !strings.HasPrefix(name, `"tarn_`) {
			names = append(names, name)
		}
	}
	switch {
	case strings.Contains(rest, "Candidate") || strings.Contains(rest, "Did you mean"):
		if len(names) == 0 {
			return message, ""
		}
		return message, "did you mean " + strings.Join(names, " or ") + "?"
	}
	rest = strings.Join(strings.Fields(rest), " ")
	if strings.HasSuffix(message, ":") { // the rest is what it lists
		return strings.TrimSpace(message + " " + rest), ""
	}
	return message, lowerFirst(rest)
}
