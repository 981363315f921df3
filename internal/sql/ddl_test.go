package sql

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

func eachLine(script string) string {
	var out strings.Builder
	for _, stmt := range strings.Split(script, "\n") {
		if st, err := Parse(stmt); err != nil {
			out.WriteString(errorText(err))
		} else {
			out.WriteString(tell(reflect.ValueOf(st)) + "\n")
		}
	}
	return out.String()
}

// tell writes a value with the types of structs and without what is empty.
func tell(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Interface:
		return tell(v.Elem())
	case reflect.Pointer:
		return "&" + tell(v.Elem())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = tell(v.Index(i))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Struct:
		if f, ok := v.Interface().(Fragment); ok {
			return "`" + f.Text + "`"
		}
		var parts []string
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				parts = append(parts, v.Type().Field(i).Name+":"+tell(v.Field(i)))
			}
		}
		return v.Type().Name() + "{" + strings.Join(parts, " ") + "}"
	case reflect.String:
		return fmt.Sprintf("%q", v.Interface())
	}
	return fmt.Sprint(v.Interface())
}

// TestDeepText: what lies within itself again and again is refused before it fills the stack.
func TestDeepText(t *testing.T) {
	array := func(n int) string {
		return "CREATE TABLE t (a " + strings.Repeat("array<", n) + "int" + strings.Repeat(">", n) + ")"
	}
	if _, err := Parse(array(deepest - 1)); err != nil {
		t.Errorf("%d types within each other: %v", deepest, err)
	}
	for text, kind := range map[string]errs.Kind{
		array(deepest): errs.Syntax,
		"CREATE TABLE t (a " + strings.Repeat("struct<a: map<int, ", 1_000_000): errs.Syntax,
		strings.Repeat("EXPLAIN ", 1_000_000) + "SELECT 1":                      errs.Unsupported,
	} {
		if _, err := Parse(text); err == nil || errs.KindOf(err) != kind {
			t.Errorf("%.40s...: %.200v", text, err)
		}
	}
}

// TestQualified: bare names of columns are told from all else that is spelled like them.
func TestQualified(t *testing.T) {
	is := func(name string) bool {
		return slices.Contains([]string{"k", "v", "date", "day", "end", "two words"}, strings.ToLower(name))
	}
	for text, want := range map[string]string{
		"k":                                    "s.k",
		"K + v*2":                              "s.K + s.v*2",
		`"two words" || 'k' -- k` + "\n || v":  `s."two words" || 'k' -- k` + "\n || s.v",
		"t.k = k AND k(k) = x.v.k":             "t.k = s.k AND k(s.k) = x.v.k",
		"CAST(k AS date)":                      "CAST(s.k AS date)",
		"k::date = DATE '2024-01-01'":          "s.k::date = DATE '2024-01-01'",
		"k + INTERVAL 2 day":                   "s.k + INTERVAL 2 day",
		"k + INTERVAL '2' day":                 "s.k + INTERVAL '2' day",
		"extract(day FROM date)":               "extract(day FROM s.date)",
		"CASE k WHEN v THEN k END":             "CASE s.k WHEN s.v THEN s.k END",
		"{k: v, 'v': k}":                       "{k: s.v, 'v': s.k}",
		"struct_pack(k := v)":                  "struct_pack(k := s.v)",
		"$1 + k":                               "$1 + s.k",
		"k IN (SELECT k FROM u)":               "k IN (SELECT k FROM u)",
		"list_transform([k], lambda v: v + k)": "list_transform([k], lambda v: v + k)",
		"list_transform([k], v -> v + k)":      "list_transform([k], v -> v + k)",
	} {
		if got := (Fragment{Text: text}).Qualified(is, "s").Text; got != want {
			t.Errorf("%s becomes %s, wanted %s", text, got, want)
		}
	}
}
