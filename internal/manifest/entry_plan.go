package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
)

// The fields of manifest entries, by their IDs in the spec.
var (
	entryFields = []knownField{
		{id: 0, names: "status", form: formNumber, required: true},
		{id: 1, names: "snapshot_id", form: formNumber},
		{id: 3, names: "sequence_number", form: formNumber},
		{id: 4, names: "file_sequence_number", form: formNumber},
		{id: 2, names: "data_file", form: formRecord, required: true},
	}
	fileFields = []knownField{
		{id: 134, names: "content", form: formNumber},
		{id: 100, names: "file_path", form: formText, required: true},
		{id: 101, names: "file_format", form: formText, required: true},
		{id: 102, names: "partition", form: formRecord},
		{id: 103, names: "record_count", form: formNumber, required: true},
		{id: 104, names: "file_size_in_bytes", form: formNumber, required: true},
		{id: 108, names: "column_sizes", form: formCountsByID},
		{id: 109, names: "value_counts", form: formCountsByID},
		{id: 110, names: "null_value_counts", form: formCountsByID},
		{id: 137, names: "nan_value_counts", form: formCountsByID},
		{id: 125, names: "lower_bounds", form: formBoundsByID},
		{id: 128, names: "upper_bounds", form: formBoundsByID},
		{id: 131, names: "key_metadata", form: formBytes},
		{id: 132, names: "split_offsets", form: formNumbers},
		{id: 135, names: "equality_ids", form: formNumbers},
		{id: 140, names: "sort_order_id", form: formNumber},
		{id: 142, names: "first_row_id", form: formNumber},
		{id: 143, names: "referenced_data_file", form: formText},
		{id: 144, names: "content_offset", form: formNumber},
		{id: 145, names: "content_size_in_bytes", form: formNumber},
	}
)

// entryPlan is how to read the entries of manifests of one schema and one partition spec. It doesn't change.
type entryPlan struct {
	steps        []step
	file         []step
	tuple        tuplePlan
	hasSequences bool // else they are all 0, as in format version 1
}

func newEntryPlan(schema *avro.Schema, spec tupleSpec) (*entryPlan, error) {
	steps, err := stepsOf(schema, entryFields)
	if err != nil {
		return nil, err
	}
	p := &entryPlan{steps: steps}
	for _, s := range steps {
		p.hasSequences = p.hasSequences || s.id == 3 && s.form == formNumber
		if s.id != 2 || s.form != formRecord {
			continue
		}
		if p.file, err = stepsOf(s.value.Type, fileFields); err != nil {
			return nil, fmt.Errorf("in data_file: %w", err)
		}
	}
	record := &avro.Schema{Kind: avro.Record}
	for _, s := range p.file {
		if s.id == 102 && s.form == formRecord {
			record = s.value.Type
		}
	}
	p.tuple, err = newTuplePlan(record, spec)
	return p, err
}

// read reads one entry as it is written. Its partition is left as bytes.
func (p *entryPlan) read(d *avro.Decoder, wants StatColumns, e *Entry) {
	e.reset()
	for i := range p.steps {
		s := &p.steps[i]
		if !s.present(d) {
			continue
		}
		switch s.id {
		case 0:
			e.Status = Status(d.Int())
		case 1:
			e.snapshotID = d.Long()
			e.SnapshotID = &e.snapshotID
		case 3:
			e.Sequence = d.Long()
		case 4:
			e.FileSequence = d.Long()
		case 2:
			p.readFile(d, wants, e)
		}
	}
}

func (p *entryPlan) readFile(d *avro.Decoder, wants StatColumns, e *Entry) {
	for i := range p.file {
		s := &p.file[i]
		switch {
		case !wants.any() && s.isStatistic():
			d.Skip(s.written)
			continue
		case !s.present(d):
			continue
		case s.isStatistic():
			s.readStatistic(d, wants, e)
		default:
			s.readFileField(d, e)
		}
		e.given |= fileFieldBit(s.id)
	}
}

// readFileField reads what isn't a statistic of columns.
func (s *step) readFileField(d *avro.Decoder, e *Entry) {
	switch s.id {
	case 134:
		e.Content = Content(d.Int())
	case 100:
		e.path = d.Bytes()
	case 101:
		e.Format = formatNamed(d.Bytes())
	case 102:
		from := d.Offset()
		d.Skip(s.value.Type)
		e.tuple = d.Since(from)
	case 103:
		e.Rows = d.Long()
	case 104:
		e.Bytes = d.Long()
	case 131:
		e.KeyMetadata = d.Bytes()
	case 132:
		e.SplitOffsets = s.numbers(d, e.SplitOffsets)
	case 135:
		e.numbers = s.numbers(d, e.numbers)
		for _, id := range e.numbers {
			e.EqualityIDs = append(e.EqualityIDs, int(id))
		}
	case 140:
		e.sortOrderID = int(d.Int())
		e.SortOrderID = &e.sortOrderID
	case 142:
		e.firstRowID = d.Long()
		e.FirstRowID = &e.firstRowID
	case 143:
		e.Referenced = string(d.Bytes())
	case 144:
		e.offset = d.Long()
		e.Offset = &e.offset
	case 145:
		e.length = d.Long()
		e.Length = &e.length
	}
}

func (s *step) isStatistic() bool { return s.form == formCountsByID || s.form == formBoundsByID }

func (s *step) readStatistic(d *avro.Decoder, wants StatColumns, e *Entry) {
	switch s.id {
	case 108:
		s.counts(d, wants, e.ColumnSizes)
	case 109:
		s.counts(d, wants, e.ValueCounts)
	case 110:
		s.counts(d, wants, e.NullCounts)
	case 137:
		s.counts(d, wants, e.NaNCounts)
	case 125:
		s.bounds(d, wants, e.Lower)
	case 128:
		s.bounds(d, wants, e.Upper)
	}
}

// StatColumns says of which columns the statistics are wanted. The zero value is none.
type StatColumns struct {
	All bool
	IDs []int
}

func (w StatColumns) any() bool { return w.All || len(w.IDs) > 0 }

func (w StatColumns) has(id int) bool { return w.All || slices.Contains(w.IDs, id) }

// formatNamed returns a file format in the spec's spelling; writers differ in case.
func formatNamed(name []byte) catalog.FileFormat {
	for _, f := range []catalog.FileFormat{catalog.Parquet, catalog.Avro, catalog.ORC, catalog.Puffin} {
		if strings.EqualFold(string(name), string(f)) {
			return f
		}
	}
	return catalog.FileFormat(strings.ToLower(string(name)))
}
