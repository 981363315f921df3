package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public are the packages that programs may import.
var public = []string{".", "catalog", "transform"}

// TestExportedAPI compares what programs can rely on with a checked-in list.
func TestExportedAPI(t *testing.T) {
	var list strings.Builder
	for _, p := range packages(t) {
		if slices.Contains(public, p.folder) {
			fmt.Fprintf(&list, "# %s\n\n%s\n", p.name(), api(t, p))
		}
	}
	golden(t, "api.txt", strings.TrimRight(list.String(), "\n")+"\n", "the exported API changed")
}

// api prints a package's exported declarations, without comments and bodies, in an order that doesn't depend on files.
func api(t *testing.T, p pkg) string {
	t.Helper()
	var files []*ast.File
	for _, f := range p.files {
		if f.isTest {
			continue
		}
		// Parsed anew: comments would be printed, and go/doc takes the tree apart.
		syntax, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(f.path)), f.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, syntax)
	}
	d, err := doc.NewFromFiles(fset, files, module+"/"+p.folder)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	values := func(list []*doc.Value) {
		for _, v := range list {
			fmt.Fprintln(&out, render(t, v.Decl))
		}
	}
	functions := func(list []*doc.Func) {
		for _, f := range list {
			fmt.Fprintln(&out, render(t, f.Decl))
		}
	}
	values(d.Consts)
	values(d.Vars)
	functions(d.Funcs)
	for _, typ := range d.Types {
		fmt.Fprintln(&out, render(t, typ.Decl))
		values(typ.Consts)
		values(typ.Vars)
		functions(typ.Funcs)
		functions(typ.Methods)
	}
	return out.String()
}

func render(t *testing.T, decl ast.Decl) string {
	t.Helper()
	if fn, ok := decl.(*ast.FuncDecl); ok {
		fn.Body = nil
	}
	var out bytes.Buffer
	if err := (&printer.Config{Mode: printer.UseSpaces, Tabwidth: 4}).Fprint(&out, fset, decl); err != nil {
		t.Fatal(err)
	}
	// Blank lines within a declaration only tell where comments stood.
	var lines []string
	for line := range strings.Lines(out.String()) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}
