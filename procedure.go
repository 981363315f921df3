package tarn

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/write"
	"github.com/tarndb/tarn/transform"
)

// procedure is one that CALL runs, by the names and arguments of Spark's.
type procedure struct {
	params []parameter
	output []Column
	run    func(ctx context.Context, c *call) ([][]any, error)
}

// parameter is an argument that a procedure takes.
type parameter struct {
	name     string
	kind     parameterKind
	optional bool
}

type parameterKind uint8

const (
	textParameter parameterKind = iota
	integerParameter
	booleanParameter
	timeParameter
	mapParameter
)

var parameterNames = []string{"text in quotes", "a whole number", "true or false", "a timestamp", "map('key', value, ...)"}

var moved = []Column{{"previous_snapshot_id", "BIGINT"}, {"current_snapshot_id", "BIGINT"}}

var picked = []Column{{"source_snapshot_id", "BIGINT"}, {"current_snapshot_id", "BIGINT"}}

var theTable = parameter{name: "table"}

// procedures are those that there are.
var procedures = map[string]procedure{
	"rollback_to_snapshot":  {[]parameter{theTable, {name: "snapshot_id", kind: integerParameter}}, moved, rollbackToSnapshot},
	"rollback_to_timestamp": {[]parameter{theTable, {name: "timestamp", kind: timeParameter}}, moved, rollbackToTimestamp},
	"set_current_snapshot": {
		[]parameter{theTable, {name: "snapshot_id", kind: integerParameter, optional: true}, {name: "ref", optional: true}}, moved, setCurrentSnapshot,
	},
	"cherrypick_snapshot": {[]parameter{theTable, {name: "snapshot_id", kind: integerParameter}}, picked, cherrypickSnapshot},
	"publish_changes":     {[]parameter{theTable, {name: "wap_id"}}, picked, publishChanges},
	"fast_forward": {
		[]parameter{theTable, {name: "branch"}, {name: "to"}},
		[]Column{{"branch_updated", "VARCHAR"}, {"previous_ref", "BIGINT"}, {"updated_ref", "BIGINT"}}, fastForward,
	},
	"ancestors_of": {
		[]parameter{theTable, {name: "snapshot_id", kind: integerParameter, optional: true}}, []Column{{"snapshot_id", "BIGINT"}, {"timestamp", "BIGINT"}}, ancestorsOf,
	},
	"add_files": {
		[]parameter{
			theTable, {name: "source_table"}, {name: "partition_filter", kind: mapParameter, optional: true},
			{name: "check_duplicate_files", kind: booleanParameter, optional: true}, {name: "parallelism", kind: integerParameter, optional: true},
		},
		[]Column{{"added_files_count", "BIGINT"}, {"changed_partition_count", "BIGINT"}}, addFiles,
	},
	"snapshot": {
		[]parameter{
			{name: "source_table"}, theTable, {name: "location", optional: true}, {name: "properties", kind: mapParameter, optional: true},
			{name: "parallelism", kind: integerParameter, optional: true}, {name: "partition_types", kind: mapParameter, optional: true},
		},
		[]Column{{"imported_files_count", "BIGINT"}}, snapshotTable,
	},
	"migrate": {
		[]parameter{
			theTable, {name: "properties", kind: mapParameter, optional: true}, {name: "drop_backup", kind: booleanParameter, optional: true},
			{name: "backup_table_name", optional: true}, {name: "parallelism", kind: integerParameter, optional: true},
			{name: "partition_types", kind: mapParameter, optional: true},
		},
		[]Column{{"migrated_files_count", "BIGINT"}}, migrateTable,
	},
	"register_table": {
		[]parameter{theTable, {name: "metadata_file"}},
		[]Column{{"current_snapshot_id", "BIGINT"}, {"total_records_count", "BIGINT"}, {"total_data_files_count", "BIGINT"}}, registerTable,
	},
}

// call is a procedure being called.
type call struct {
	session *Session
	catalog string // "": the default one
	name    string
	args    map[string]sql.Argument
}

