package sql

import (
	"fmt"
	"reflect"
	"strings"
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
