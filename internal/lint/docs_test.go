package lint

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		found := false
		for _, f := range p.files {
			if path.Base(f.path) != "doc.go" {
				continue
			}
			found = true
			want := "Package " + f.syntax.Name.Name + " "
			if f.syntax.Name.Name == "main" {
				want = "Command " + path.Base(p.folder) + " "
			}
			if text := f.syntax.Doc.Text(); !strings.HasPrefix(text, want) {
				t.Errorf("%s: the package comment must begin with %q", f.path, want)
			}
		}
		if !found {
			t.Errorf("%s has no doc.go that says what it does, what it refuses, and who stands before and after it", p.name())
		}
	}
}

// namedFolder matches a package's folder in running text.
var namedFolder = regexp.MustCompile(`\b(?:internal|cmd)/[a-z][a-z0-9/]*[a-z0-9]`)

func TestArchitectureNamesThePackages(t *testing.T) {
	file := filepath.Join(root, "docs", "ARCHITECTURE.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	exists := make(map[string]bool)
	for _, p := range packages(t) {
		exists[p.folder] = true
		if p.folder == "." {
			continue
		}
		// Within a list of internal packages the prefix may be left out.
		short := strings.TrimPrefix(p.folder, "internal/")
		if !regexp.MustCompile(`(^|[^\w/])(internal/)?` + regexp.QuoteMeta(short) + `($|[^\w/])`).Match(page) {
			t.Errorf("docs/ARCHITECTURE.md doesn't name %s", p.folder)
		}
	}
	for _, name := range namedFolder.FindAllString(string(page), -1) {
		if !exists[name] {
			t.Errorf("docs/ARCHITECTURE.md names %s, which doesn't exist", name)
		}
	}
}

// TestDependenciesAreExplained checks that each module that we import stands in docs/dependencies.md with its reason, and
// that no other does.
func TestDependenciesAreExplained(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	used := make(map[string]bool)
	modules := required(t)
	for _, p := range packages(t) {
		for _, f := range p.files {
			for _, name := range importsOf(t, f) {
				if m := owner(modules, name); m != "" {
					used[m] = true
				}
			}
		}
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")
	listed := make(map[string]bool)
	for _, match := range row.FindAllStringSubmatch(string(page), -1) {
		listed[match[1]] = true
		if !used[match[1]] {
			t.Errorf("docs/dependencies.md explains %s, which nothing imports", match[1])
		}
	}
	for m := range used {
		if !listed[m] {
			t.Errorf("docs/dependencies.md doesn't say why we need %s", m)
		}
	}
}

// required returns the modules that go.mod requires.
func required(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, match := range regexp.MustCompile(`(?m)^\s+(\S+\.\S+) v`).FindAllStringSubmatch(string(text), -1) {
		out = append(out, match[1])
	}
	if len(out) == 0 {
		t.Fatal("go.mod requires nothing")
	}
	return out
}

// owner returns the module that a package belongs to, or "" for one of Go's own or ours.
func owner(modules []string, name string) string {
	best := ""
	for _, m := range modules {
		if (name == m || strings.HasPrefix(name, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	return best
}

// machinePath matches folders that exist on the machine of whoever wrote them.
var machinePath = regexp.MustCompile(`(^|[\s"'` + "`" + `(=:])/(work|root|tmp|home)/`)

func TestNoPathsOfAMachine(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.files {
			if f.isTest {
				continue
			}
			n := 0
			for line := range strings.Lines(string(f.text)) {
				n++
				if machinePath.MatchString(line) {
					t.Errorf("%s:%d names a folder of some machine: %s", f.path, n, strings.TrimSpace(line))
				}
			}
		}
	}
}

// leftOver matches marks of unfinished work. They belong into an issue.
var leftOver = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func TestNothingIsLeftOver(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.files {
			if p.folder == "internal/lint" {
				continue
			}
			n := 0
			for line := range strings.Lines(string(f.text)) {
				n++
				if mark := leftOver.FindString(line); mark != "" {
					t.Errorf("%s:%d: %s", f.path, n, mark)
				}
			}
		}
	}
}