// call runs a procedure.
func (s *Session) call(ctx context.Context, st sql.Call) (*Rows, error) {
	p, ok := procedures[st.Procedure]
	if !ok {
		return nil, s.noProcedure(st.Procedure)
	}
	if st.Catalog != "" && !s.engine.isCatalog(st.Catalog) {
		return nil, errs.New(errs.NotFound, "call", st.Procedure, "there is no catalog %q", st.Catalog)
	}
	args, err := p.bind(st)
	if err != nil {
		return nil, err
	}
	rows, err := p.run(ctx, &call{session: s, catalog: st.Catalog, name: st.Procedure, args: args})
	if err != nil {
		return nil, err
	}
	return valueRows(p.output, rows), nil
}

func (s *Session) noProcedure(name string) error {
	err := errs.New(errs.NotFound, "call", name, "there is no such procedure")
	names := slices.Sorted(maps.Keys(procedures))
	if near := errs.Nearest(name, names); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("there are %s", strings.Join(names, ", "))
}

// bind gives each argument its parameter: those without a name come first, in their order.
func (p procedure) bind(st sql.Call) (map[string]sql.Argument, error) {
	out := map[string]sql.Argument{}
	named := false
	for i, a := range st.Args {
		at := i
		switch {
		case a.Name != "":
			named = true
			at = slices.IndexFunc(p.params, func(p parameter) bool { return strings.EqualFold(p.name, a.Name) })
		case named:
			return nil, errs.New(errs.Invalid, "call", st.Procedure, "an argument without a name stands behind one with a name")
		}
		if at < 0 || at >= len(p.params) {
			return nil, errs.New(errs.Invalid, "call", st.Procedure, "it takes no argument %q", shownName(a.Name, i)).WithHint("it takes %s", p.signature())
		}
		param := p.params[at]
		if _, twice := out[param.name]; twice {
			return nil, errs.New(errs.Invalid, "call", st.Procedure, "the argument %s is given twice", param.name)
		}
		if isNull(a) && param.optional {
			continue
		}
		if !param.takes(a) {
			return nil, errs.New(errs.Invalid, "call", st.Procedure, "the argument %s must be %s", param.name, parameterNames[param.kind])
		}
		out[param.name] = a
	}
	for _, param := range p.params {
		if _, ok := out[param.name]; !ok && !param.optional {
			return nil, errs.New(errs.Invalid, "call", st.Procedure, "the argument %s is missing", param.name).WithHint("it takes %s", p.signature())
		}
	}
	return out, nil
}

func shownName(name string, i int) string {
	if name == "" {
		return strconv.Itoa(i + 1)
	}
	return name
}

func isNull(a sql.Argument) bool {
	return !a.IsArray && !a.IsMap && a.Value.Kind == sql.NullLiteral
}

func (p procedure) signature() string {
	parts := make([]string, len(p.params))
	for i, param := range p.params {
		parts[i] = param.name + " => " + parameterNames[param.kind]
		if param.optional {
			parts[i] = "[" + parts[i] + "]"
		}
	}
	return strings.Join(parts, ", ")
}

func (p parameter) takes(a sql.Argument) bool {
	if a.IsArray || a.IsMap {
		return a.IsMap && p.kind == mapParameter
	}
	switch p.kind {
	case textParameter:
		return a.Value.Kind == sql.StringLiteral
	case integerParameter:
		_, err := strconv.ParseInt(a.Value.Text, 10, 64)
		return a.Value.Kind == sql.NumberLiteral && err == nil
	case booleanParameter:
		return a.Value.Kind == sql.BooleanLiteral
	case timeParameter:
		return a.Value.Kind == sql.StringLiteral || a.Value.Kind == sql.TimestampLiteral
	}
	return false
}

func (c *call) text(name string) string { return c.args[name].Value.Text }

// snapshotID returns the argument that bind has found to be a number; ok is false where it isn't given.
func (c *call) snapshotID() (n int64, ok bool) {
	a, ok := c.args["snapshot_id"]
	n, err := strconv.ParseInt(a.Value.Text, 10, 64)
	return n, ok && err == nil
}

func (c *call) fail(kind errs.Kind, format string, args ...any) *errs.Error {
	return errs.New(kind, "call", c.name, format, args...)
}

