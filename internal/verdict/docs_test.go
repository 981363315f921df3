package verdict

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// docsPage has the table of rules between its two marks.
const docsPage = "../../docs/check.md"

// TestDocsHaveTheRules compares the table for users with the one that decides; -rewrite, which datadriven defines, writes it.
func TestDocsHaveTheRules(t *testing.T) {
	const begin, end = "<!-- rules -->\n", "<!-- end of rules -->\n"
	page, err := os.ReadFile(docsPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s lacks its marks", docsPage)
	}
	want := head + begin + rulesTable() + end + tail
	if want == string(page) {
		return
	}
	if f := flag.Lookup("rewrite"); f == nil || f.Value.String() != "true" {
		t.Fatalf("the rules in %s aren't those of rules.go; go test ./internal/verdict -args -rewrite writes them", docsPage)
	}
	if err := os.WriteFile(docsPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func rulesTable() string {
	var b strings.Builder
	for _, e := range engines {
		checked := "unverified"
		if e.Verified {
			checked = "verified"
		}
		fmt.Fprintf(&b, "\n### %s, %s (%s)\n\n| rule | needs | source |\n| --- | --- | --- |\n", e.Name, e.Version, checked)
		for _, r := range rules {
			if r.Engine == e.Name {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", r.ID, r.Needs, r.Source)
			}
		}
	}
	return b.String() + "\n"
}

// TestRulesAreOne checks that each rule stands in the table once, and each setting names one.
func TestRulesAreOne(t *testing.T) {
	seen := map[RuleID]bool{}
	for _, r := range rules {
		if seen[r.ID] || r.Needs == "" || r.Source == "" {
			t.Errorf("the rule %s stands twice, or says nothing", r.ID)
		}
		seen[r.ID] = true
	}
	for _, s := range sparkSettings {
		if !seen[s.Rule] {
			t.Errorf("%s names no rule", s.Name)
		}
	}
}
