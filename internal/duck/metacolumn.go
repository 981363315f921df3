package duck

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// metadata returns the SQL of a metadata column, which has the DuckDB type typ.
func (p *part) metadata(f catalog.Field, typ string) (string, error) {
	of := func(literal func(*ScanFile) string) string {
		return perFile(p.places, typ, func(place int) string { return literal(&p.Files[place]) })
	}
	switch f.ID {
	case catalog.PathID:
		return of(func(file *ScanFile) string { return textSQL(file.Ref.Path) }), nil
	case catalog.PosID:
		return "file_row_number", nil
	case catalog.PlaceID:
		return of(func(file *ScanFile) string { return fmt.Sprint(catalog.PlaceOf(file.Number, 0)) }) + " + file_row_number", nil
	case catalog.SpecFieldID:
		return of(func(file *ScanFile) string { return fmt.Sprint(int(file.Spec)) }), nil
	case catalog.PartitionID:
		return of(func(file *ScanFile) string { return tupleSQL(f.Type.Fields, file.Partition) }), nil
	case catalog.ChangeTypeID, catalog.ChangeOrdinalID, catalog.CommitSnapshotID:
		return p.constant(f, typ), nil
	case catalog.RowID:
		first := of(func(file *ScanFile) string { return numberSQL(file.FirstRowID) })
		return p.stored(f, first+" + file_row_number"), nil
	case catalog.LastUpdatedID:
		return p.stored(f, of(func(file *ScanFile) string {
			if file.FirstRowID == nil { // as old as its format, the file's rows have no lineage
				return "NULL"
			}
			return fmt.Sprint(file.Sequence)
		})), nil
	}
	return "", errs.New(errs.Unsupported, "read column", f.Name, "a metadata column that Tarn doesn't know")
}

// stored returns the SQL of a metadata column that files may have, and of the value for rows without one.
func (p *part) stored(f catalog.Field, otherwise string) string {
	if p.first().ByName { // only its ID tells it from a column of the user's
		return otherwise
	}
	p.read(f, "NULL")
	return "COALESCE(" + sourceName(f.ID) + ", " + otherwise + ")"
}

func numberSQL(n *int64) string {
	if n == nil {
		return "NULL"
	}
	return fmt.Sprint(*n)
}

// tupleSQL returns a struct of the values of fields, which are primitive.
func tupleSQL(fields []catalog.Field, values []transform.Value) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		var v transform.Value
		if i < len(values) {
			v = values[i]
		}
		parts[i] = quote.Name(f.Name) + " := " + literalSQL(f.Type.Primitive, v)
	}
	return "struct_pack(" + strings.Join(parts, ", ") + ")"
}