// tableName returns the parts of the table's name, which is one in the catalog of the procedure unless it says another.
func (c *call) tableName() ([]string, error) {
	parts, err := sql.ParseName(c.text("table"))
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "read the name of a table", c.text("table"), err)
	}
	if c.catalog != "" && (len(parts) < 3 || !c.session.engine.isCatalog(parts[0])) {
		parts = append([]string{c.catalog}, parts...)
	}
	return parts, nil
}

func (c *call) table(ctx context.Context) (*lake.Catalog, *catalog.Table, error) {
	parts, err := c.tableName()
	if err != nil {
		return nil, nil, err
	}
	return c.session.engine.existing(ctx, parts)
}

func movedRow(m lake.Move, err error) ([][]any, error) {
	if err != nil {
		return nil, err
	}
	return [][]any{{idOf(m.From), int64(m.To)}}, nil
}

func idOf(id *catalog.SnapshotID) any {
	if id == nil {
		return nil
	}
	return int64(*id)
}

func rollbackToSnapshot(ctx context.Context, c *call) ([][]any, error) {
	in, t, err := c.table(ctx)
	if err != nil {
		return nil, err
	}
	id, _ := c.snapshotID()
	return movedRow(in.RollbackTo(ctx, t, catalog.SnapshotID(id)))
}

func rollbackToTimestamp(ctx context.Context, c *call) ([][]any, error) {
	in, t, err := c.table(ctx)
	if err != nil {
		return nil, err
	}
	micros, err := transform.ParseValue(transform.Type{Kind: transform.TimestampTZ}, c.text("timestamp"))
	if err != nil { // without a zone it is UTC
		micros, err = transform.ParseValue(transform.Type{Kind: transform.Timestamp}, c.text("timestamp"))
	}
	if err != nil {
		return nil, c.fail(errs.Invalid, "%v", err)
	}
	const perMilli = 1000
	n := micros.(int64)
	ms := n / perMilli
	if n%perMilli > 0 {
		ms++
	}
	return movedRow(in.RollbackToTime(ctx, t, ms))
}

func setCurrentSnapshot(ctx context.Context, c *call) ([][]any, error) {
	id, hasID := c.snapshotID()
	_, hasRef := c.args["ref"]
	if hasID == hasRef {
		return nil, c.fail(errs.Invalid, "either snapshot_id or ref must be given")
	}
	in, t, err := c.table(ctx)
	if err != nil {
		return nil, err
	}
	return movedRow(in.SetCurrentSnapshot(ctx, t, catalog.SnapshotID(id), c.text("ref")))
}

func cherrypickSnapshot(ctx context.Context, c *call) ([][]any, error) {
	in, t, err := c.table(ctx)
	if err != nil {
		return nil, err
	}
	id, _ := c.snapshotID()
	now, err := in.Cherrypick(ctx, t, catalog.SnapshotID(id))
	return [][]any{{id, int64(now)}}, err
}

func publishChanges(ctx context.Context, c *call) ([][]any, error) {
	in, t, err := c.table(ctx)
	if err != nil {
		return nil, err
	}
	source, now, err := in.PublishChanges(ctx, t, c.text("wap_id"))
	return [][]any{{int64(source), int64(now)}}, err
}

func fastForward(ctx context.Context, c *call) ([][]any, error) {
	in, t, err := c.table(ctx)
	if err != nil {
		return nil, err
	}
	m, err := in.FastForward(ctx, t, c.text("branch"), c.text("to"))
	return [][]any{{c.text("branch"), idOf(m.From), int64(m.To)}}, err
}

func ancestorsOf(ctx context.Context, c *call) ([][]any, error) {
	in, t, err := c.table(ctx)
	if err != nil {
		return nil, err
	}
	var of *catalog.SnapshotID
	if id, ok := c.snapshotID(); ok {
		of = new(catalog.SnapshotID)
		*of = catalog.SnapshotID(id)
	}
	line, err := in.Ancestors(t, of)
	var rows [][]any
	for _, s := range line {
		rows = append(rows, []any{int64(s.ID), s.TimestampMs})
	}
	return rows, err
}

