package plainreader

import (
	"fmt"
	"math/big"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/tarndb/tarn/internal/golden"
)

// projection turns what lies in one file into values of a schema. It holds the values that the file's partition tuple has
// for identity fields, by the source's field ID.
type projection struct {
	identity map[int]any
}

// member returns a struct's field: what the file has, else what the partition tuple has, else the initial default, else NULL.
func (p projection) member(r record, f field) (golden.Value, error) {
	v, ok := r[f.ID]
	if !ok {
		v, ok = p.identity[f.ID]
	}
	if !ok && f.Default != nil {
		var err error
		if v, err = defaultOf(f); err != nil {
			return nil, err
		}
	}
	out, err := p.value(f.Type, v)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", f.Name, err)
	}
	return out, nil
}

// at follows a path of fields into a record. A struct that is NULL, or that the file lacks, has NULL fields.
func (p projection) at(r record, path []field) (golden.Value, error) {
	for _, f := range path[:len(path)-1] {
		if r, _ = r[f.ID].(record); r == nil {
			return nil, nil
		}
	}
	return p.member(r, path[len(path)-1])
}

// value brings a value of a file into a type.
func (p projection) value(t typ, v any) (golden.Value, error) {
	if v == nil || t.name == "unknown" {
		return nil, nil
	}
	switch t.name {
	case "struct":
		if r, ok := v.(record); ok {
			return p.structure(t, r)
		}
	case "list":
		if items, ok := v.([]any); ok {
			return p.list(t.fields[0].Type, items)
		}
	case "map":
		if entries, ok := v.(pairs); ok {
			return p.entries(t, entries)
		}
	default:
		if out, ok := promote(t.name, v); ok {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%w: %T as %s", ErrUnknown, v, t.name)
}

func (p projection) structure(t typ, r record) (golden.Value, error) {
	out := golden.Struct{}
	for _, f := range t.fields {
		v, err := p.member(r, f)
		if err != nil {
			return nil, err
		}
		out[f.Name] = v
	}
	return out, nil
}

func (p projection) list(element typ, items []any) (golden.Value, error) {
	out := []golden.Value{}
	for _, item := range items {
		v, err := p.value(element, item)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (p projection) entries(t typ, in pairs) (golden.Value, error) {
	out := golden.Map{}
	for _, e := range in {
		key, err := p.value(t.fields[0].Type, e[0])
		if err != nil {
			return nil, err
		}
		item, err := p.value(t.fields[1].Type, e[1])
		if err != nil {
			return nil, err
		}
		out = append(out, [2]golden.Value{key, item})
	}
	sort.Slice(out, func(i, j int) bool { return golden.Text(out[i][0]) < golden.Text(out[j][0]) })
	return out, nil
}

var (
	bareUUID = regexp.MustCompile(`^(.{8})(.{4})(.{4})(.{4})(.{12})$`)
	bareDate = regexp.MustCompile(`^[+-]?\d+-\d\d-\d\d$`)
)

// promote brings a primitive value into a type that its own may be promoted to. Golden values don't tell int from long, float
// from double, nor the decimals' widths, so that only dates change.
func promote(name string, v any) (golden.Value, bool) {
	text, isText := v.(string)
	_, isNumber := v.(*big.Rat)
	switch name, _, _ := strings.Cut(name, "("); name {
	case "boolean":
		_, ok := v.(bool)
		return v, ok
	case "int", "long", "decimal":
		return v, isNumber
	case "float", "double":
		_, ok := v.(float64)
		return v, ok
	case "uuid":
		return bareUUID.ReplaceAllString(text, "$1-$2-$3-$4-$5"), isText
	case "timestamp", "timestamptz":
		return cutNanos(midnight(text)), isText
	case "timestamp_ns", "timestamptz_ns":
		if n, ok := v.(*big.Rat); ok { // Avro's nanoseconds come as a bare number
			return timestampText(time.Unix(0, n.Num().Int64())), true
		}
		return midnight(text), isText
	}
	known := name == "string" || name == "binary" || name == "date" || name == "time" || strings.HasPrefix(name, "fixed[")
	return v, isText && known
}

// midnight makes a timestamp of a date.
func midnight(text string) string {
	if bareDate.MatchString(text) {
		return text + " 00:00:00.000000"
	}
	return text
}

// cutNanos takes away what a timestamp of microseconds can't hold; INT96 has nanoseconds.
func cutNanos(text string) string {
	if dot := strings.LastIndexByte(text, '.'); dot >= 0 && len(text) > dot+7 {
		return text[:dot+7]
	}
	return text
}
