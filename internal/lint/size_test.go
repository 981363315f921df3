package lint

import (
	"bytes"
	"go/ast"
	"testing"
)

// The sizes beyond which code must be split, and beyond which it must be listed below with its reason.
const (
	maxFunction, softFunction = 120, 60
	maxFile, softFile         = 900, 500
	maxTestFile               = 1000
)

// large are the files and functions beyond the soft limits, each with the reason why it is better whole.
var large = map[string]string{}

func TestSizes(t *testing.T) {
	seen := make(map[string]bool)
	check := func(name string, lines, soft, hard int) {
		switch {
		case lines > hard:
			t.Errorf("%s has %d lines, and %d is the most", name, lines, hard)
		case lines > soft && large[name] == "":
			t.Errorf("%s has %d lines: split it, or say in the list large why it is better whole (beyond %d)", name, lines, soft)
		case lines > soft:
			seen[name] = true
		}
	}
	for _, p := range packages(t) {
		for _, f := range p.files {
			lines := bytes.Count(f.text, []byte("\n"))
			if f.isTest {
				check(f.path, lines, maxTestFile, maxTestFile)
				continue
			}
			check(f.path, lines, softFile, maxFile)
			for _, d := range f.syntax.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				first, last := fset.Position(fn.Pos()).Line, fset.Position(fn.End()).Line
				check(f.path+" "+fn.Name.Name, last-first+1, softFunction, maxFunction)
			}
		}
	}
	for name := range large {
		if !seen[name] {
			t.Errorf("%s is listed as large, and isn't any more", name)
		}
	}
}
