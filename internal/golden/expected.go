package golden

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// expected converts a value as the checks write it, by Spark's name of its type: integers and doubles are numbers, NaN
// and infinities strings; decimals, dates and timestamps are strings; binary is hex; maps are lists of pairs.
func expected(raw any, typ string) (Value, error) {
	if raw == nil {
		return nil, nil
	}
	name, inner := splitType(typ)
	switch name {
	case "double", "float":
		return strconv.ParseFloat(fmt.Sprint(raw), 64)
	case "array":
		return expectedList(raw, inner[0])
	case "map":
		return expectedMap(raw, inner)
	case "struct":
		return expectedStruct(raw, inner)
	}
	n, isNumber := raw.(json.Number)
	if isNumber || strings.HasPrefix(name, "decimal") {
		text := n.String()
		if !isNumber {
			text = fmt.Sprint(raw)
		}
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			return nil, fmt.Errorf("%q is no %s", text, typ)
		}
		return r, nil
	}
	return raw, nil
}

// splitType cuts "map<string,array<int>>" into "map" and its parts, commas of inner types left alone.
func splitType(typ string) (name string, inner []string) {
	name, rest, nested := strings.Cut(typ, "<")
	if !nested {
		return typ, nil
	}
	rest = strings.TrimSuffix(rest, ">")
	depth, start := 0, 0
	for i, r := range rest {
		switch r {
		case '<', '(':
			depth++
		case '>', ')':
			depth--
		case ',':
			if depth == 0 {
				inner, start = append(inner, rest[start:i]), i+1
			}
		}
	}
	return name, append(inner, rest[start:])
}

func expectedList(raw any, element string) (Value, error) {
	items, ok := raw.([]any)
	if !ok {
		return nil, fmt.Errorf("%v is no list", raw)
	}
	out := make([]Value, len(items))
	for i, item := range items {
		v, err := expected(item, element)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func expectedMap(raw any, types []string) (Value, error) {
	entries, ok := raw.([]any)
	if !ok {
		return nil, fmt.Errorf("%v is no list of pairs", raw)
	}
	out := Map{}
	for _, e := range entries {
		pair, ok := e.([]any)
		if !ok || len(pair) != 2 {
			return nil, fmt.Errorf("%v is no pair", e)
		}
		key, err := expected(pair[0], types[0])
		if err != nil {
			return nil, err
		}
		value, err := expected(pair[1], types[1])
		if err != nil {
			return nil, err
		}
		out = append(out, [2]Value{key, value})
	}
	return out.sorted(), nil
}

func expectedStruct(raw any, fields []string) (Value, error) {
	values, ok := raw.(map[string]any)
	if !ok || len(values) != len(fields) {
		return nil, fmt.Errorf("%v is no struct of %d fields", raw, len(fields))
	}
	out := Struct{}
	for _, f := range fields {
		name, typ, _ := strings.Cut(f, ":")
		v, err := expected(values[name], typ)
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}
