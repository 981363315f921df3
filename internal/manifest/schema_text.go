package manifest

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// column writes a field of an Avro record: its values may be null, unless it is required.
func column(id int, name, typ string, required bool) string {
	if required {
		return fmt.Sprintf(`{"name":"%s","type":%s,"field-id":%d}`, name, typ, id)
	}
	return fmt.Sprintf(`{"name":"%s","type":["null",%s],"default":null,"field-id":%d}`, name, typ, id)
}

func record(name string, columns []string) string {
	return fmt.Sprintf(`{"type":"record","name":"%s","fields":[%s]}`, name, strings.Join(columns, ","))
}

// byID is a map of numbers or bytes by column, as an array of pairs.
func byID(key, value int, typ string) string {
	pair := record(fmt.Sprintf("k%d_v%d", key, value), []string{column(key, "key", `"int"`, true), column(value, "value", typ, true)})
	return fmt.Sprintf(`{"type":"array","items":%s,"logicalType":"map"}`, pair)
}

func arrayOf(id int, typ string) string {
	return fmt.Sprintf(`{"type":"array","items":%s,"element-id":%d}`, typ, id)
}

const (
	avroInt  = `"int"`
	avroLong = `"long"`
	avroText = `"string"`
	avroRaw  = `"bytes"`
)

// entrySchemaText returns the Avro schema of manifest entries of a format version, whose partitions are records of the type.
// The writer encodes entries by it, field by field.
func entrySchemaText(version int, partition string) string {
	columns := []string{column(0, "status", avroInt, true), column(1, "snapshot_id", avroLong, version == 1)}
	if version > 1 {
		columns = append(columns, column(3, "sequence_number", avroLong, false), column(4, "file_sequence_number", avroLong, false))
	}
	return record("manifest_entry", append(columns, column(2, "data_file", record("r2", fileColumns(version, partition)), true)))
}

func fileColumns(version int, partition string) []string {
	var out []string
	add := func(id int, name, typ string, required bool) { out = append(out, column(id, name, typ, required)) }
	if version > 1 {
		add(134, "content", avroInt, true)
	}
	add(100, "file_path", avroText, true)
	add(101, "file_format", avroText, true)
	add(102, "partition", partition, true)
	add(103, "record_count", avroLong, true)
	add(104, "file_size_in_bytes", avroLong, true)
	if version == 1 {
		add(105, "block_size_in_bytes", avroLong, true)
	}
	add(108, "column_sizes", byID(117, 118, avroLong), false)
	add(109, "value_counts", byID(119, 120, avroLong), false)
	add(110, "null_value_counts", byID(121, 122, avroLong), false)
	add(137, "nan_value_counts", byID(138, 139, avroLong), false)
	add(125, "lower_bounds", byID(126, 127, avroRaw), false)
	add(128, "upper_bounds", byID(129, 130, avroRaw), false)
	add(131, "key_metadata", avroRaw, false)
	add(132, "split_offsets", arrayOf(133, avroLong), false)
	if version > 1 {
		add(135, "equality_ids", arrayOf(136, avroInt), false)
	}
	add(140, "sort_order_id", avroInt, false)
	if version > 2 {
		add(142, "first_row_id", avroLong, false)
	}
	if version > 1 {
		add(143, "referenced_data_file", avroText, false)
	}
	if version > 2 {
		add(144, "content_offset", avroLong, false)
		add(145, "content_size_in_bytes", avroLong, false)
	}
	return out
}