func registerTable(ctx context.Context, c *call) ([][]any, error) {
	parts, err := c.tableName()
	if err != nil {
		return nil, err
	}
	in, id, err := c.session.engine.newName(ctx, parts)
	if err != nil {
		return nil, err
	}
	t, err := in.Register(ctx, id, c.text("metadata_file"))
	if err != nil {
		return nil, err
	}
	if t.Snapshot == nil {
		return [][]any{{nil, nil, nil}}, nil
	}
	return [][]any{{int64(t.Snapshot.ID), total(t.Snapshot, "total-records"), total(t.Snapshot, "total-data-files")}}, nil
}

// addFiles looks for duplicates whatever check_duplicate_files says: a table with a file twice can't be read rightly.
func addFiles(ctx context.Context, c *call) ([][]any, error) {
	var in lake.Import
	var err error
	if in.From, err = c.sourceFolder(); err != nil {
		return nil, err
	}
	if in.Where, err = c.pairs("partition_filter"); err != nil {
		return nil, err
	}
	owner, t, err := c.table(ctx)
	if err != nil {
		return nil, err
	}
	files, partitions := 0, 0
	err = c.session.reading(ctx, func(conn *duck.Conn) (err error) {
		files, partitions, err = write.AddFiles(ctx, conn, owner, t, in)
		return err
	})
	return [][]any{{int64(files), int64(partitions)}}, err
}

// reading opens DuckDB for what a procedure reads of files.
func (s *Session) reading(ctx context.Context, read func(*duck.Conn) error) error {
	db, err := duck.Open(ctx, duck.Options{Threads: s.threads(), MemoryBytes: s.memory(), TempDir: s.engine.temp.Path()})
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	return read(conn)
}

// sourceFolder returns the folder that source_table names, as `parquet`.`/path` or by its path alone.
func (c *call) sourceFolder() (string, error) {
	if text := c.text("source_table"); strings.HasPrefix(text, "/") || strings.HasPrefix(text, "file:/") {
		return text, nil
	}
	name, err := sql.ParseName(c.text("source_table"))
	if err != nil {
		return "", errs.Wrap(errs.Invalid, "read the name of a source", c.text("source_table"), err)
	}
	format := strings.ToLower(name[0])
	switch {
	case len(name) == 2 && format == "parquet":
		return name[1], nil
	case len(name) == 2 && (format == "orc" || format == "avro"):
		return "", c.fail(errs.Unsupported, "files of %s can't be added, only of Parquet", format)
	}
	return "", c.fail(errs.Unsupported, "%s is no folder of Parquet files, and tables of a Hive metastore aren't read here", c.text("source_table")).
		WithHint("name the folder: source_table => '`parquet`.`/path`'")
}

// pairs returns a map of texts, as folders spell values; numbers stand for their text.
func (c *call) pairs(name string) (map[string]string, error) {
	items := c.args[name].Items
	out := map[string]string{}
	for i := 0; i+1 < len(items); i += 2 {
		if items[i].Kind != sql.StringLiteral || items[i+1].Kind == sql.NullLiteral {
			return nil, c.fail(errs.Invalid, "the keys of %s must be texts, and its values not NULL", name)
		}
		out[items[i].Text] = items[i+1].Text
	}
	return out, nil
}

// total returns a count of a snapshot's summary; nil where it says none.
func total(s *catalog.Snapshot, name string) any {
	n, err := strconv.ParseInt(s.Summary[name], 10, 64)
	if err != nil {
		return nil
	}
	return n
}

// valueRows is a result of integers and texts.
func valueRows(columns []Column, rows [][]any) *Rows {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.Name, Type: arrow.PrimitiveTypes.Int64, Nullable: true}
		if c.Type == "VARCHAR" {
			fields[i].Type = arrow.BinaryTypes.String
		}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for _, row := range rows {
		for i, v := range row {
			switch to := b.Field(i).(type) {
			case *array.Int64Builder:
				if n, ok := v.(int64); ok {
					to.Append(n)
					continue
				}
				to.AppendNull()
			case *array.StringBuilder:
				to.Append(fmt.Sprint(v))
			}
		}
	}
	source := &onceSource{batch: b.NewRecordBatch()}
	return &Rows{columns: columns, source: source, close: source.release}
}
