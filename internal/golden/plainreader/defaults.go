package plainreader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// defaultOf returns a field's initial default, which the metadata writes in the spec's JSON form of single values.
func defaultOf(f field) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(f.Default))
	dec.UseNumber()
	var raw any
	if err := dec.Decode(&raw); err != nil {
		return nil, err
	}
	v, err := single(f.Type, raw)
	if err != nil {
		return nil, fmt.Errorf("the default %s of %s: %w", f.Default, f.Name, err)
	}
	return v, nil
}

// single reads a value in JSON form as if it lay in a file.
func single(t typ, raw any) (any, error) {
	switch x := raw.(type) {
	case nil, bool:
		return x, nil
	case json.Number:
		return singleNumber(t, x.String())
	case string:
		return singleText(t, x)
	case []any:
		return singleList(t, x)
	case map[string]any:
		return singleObject(t, x)
	}
	return nil, fmt.Errorf("%T is no value", raw)
}

func singleNumber(t typ, text string) (any, error) {
	switch t.name {
	case "float":
		f, err := strconv.ParseFloat(text, 32)
		return f, err
	case "double":
		return strconv.ParseFloat(text, 64)
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%s is no number", text)
	}
	return n, nil
}

func singleText(t typ, text string) (any, error) {
	name, _, _ := strings.Cut(t.name, "(")
	name, _, _ = strings.Cut(name, "[")
	switch name {
	case "decimal":
		return singleNumber(t, text)
	case "timestamp", "timestamp_ns":
		at, err := time.Parse("2006-01-02T15:04:05.999999999", text)
		return timestampText(at), err
	case "timestamptz", "timestamptz_ns":
		at, err := time.Parse("2006-01-02T15:04:05.999999999Z07:00", text)
		return timestampText(at), err
	case "time":
		at, err := time.Parse("15:04:05.999999999", text)
		return at.Format("15:04:05.000000"), err
	case "fixed", "binary", "uuid":
		return strings.ToLower(text), nil
	}
	return text, nil
}

func singleList(t typ, items []any) (any, error) {
	if t.name != "list" {
		return nil, fmt.Errorf("a list is no %s", t.name)
	}
	out := []any{}
	for _, item := range items {
		v, err := single(t.fields[0].Type, item)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// singleObject reads a struct by its fields' IDs, or a map of as many keys as values.
func singleObject(t typ, object map[string]any) (any, error) {
	if t.name == "struct" {
		out := record{}
		for _, f := range t.fields {
			raw, ok := object[strconv.Itoa(f.ID)]
			if !ok {
				continue
			}
			v, err := single(f.Type, raw)
			if err != nil {
				return nil, err
			}
			out[f.ID] = v
		}
		return out, nil
	}
	keys, _ := object["keys"].([]any)
	values, _ := object["values"].([]any)
	if t.name != "map" || len(keys) != len(values) {
		return nil, fmt.Errorf("%v is no %s", object, t.name)
	}
	out := pairs{}
	for i := range keys {
		k, err := single(t.fields[0].Type, keys[i])
		if err != nil {
			return nil, err
		}
		v, err := single(t.fields[1].Type, values[i])
		if err != nil {
			return nil, err
		}
		out = append(out, [2]any{k, v})
	}
	return out, nil
}
