package property

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hamba/avro/v2"
	"github.com/hamba/avro/v2/ocf"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/transform"
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

// setSpec gives a table another current spec: an older one when that is the same. A field that an older spec has keeps its
// ID, whatever its place, but in tables of format version 1, whose IDs go by place.
func (l *lab) setSpec(name string, spec []string) {
	l.t.Helper()
	table := l.load(name)
	next, ids := firstPartitionID-1, map[string]int{}
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
		switch {
		case table.FormatVersion == 1:
			id = firstPartitionID + i
			next = max(next, id)
		case !ok:
			next++
			id = next
		}
		fields = append(fields, map[string]any{
			"name": fmt.Sprintf("p%d_%d", last+1, i), "transform": f.Transform.String(), "source-id": int(f.Sources[0]), "field-id": id,
		})
	}
	for _, s := range table.Specs {
		same := func(f catalog.PartitionField, field any) bool {
			have := field.(map[string]any)
			return len(f.Sources) == 1 && int(f.ID) == have["field-id"] && int(f.Sources[0]) == have["source-id"] && f.Transform.String() == have["transform"]
		}
		if slices.EqualFunc(s.Fields, fields, same) {
			l.evolve(name, func(meta map[string]any) {
				meta["default-spec-id"] = int(s.ID)
				if _, ok := meta["partition-spec"]; ok {
					meta["partition-spec"] = fields
				}
			})
			return
		}
	}
	l.evolve(name, func(meta map[string]any) {
		meta["partition-specs"] = append(meta["partition-specs"].([]any), map[string]any{"spec-id": last + 1, "fields": fields})
		meta["default-spec-id"], meta["last-partition-id"] = last+1, next
		if _, ok := meta["partition-spec"]; ok {
			meta["partition-spec"] = fields
		}
	})
}

// firstPartitionID is the ID of a table's first partition field.
const firstPartitionID = 1000

// upgrade gives a table a newer format version. Its files have the sequence number 0 then, or no row IDs.
func (l *lab) upgrade(name string, version int) {
	l.t.Helper()
	l.evolve(name, func(meta map[string]any) {
		meta["format-version"] = version
		for _, gone := range []string{"schema", "partition-spec"} {
			delete(meta, gone)
		}
		for _, counter := range []string{"last-sequence-number", "next-row-id"}[:version-1] {
			if _, ok := meta[counter]; !ok {
				meta[counter] = 0
			}
		}
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

// retype gives a column another Iceberg type, which its old values are values of.
func (l *lab) retype(name, col, typ string) {
	l.t.Helper()
	l.setSchema(name, func(_, schema map[string]any) {
		for _, f := range schema["fields"].([]any) {
			if f := f.(map[string]any); f["name"] == col {
				f["type"] = typ
			}
		}
	})
	parsed, err := transform.ParseType(typ)
	l.must(err)
	own, err := duck.TypeSQL(catalog.Type{Primitive: parsed})
	l.must(err)
	l.exec("ALTER TABLE %s ALTER %s TYPE %s", name, col, own)
}

// rename gives a column another name.
func (l *lab) rename(name, col, to string) {
	l.t.Helper()
	l.setSchema(name, func(_, schema map[string]any) {
		for _, f := range schema["fields"].([]any) {
			if f := f.(map[string]any); f["name"] == col {
				f["name"] = to
			}
		}
	})
	l.exec("ALTER TABLE %s RENAME COLUMN %s TO %s", name, col, to)
}

// drop drops a column, which old specs may still be by.
func (l *lab) drop(name, col string) {
	l.t.Helper()
	l.setSchema(name, func(_, schema map[string]any) {
		schema["fields"] = slices.DeleteFunc(schema["fields"].([]any), func(f any) bool { return f.(map[string]any)["name"] == col })
	})
	l.exec("ALTER TABLE %s DROP COLUMN %s", name, col)
}

// setProperties sets properties of a table.
func (l *lab) setProperties(name string, props map[string]string) {
	l.t.Helper()
	l.evolve(name, func(meta map[string]any) {
		all, _ := meta["properties"].(map[string]any)
		if all == nil {
			all = map[string]any{}
		}
		for k, v := range props {
			all[k] = v
		}
		meta["properties"] = all
	})
}

// stripSummaries takes things out of the current manifest list that a writer need not have written: partition summaries,
// what they say of NaN, and, in format version 1, counts of files.
func (l *lab) stripSummaries(name string, rng *rand.Rand) {
	l.t.Helper()
	path := strings.TrimPrefix(l.currentList(name), "file://")
	if path == "" {
		return
	}
	data, err := os.ReadFile(path)
	l.must(err)
	dec, err := ocf.NewDecoder(bytes.NewReader(data), ocf.WithDecoderSchemaCache(&avro.SchemaCache{}))
	l.must(err)
	isFirst := strings.Contains(dec.Schema().String(), `"format-version":"1"`) || !strings.Contains(dec.Schema().String(), "sequence_number")
	var out bytes.Buffer
	meta := dec.Metadata()
	enc, err := ocf.NewEncoder(string(meta["avro.schema"]), &out, ocf.WithMetadata(meta), ocf.WithEncoderSchemaCache(&avro.SchemaCache{}))
	l.must(err)
	for dec.HasNext() {
		var m map[string]any
		l.must(dec.Decode(&m))
		if chance(rng, 2) {
			m["partitions"] = nil
		}
		if isFirst && chance(rng, 2) {
			for _, count := range []string{"added_files_count", "existing_files_count", "deleted_files_count", "added_data_files_count", "existing_data_files_count", "deleted_data_files_count"} {
				if _, ok := m[count]; ok {
					m[count] = nil
				}
			}
		}
		l.must(enc.Encode(m))
	}
	l.must(dec.Error())
	l.must(enc.Close())
	l.must(os.WriteFile(path, out.Bytes(), 0o600))
}

// currentList returns the path of the current snapshot's manifest list; "" without a snapshot.
func (l *lab) currentList(name string) string {
	var path string
	l.evolve(name, func(meta map[string]any) {
		snapshots, _ := meta["snapshots"].([]any)
		for _, s := range snapshots {
			s := s.(map[string]any)
			if fmt.Sprint(s["snapshot-id"]) == fmt.Sprint(meta["current-snapshot-id"]) {
				path, _ = s["manifest-list"].(string)
			}
		}
	})
	return path
}
