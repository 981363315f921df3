package write

import (
	"fmt"
	"strings"
)

// typesPage returns docs/types.md: how values of each type are carried, as the code has it.
func typesPage() string {
	var b strings.Builder
	b.WriteString(pageTop)
	b.WriteString("| Iceberg | in queries | in files | INSERT assigns |\n| --- | --- | --- | --- |\n")
	for _, c := range Carriages {
		if c.Refused == "" {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", c.Iceberg, c.Duck, c.Parquet, c.Takes)
		}
	}
	b.WriteString(pageNested)
	for _, c := range Carriages {
		if c.Refused != "" {
			fmt.Fprintf(&b, "- `%s`: %s.\n", c.Iceberg, c.Refused)
		}
	}
	b.WriteString(pageBecoming)
	b.WriteString("| in a query | becomes |\n| --- | --- |\n| `DECIMAL(P, S)` | `decimal(P, S)` |\n")
	for _, t := range Becoming {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", t.Duck, t.Type)
	}
	b.WriteString("| `T[]`, `T[N]` | `list` |\n| `MAP(K, V)` | `map` |\n| `STRUCT(...)` | `struct` |\n")
	b.WriteString("\nOther types are refused:\n\n")
	for _, r := range Refusals {
		fmt.Fprintf(&b, "- `%s`: %s.\n", r.Duck, r.Hint)
	}
	return b.String()
}

const pageTop = `# Types

How values of Iceberg's types pass through queries and files. ` + "`internal/write`" + ` works by the same tables that this page is made of; a
test compares.

## What can be written

INSERT follows SQL's rules of assignment as Spark has them by default (its ANSI store assignment): numbers become numbers, rounded to
the column's scale or cut to an integer; what doesn't fit the column is an error that shows the row, and so is a NULL where none may be.
Texts don't become numbers or dates without a CAST. Times without a zone are taken as of UTC.

`

const pageNested = `
Lists, maps and structs are assigned by their parts. A struct's fields go to the fields of their names, in any letter case, if they are the
column's names, else by position, but in UPDATE and MERGE, where other names are refused. An infinite date or timestamp, which DuckDB
knows and Iceberg doesn't, is an error.

DuckDB writes byte strings of any length, where those of a fixed are to have one in the file's schema: files with such columns are written
once more by another library, which takes about as long again.

What can't be assigned by its type is refused before any row is computed, naming the column and both types. A bare NULL, which is of no type, goes to any column
that may be NULL.

Differences to Spark: a DOUBLE that is too large for a ` + "`float`" + ` is an error, not infinity; numbers and times become texts as DuckDB writes
them; a text may be assigned to a ` + "`uuid`" + `, which Spark has no type for, if it is one; text doesn't take BINARY. Of 0.0 and -0.0, which are
equal, a file may keep one for both.

Tables with these types are read where they can be, but not written to:

`

const pageBecoming = `
Nor can tables be whose columns differ in letter case alone, or whose structs have no fields.

## What a query's columns become

In a table that is made from a query:

`
