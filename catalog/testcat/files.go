package testcat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

func (t *table) addFiles(lines []string) error {
	for _, line := range lines {
		if err := t.addLine(&scanner{line}); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// addLine adds a file for each tuple that the line stands for.
func (t *table) addLine(sc *scanner) error {
	tuple, err := sc.list()
	if err != nil {
		return err
	}
	f := catalog.DataFile{Format: catalog.Parquet, Spec: t.DefaultSpec, Rows: 1, Ref: catalog.FileRef{Bytes: 1000}}
	of := map[catalog.FieldID]stats{}
	for sc.peek() != "" {
		if err := t.readAttribute(sc, &f, of); err != nil {
			return err
		}
	}
	spec, ok := t.Specs[f.Spec]
	if !ok || len(spec.Fields) != len(tuple) {
		return fmt.Errorf("spec %d has %d fields, the tuple %d", f.Spec, len(spec.Fields), len(tuple))
	}
	tuples := [][]transform.Value{nil}
	for i, text := range tuple {
		values, err := readValues(spec.Fields[i], text)
		if err != nil {
			return err
		}
		tuples = multiply(tuples, values)
	}
	for _, values := range tuples {
		f := f
		f.Partition = values
		f.Ref.Path = t.path()
		if t.stats == nil {
			t.stats = map[string]map[catalog.FieldID]stats{}
		}
		t.stats[f.Ref.Path] = of
		t.files = append(t.files, f)
	}
	return nil
}

func (t *table) path() string { return fmt.Sprintf("%s/%03d.parquet", t.Location, len(t.files)) }

func (t *table) readAttribute(sc *scanner, f *catalog.DataFile, of map[catalog.FieldID]stats) error {
	name := sc.word()
	if err := sc.want("="); err != nil {
		return err
	}
	value := sc.word()
	if name == "local" {
		f.Ref.Local = strings.Trim(value, "'")
		return nil
	}
	if known, err := t.readStatistic(name, value, of); known {
		return err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return err
	}
	switch name {
	case "spec":
		f.Spec = catalog.SpecID(n)
	case "rows":
		f.Rows = n
	case "bytes":
		f.Ref.Bytes = n
	case "contradicts":
		f.Contradicts |= 1 << uint(n)
		for sc.accept(",") {
			if n, err = strconv.ParseInt(sc.word(), 10, 64); err != nil {
				return err
			}
			f.Contradicts |= 1 << uint(n)
		}
	case "deletes":
		f.Deletes = make([]int, n)
	default:
		return fmt.Errorf("found %q, wanted spec, rows, bytes, contradicts, deletes, local, or nulls, lower or upper of a column", name)
	}
	return nil
}

// readValues reads a value of a partition field, or a range of numbers.
func readValues(f catalog.PartitionField, text string) ([]transform.Value, error) {
	if strings.EqualFold(text, "null") {
		return []transform.Value{nil}, nil
	}
	typ := f.Transform.ResultType(f.SourceType)
	if f.Transform.Op == transform.OpUnknown {
		typ = transform.Type{Kind: transform.String}
	}
	first, last, isRange := strings.Cut(text, "..")
	if !isRange || typ.Kind != transform.Int && typ.Kind != transform.Long {
		v, err := transform.ParseValue(typ, strings.Trim(text, "'"))
		return []transform.Value{v}, err
	}
	from, err := strconv.Atoi(first)
	if err != nil {
		return nil, err
	}
	to, err := strconv.Atoi(last)
	if err != nil {
		return nil, err
	}
	var out []transform.Value
	for n := from; n <= to; n++ {
		v, err := transform.ParseValue(typ, strconv.Itoa(n))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// multiply appends each value to each tuple.
func multiply(tuples [][]transform.Value, values []transform.Value) [][]transform.Value {
	var out [][]transform.Value
	for _, t := range tuples {
		for _, v := range values {
			out = append(out, append(t[:len(t):len(t)], v))
		}
	}
	return out
}
