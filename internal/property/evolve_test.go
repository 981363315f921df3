package property

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// evolve rewrites a table's metadata as its next version, as another engine's ALTER TABLE would.
func (l *lab) evolve(name string, change func(meta map[string]any)) {
	l.t.Helper()
	folder := filepath.Join(append([]string{l.warehouse}, append(strings.Split(name, "."), "metadata")...)...)
	version := 0
	for {
		if _, err := os.Stat(filepath.Join(folder, fmt.Sprintf("v%d.metadata.json", version+1))); err != nil {
			break
		}
		version++
	}
	data, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("v%d.metadata.json", version)))
	l.must(err)
	var meta map[string]any
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	l.must(dec.Decode(&meta))
	change(meta)
	data, err = json.Marshal(meta)
	l.must(err)
	l.must(os.WriteFile(filepath.Join(folder, fmt.Sprintf("v%d.metadata.json", version+1)), data, 0o600))
}

// setSpec gives a table a new current spec. A field that an older spec has keeps its ID, whatever its place.
func (l *lab) setSpec(name string, spec []string) {
	l.t.Helper()
	table := l.load(name)
	next, ids := 999, map[string]int{}
	last := 0
	for _, s := range table.Specs {
		last = max(last, int(s.ID))
		for _, f := range s.Fields {
			next = max(next, int(f.ID))
			if len(f.Sources) == 1 {
				ids[fmt.Sprint(f.Sources[0], f.Transform)] = int(f.ID)
			}
		}
	}
	fields := []any{}
	for i, text := range spec {
		f := l.partitionField(table.Schema, text)
		id, ok := ids[fmt.Sprint(f.Sources[0], f.Transform)]
		if !ok {
			next++
			id = next
		}
		fields = append(fields, map[string]any{
			"name": fmt.Sprintf("p%d_%d", last+1, i), "transform": f.Transform.String(), "source-id": int(f.Sources[0]), "field-id": id,
		})
	}
	l.evolve(name, func(meta map[string]any) {
		meta["partition-specs"] = append(meta["partition-specs"].([]any), map[string]any{"spec-id": last + 1, "fields": fields})
		meta["default-spec-id"], meta["last-partition-id"] = last+1, next
	})
}

// setSchema gives a table a new current schema, made from the last one.
func (l *lab) setSchema(name string, change func(meta, schema map[string]any)) {
	l.t.Helper()
	l.evolve(name, func(meta map[string]any) {
		schemas := meta["schemas"].([]any)
		data, err := json.Marshal(schemas[len(schemas)-1])
		l.must(err)
		var schema map[string]any
		l.must(json.Unmarshal(data, &schema))
		schema["schema-id"] = len(schemas)
		change(meta, schema)
		meta["schemas"], meta["current-schema-id"] = append(schemas, schema), len(schemas)
	})
}

// promote makes an int column a long.
func (l *lab) promote(name, col string) {
	l.t.Helper()
	l.setSchema(name, func(_, schema map[string]any) {
		for _, f := range schema["fields"].([]any) {
			if f := f.(map[string]any); f["name"] == col {
				f["type"] = "long"
			}
		}
	})
	l.exec("ALTER TABLE %s ALTER %s TYPE BIGINT", name, col)
}

// addColumn adds an int column at the end, which is NULL in the rows that are there.
func (l *lab) addColumn(name, col string) {
	l.t.Helper()
	l.setSchema(name, func(meta, schema map[string]any) {
		last, err := meta["last-column-id"].(json.Number).Int64()
		l.must(err)
		field := map[string]any{"id": last + 1, "name": col, "required": false, "type": "int"}
		schema["fields"] = append(schema["fields"].([]any), field)
		meta["last-column-id"] = last + 1
	})
	l.exec("ALTER TABLE %s ADD COLUMN %s INTEGER", name, col)
}
