package datafile

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// avro copies a file in Avro.
func (c *copier) avro(ctx context.Context, j *judge, s source) (footer, error) {
	return c.copied(ctx, j, s, func(in fileio.File, to string) (rows int64, err error) {
		r, err := avro.Open(in, in.Size())
		if err != nil {
			return 0, err
		}
		defer r.Close()
		record, err := r.Schema()
		if err != nil {
			return 0, err
		}
		plan, err := planAvro(j, record)
		if err != nil {
			return 0, err
		}
		return plan.copy(ctx, r, to)
	})
}

// avroPlan says how the records of a file become rows of a copy.
type avroPlan struct {
	fields []avroField
	schema *arrow.Schema
	isBare bool // the file has no IDs
}

// avroField is a field of the file's record. read is nil for one that isn't wanted.
type avroField struct {
	typ  *avro.Schema
	read avroRead
	at   int // its column
}

// avroRead reads a value into a builder.
type avroRead func(d *avro.Decoder, b array.Builder)

func planAvro(j *judge, record *avro.Schema) (*avroPlan, error) {
	if record.Kind != avro.Record {
		return nil, errs.New(errs.Corrupt, "", "", "its objects are no records but of type %s", record.Kind)
	}
	p, isBare := avroPlanner{}, !haveAvroIDs(record)
	if len(j.wants) > 0 && isBare {
		if err := j.identifyAvro(&p); err != nil {
			return nil, err
		}
	}
	plan := &avroPlan{isBare: isBare}
	var columns []arrow.Field
	for _, f := range record.Fields {
		out := avroField{typ: f.Type}
		id, names := p.lookup(f, p.names)
		if want := fieldByID(j.wants, id); want != nil && f.Type.Kind != avro.Null {
			field, read, err := p.value(f.Type, names, want)
			if err != nil {
				return nil, errs.Wrap(errs.Unsupported, "column", catalog.ShownName(want.Name), err)
			}
			field.Name, field.Metadata = want.Name, ArrowID(id)
			out.read, out.at = read, len(columns)
			columns = append(columns, field)
		}
		plan.fields = append(plan.fields, out)
	}
	if len(columns) == 0 { // rows are counted, but a file has none without a column
		nothing := func(_ *avro.Decoder, b array.Builder) { b.AppendNull() }
		plan.fields = append(plan.fields, avroField{read: nothing})
		columns = append(columns, arrow.Field{Name: "row", Type: arrow.FixedWidthTypes.Boolean, Nullable: true})
	}
	plan.schema = arrow.NewSchema(columns, nil)
	return plan, nil
}

// identifyAvro makes the table's name mapping give the IDs.
func (j *judge) identifyAvro(p *avroPlanner) (err error) {
	if err := j.identify(nil); err != nil {
		return err
	}
	p.names, err = j.mapping()
	p.byName = true
	return err
}

func haveAvroIDs(s *avro.Schema) bool {
	if s.ElementID != avro.NoID || s.KeyID != avro.NoID || s.ValueID != avro.NoID || s.Items != nil && haveAvroIDs(s.Items) {
		return true
	}
	for _, f := range s.Fields {
		if f.ID != avro.NoID || haveAvroIDs(f.Type) {
			return true
		}
	}
	for _, b := range s.Branches {
		if haveAvroIDs(b) {
			return true
		}
	}
	return false
}

// fieldByID returns the field with the ID, or nil.
func fieldByID(fields []catalog.Field, id catalog.FieldID) *catalog.Field {
	for i := range fields {
		if fields[i].ID == id {
			return &fields[i]
		}
	}
	return nil
}

func (p *avroPlan) copy(ctx context.Context, r *avro.Reader, to string) (rows int64, err error) {
	w, err := newCopyWriter(to, p.schema, p.isBare)
	if err != nil {
		return 0, err
	}
	defer func() { err = w.close(err) }()
	b := array.NewRecordBuilder(memory.DefaultAllocator, p.schema)
	defer b.Release()
	held, bytes := 0, 0
	for r.Next() {
		bytes += p.record(r.Decoder(), b)
		if err := r.Decoder().Err(); err != nil {
			return 0, err
		}
		if held++; held < GroupRows && bytes < GroupBytes {
			continue
		}
		if err := p.flush(ctx, w, b); err != nil {
			return 0, err
		}
		held, bytes = 0, 0
	}
	if err := r.Err(); err != nil {
		return 0, err
	}
	err = p.flush(ctx, w, b)
	return w.rows, err
}

// record reads one record and returns how many bytes it took.
func (p *avroPlan) record(d *avro.Decoder, b *array.RecordBuilder) int {
	from := d.Offset()
	for _, f := range p.fields {
		if f.read == nil {
			d.Skip(f.typ)
		} else {
			f.read(d, b.Field(f.at))
		}
	}
	return d.Offset() - from
}

func (p *avroPlan) flush(ctx context.Context, w *copyWriter, b *array.RecordBuilder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	return w.add(batch)
}
