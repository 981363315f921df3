package write

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// AddFiles makes Parquet files the table's where they lie, as one snapshot, and returns how many there are and of how many
// partitions. All their rows are checked, on conn: that they are of the partitions that their folders say, and have values where the table
// wants some. The table isn't changed before.
func AddFiles(ctx context.Context, conn *duck.Conn, c *lake.Catalog, t *catalog.Table, in lake.Import) (files, partitions int, err error) {
	if _, err := targetOf(t); err != nil { // its spec is one that rows can be checked by
		return 0, 0, err
	}
	how, err := c.ImportTable(t, in)
	if err != nil {
		return 0, 0, err
	}
	found, err := c.FindImports(ctx, how, in)
	if err != nil || len(found) == 0 {
		return 0, 0, err
	}
	tuples := map[string]bool{}
	for i := range found {
		if found[i].Unproved {
			if err := checkImport(ctx, conn, how, &found[i]); err != nil {
				return 0, 0, err
			}
		}
		tuples[catalog.TupleKey(t.DefaultSpec, found[i].Tuple)] = true
	}
	_, err = c.CommitImports(ctx, t, how, in, found)
	return len(found), len(tuples), err
}

// rowCheck is a condition that all rows of an added file must satisfy.
type rowCheck struct {
	value, fails string // SQL
	says         string // what must be so, for people
}

// checkImport reads a file's rows and refuses those that aren't as its folders say.
func checkImport(ctx context.Context, conn *duck.Conn, t *catalog.Table, f *lake.ImportedFile) error {
	checks, err := checksOf(t, f)
	if err != nil || len(checks) == 0 {
		return err
	}
	var list []string
	for _, c := range checks {
		list = append(list, fmt.Sprintf("CAST(count(*) FILTER (%s) AS VARCHAR), coalesce(left(any_value(CAST(%s AS VARCHAR)) FILTER (%s), %d), 'NULL')",
			c.fails, c.value, c.fails, shownLength))
	}
	rows, err := texts(ctx, conn, fmt.Sprintf("SELECT %s FROM read_parquet(%s, hive_partitioning = false)", strings.Join(list, ", "), duck.QuotePath(f.Ref.Local)))
	if err != nil {
		return errs.Wrap(errs.Corrupt, "check rows of", f.Ref.Path, err)
	}
	for i, c := range checks {
		if count := *rows[0][2*i]; count != "0" {
			return errs.New(errs.Invalid, "add files from", f.Folder, "%s, and in %s rows of %s it isn't so, such as one with %s", c.says, count, f.Ref.Path, *rows[0][2*i+1])
		}
	}
	return nil
}

func checksOf(t *catalog.Table, f *lake.ImportedFile) ([]rowCheck, error) {
	var out []rowCheck
	for at, p := range t.Spec().Fields {
		if p.Transform.Op == transform.Void || f.Names[p.Sources[0]] == "" {
			continue
		}
		value, err := importedSQL(t, f, p.Sources[0])
		if err != nil {
			return nil, err
		}
		want := "NULL"
		if f.Tuple[at] != nil {
			result := catalog.Field{Name: p.Name, Type: catalog.Type{Primitive: p.Transform.ResultType(p.SourceType)}, WriteDefault: f.Tuple[at], HasWriteDefault: true}
			if want, err = duck.WriteDefaultSQL(result); err != nil {
				return nil, err
			}
		}
		out = append(out, rowCheck{value, fmt.Sprintf("%s IS DISTINCT FROM %s", transformSQL(p.Transform, value), want),
			fmt.Sprintf("it says that %s is %s", p.Name, p.Transform.Human(p.SourceType, f.Tuple[at]))})
	}
	for _, column := range t.Schema.Fields {
		if !column.Required || f.Names[column.ID] == "" {
			continue
		}
		name := quote.Name(f.Names[column.ID])
		out = append(out, rowCheck{"NULL", name + " IS NULL", fmt.Sprintf("the column %s is NOT NULL in the table", column.Name)})
	}
	return out, nil
}

// importedSQL is a column of the file as one of the table's type.
func importedSQL(t *catalog.Table, f *lake.ImportedFile, id catalog.FieldID) (string, error) {
	column, _ := t.Schema.Field(id)
	own, err := duck.TypeSQL(column.Type)
	return fmt.Sprintf("CAST(%s AS %s)", quote.Name(f.Names[id]), own), err
}