// listSchemaText returns the Avro schema of manifest lists of a format version.
func listSchemaText(version int) string {
	must := version > 1
	columns := []string{
		column(500, "manifest_path", avroText, true), column(501, "manifest_length", avroLong, true), column(502, "partition_spec_id", avroInt, true),
	}
	if version > 1 {
		columns = append(columns, column(517, "content", avroInt, true), column(515, "sequence_number", avroLong, true),
			column(516, "min_sequence_number", avroLong, true))
	}
	summary := record("r508", []string{
		column(509, "contains_null", `"boolean"`, true), column(518, "contains_nan", `"boolean"`, false),
		column(510, "lower_bound", avroRaw, false), column(511, "upper_bound", avroRaw, false),
	})
	columns = append(columns, column(503, "added_snapshot_id", avroLong, true),
		column(504, "added_files_count", avroInt, must), column(505, "existing_files_count", avroInt, must), column(506, "deleted_files_count", avroInt, must),
		column(512, "added_rows_count", avroLong, must), column(513, "existing_rows_count", avroLong, must), column(514, "deleted_rows_count", avroLong, must),
		column(507, "partitions", arrayOf(508, summary), false), column(519, "key_metadata", avroRaw, false))
	if version > 2 {
		columns = append(columns, column(520, "first_row_id", avroLong, false))
	}
	return record("manifest_file", columns)
}

// WrittenTypes returns the types in which a spec's partition values are written. Of a field whose type can't be told any more
// it is what its transform gives whatever it is applied to.
func WrittenTypes(spec catalog.PartitionSpec) ([]transform.Type, error) {
	types := TupleTypes(spec)
	for i, f := range spec.Fields {
		if types[i].Kind != transform.None {
			continue
		}
		switch f.Transform.Op {
		case transform.Bucket, transform.Year, transform.Month, transform.Hour:
			types[i].Kind = transform.Int
		case transform.Day:
			types[i].Kind = transform.Date
		case transform.Void: // its values are NULL, of whatever type
			types[i].Kind = transform.Int
		default:
			return nil, errs.New(errs.Unsupported, "write manifest", f.Name, "the type of the partition field's values can't be told: %s isn't known as a transform, "+
				"or its source column is gone", f.Transform)
		}
	}
	return types, nil
}

// partitionSchemaText returns the Avro schema of a spec's partitions. Avro defines a name once, so a second fixed type of the
// same form has its field's ID in its name.
func partitionSchemaText(spec catalog.PartitionSpec, types []transform.Type) string {
	var columns []string
	names := map[string]bool{}
	for i, f := range spec.Fields {
		columns = append(columns, column(int(f.ID), AvroName(f.Name), valueSchemaText(types[i], func(name string) string {
			if names[name] {
				name += fmt.Sprintf("_%d", f.ID)
			}
			names[name] = true
			return name
		}), false))
	}
	return record("r102", columns)
}

// valueSchemaText returns the Avro schema of values, by the spec's appendix A.
func valueSchemaText(t transform.Type, named func(string) string) string {
	logical := func(base, what string) string { return fmt.Sprintf(`{"type":"%s","logicalType":"%s"}`, base, what) }
	instant := func(what string, utc bool) string {
		return fmt.Sprintf(`{"type":"long","logicalType":"%s","adjust-to-utc":%t}`, what, utc)
	}
	switch t.Kind {
	case transform.Date:
		return logical("int", "date")
	case transform.Time:
		return logical("long", "time-micros")
	case transform.Timestamp, transform.TimestampTZ:
		return instant("timestamp-micros", t.Kind == transform.TimestampTZ)
	case transform.TimestampNS, transform.TimestampTZNS:
		return instant("timestamp-nanos", t.Kind == transform.TimestampTZNS)
	case transform.Decimal:
		return fmt.Sprintf(`{"type":"fixed","name":"%s","size":%d,"logicalType":"decimal","precision":%d,"scale":%d}`,
			named(fmt.Sprintf("decimal_%d_%d", t.Precision, t.Scale)), decimalBytes(t.Precision), t.Precision, t.Scale)
	case transform.UUID:
		return fmt.Sprintf(`{"type":"fixed","name":"%s","size":16,"logicalType":"uuid"}`, named("uuid_fixed"))
	case transform.Fixed:
		return fmt.Sprintf(`{"type":"fixed","name":"%s","size":%d}`, named(fmt.Sprintf("fixed_%d", t.Length)), t.Length)
	case transform.Binary:
		return avroRaw
	}
	return `"` + t.Kind.String() + `"` // boolean, int, long, float, double and string have the same names in Avro
}

// decimalBytes is how many bytes hold every decimal of so many digits.
func decimalBytes(precision int) int {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	return most.Sub(most, big.NewInt(1)).BitLen()/8 + 1
}
