package lint

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the checked-in lists anew")

const module = "github.com/tarndb/tarn"

// root is the module's folder, seen from this one.
const root = "../.."

// source is one Go file of the module.
type source struct {
	path   string // relative to the module, with slashes
	isTest bool
	text   []byte
	syntax *ast.File
}

// pkg is one package: its folder relative to the module, "." for the root, and its files, tests included.
type pkg struct {
	folder string
	files  []source
}

// name is what lists and pages call a package.
func (p pkg) name() string {
	if p.folder == "." {
		return "tarn"
	}
	return p.folder
}

var fset = token.NewFileSet()

// packages parses all Go files of the module, whatever system they are for, sorted by folder.
func packages(t *testing.T) []pkg {
	t.Helper()
	byFolder := make(map[string]*pkg)
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if file != root && (name == "testdata" || name[0] == '.' || name[0] == '_') {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(fset, file, text, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		folder := path.Dir(rel)
		if byFolder[folder] == nil {
			byFolder[folder] = &pkg{folder: folder}
		}
		byFolder[folder].files = append(byFolder[folder].files,
			source{path: rel, isTest: strings.HasSuffix(name, "_test.go"), text: text, syntax: syntax})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for _, p := range byFolder {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b pkg) int { return strings.Compare(a.folder, b.folder) })
	if len(all) < 5 {
		t.Fatalf("found only %d packages below %s", len(all), root)
	}
	return all
}

// golden compares a text with a checked-in file, which -rewrite writes anew.
func golden(t *testing.T, name, got, meaning string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range missing(got, string(want)) {
		t.Errorf("not in %s: %s", name, line)
	}
	for _, line := range missing(string(want), got) {
		t.Errorf("no longer so, but in %s: %s", name, line)
	}
	if !t.Failed() && got != string(want) {
		t.Errorf("%s has the same lines in another order", name)
	}
	if t.Failed() {
		t.Logf("%s; if it is meant, run: go test ./internal/lint -args -rewrite", meaning)
	}
}

// missing returns the lines of a that b doesn't have.
func missing(a, b string) []string {
	have := make(map[string]bool)
	for line := range strings.Lines(b) {
		have[line] = true
	}
	var out []string
	for line := range strings.Lines(a) {
		if !have[line] {
			out = append(out, strings.TrimRight(line, "\n"))
		}
	}
	return out
}
