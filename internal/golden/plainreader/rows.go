package plainreader

import (
	"context"
	"fmt"

	"github.com/tarndb/tarn/internal/golden"
)

// Rows reads all rows that aren't deleted, in the order of Names.
func (t *Table) Rows(ctx context.Context) ([]golden.Row, error) {
	d, err := t.readDeletes(ctx)
	if err != nil {
		return nil, err
	}
	var out []golden.Row
	for _, f := range t.Files {
		rows, err := t.rowsOf(ctx, f, d)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Path, err)
		}
		out = append(out, rows...)
	}
	return out, nil
}

// read reads all records of a data or delete file, of which there must be as many as the manifest says.
func (t *Table) read(ctx context.Context, f File) (out []record, err error) {
	switch f.format {
	case "parquet":
		out, err = readParquet(ctx, t.Local(f.Path), t.mapping)
	case "avro":
		out, _, err = readAvro(t.Local(f.Path), t.mapping)
	default:
		err = fmt.Errorf("%w: the format %q", ErrUnknown, f.format)
	}
	if err == nil && int64(len(out)) != f.Rows {
		err = fmt.Errorf("it has %d rows, its manifest says %d", len(out), f.Rows)
	}
	return out, err
}

// rowsOf reads the rows of a data file that aren't deleted.
func (t *Table) rowsOf(ctx context.Context, f File, d *deletes) ([]golden.Row, error) {
	records, err := t.read(ctx, f)
	if err != nil {
		return nil, err
	}
	dead, err := d.positionsIn(f)
	if err != nil {
		return nil, err
	}
	p, equality := projection{f.identity}, d.equalityOf(f)
	var out []golden.Row
	for at, r := range records {
		gone, err := deleted(r, p, equality)
		if err != nil {
			return nil, err
		}
		if gone || dead[int64(at)] {
			continue
		}
		f.inherit(r, int64(at))
		row, err := p.row(r, t.columns)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

func deleted(r record, p projection, equality []equalityDeletes) (bool, error) {
	for _, e := range equality {
		key, err := e.key(r, p)
		if err != nil || e.dead[key] {
			return true, err
		}
	}
	return false, nil
}

// inherit gives a record the row lineage that it doesn't bring along. Before version 3 there is none.
func (f File) inherit(r record, at int64) {
	if f.firstRow == nil {
		return
	}
	if r[fieldRowID] == nil {
		r[fieldRowID] = number(*f.firstRow + at)
	}
	if r[fieldLastUpdated] == nil {
		r[fieldLastUpdated] = number(f.sequence)
	}
}

func (p projection) row(r record, columns []field) (golden.Row, error) {
	out := make(golden.Row, len(columns))
	for i, c := range columns {
		v, err := p.member(r, c)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
