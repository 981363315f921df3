package testcat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Add runs more statements. Tables that were loaded before stay as they were.
func (c *Catalog) Add(text string) error {
	list, err := statements(text)
	if err != nil {
		return errs.Wrap(errs.Syntax, "read", "test catalog", err)
	}
	for _, s := range list {
		if err := c.run(s); err != nil {
			return errs.Wrap(errs.Syntax, "read", fmt.Sprintf("test catalog, line %d", s.line), err)
		}
	}
	return nil
}

func (c *Catalog) run(s statement) error {
	head := &scanner{s.text}
	if head.accept("files") {
		t, err := c.named(head.word())
		if err != nil {
			return err
		}
		return t.addFiles(s.lines)
	}
	sc := &scanner{strings.Join(append([]string{s.text}, s.lines...), " ")}
	var err error
	switch {
	case sc.accept("create", "table"):
		err = c.create(sc)
	case sc.accept("alter", "table"):
		var t *table
		if t, err = c.named(sc.word()); err == nil {
			err = t.alter(sc)
		}
	default:
		return fmt.Errorf("found %q, wanted create table, alter table or files", sc.peek())
	}
	if err == nil && sc.peek() != "" {
		err = fmt.Errorf("found %q, wanted the end", sc.peek())
	}
	return err
}

func (c *Catalog) named(name string) (*table, error) {
	t, ok := c.tables[name]
	if !ok {
		return nil, fmt.Errorf("there is no table %q", name)
	}
	return t, nil
}

func (c *Catalog) create(sc *scanner) error {
	id := catalog.Ident(strings.Split(sc.word(), "."))
	if len(id) < 2 {
		return fmt.Errorf("the name %q has no namespace", id)
	}
	t := &table{Table: catalog.Table{
		Catalog: c.Name(), Ident: id, UUID: "test-" + id.String(), FormatVersion: 2, Location: "test://" + id.String(),
		Schema: &catalog.Schema{}, Specs: map[catalog.SpecID]catalog.PartitionSpec{0: {}},
		Snapshot: &catalog.Snapshot{ID: 1, Sequence: 1, Operation: "append"},
	}}
	columns, err := sc.list()
	if err != nil {
		return err
	}
	for _, text := range columns {
		if err := t.addColumn(&scanner{text}); err != nil {
			return err
		}
	}
	c.tables[id.String()] = t
	if sc.accept("partitioned", "by") {
		return t.addSpec(sc, 0)
	}
	return nil
}

func (t *table) alter(sc *scanner) error {
	switch {
	case sc.accept("set", "version"):
		v, err := strconv.Atoi(sc.word())
		t.FormatVersion = v
		return err
	case sc.accept("set", "partitioning"):
		id := catalog.SpecID(len(t.Specs))
		t.DefaultSpec = id
		return t.addSpec(sc, id)
	case sc.accept("add", "column"):
		return t.addColumn(sc)
	case sc.accept("drop", "column"):
		i, err := t.column(sc.word())
		if err == nil {
			t.Schema.Fields = append(t.Schema.Fields[:i:i], t.Schema.Fields[i+1:]...)
		}
		return err
	case sc.accept("rename", "column"):
		i, err := t.column(sc.word())
		if err != nil {
			return err
		}
		err = sc.want("to")
		t.Schema.Fields[i].Name = sc.word()
		return err
	case sc.accept("alter", "column"):
		i, err := t.column(sc.word())
		if err != nil {
			return err
		}
		if err := sc.want("type"); err != nil {
			return err
		}
		return t.promote(i, sc)
	}
	return fmt.Errorf("found %q, wanted set partitioning or version, or add, drop, rename or alter column", sc.peek())
}

// promote changes a column's type, and with it what the specs know as their source's newest type.
func (t *table) promote(i int, sc *scanner) error {
	typ, err := readType(sc)
	if err != nil {
		return err
	}
	t.Schema.Fields[i].Type.Primitive, t.Schema.Fields[i].Promoted = typ, true
	for _, s := range t.Specs {
		for k := range s.Fields {
			if s.Fields[k].Sources[0] == t.Schema.Fields[i].ID {
				s.Fields[k].SourceType = typ
			}
		}
	}
	return nil
}

func (t *table) column(name string) (int, error) {
	for i, f := range t.Schema.Fields {
		if f.Name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s has no column %q", t.Ident, name)
}

func (t *table) addColumn(sc *scanner) error {
	t.lastID++
	f := catalog.Field{ID: t.lastID, Name: sc.word()}
	typ, err := readType(sc)
	if err != nil {
		return err
	}
	f.Type.Primitive = typ
	f.Required = sc.accept("not", "null")
	t.Schema.Fields = append(t.Schema.Fields, f)
	return nil
}

var sqlNames = map[string]string{
	"bigint": "long", "integer": "int", "varchar": "string", "real": "float", "bool": "boolean", "blob": "binary",
}

func readType(sc *scanner) (transform.Type, error) {
	name := sc.word()
	if spec, ok := sqlNames[strings.ToLower(name)]; ok {
		name = spec
	}
	if sc.peek() == "(" {
		args, err := sc.list()
		if err != nil {
			return transform.Type{}, err
		}
		if strings.EqualFold(name, "fixed") {
			name += "[" + strings.Join(args, ",") + "]"
		} else {
			name += "(" + strings.Join(args, ",") + ")"
		}
	}
	return transform.ParseType(name)
}

// addSpec reads a spec of the number.
func (t *table) addSpec(sc *scanner, id catalog.SpecID) error {
	items, err := sc.list()
	if err != nil {
		return err
	}
	spec := catalog.PartitionSpec{ID: id}
	for i, item := range items {
		f, err := t.partitionField(&scanner{item})
		if err != nil {
			return err
		}
		f.ID = catalog.PartitionFieldID(1000 + 100*int(id) + i)
		spec.Fields = append(spec.Fields, f)
	}
	t.Specs[id] = spec
	return nil
}

var timeTransforms = map[string]transform.Op{
	"years": transform.Year, "months": transform.Month, "days": transform.Day, "hours": transform.Hour,
	"year": transform.Year, "month": transform.Month, "day": transform.Day, "hour": transform.Hour, "void": transform.Void,
}

// partitionField reads a column, or a transform of columns. A transform of another name is one that nobody knows.
func (t *table) partitionField(sc *scanner) (catalog.PartitionField, error) {
	name := sc.word()
	f := catalog.PartitionField{}
	columns := []string{name}
	if sc.peek() == "(" {
		args, err := sc.list()
		if err != nil {
			return f, err
		}
		op := strings.ToLower(name)
		columns = args
		switch {
		case op == "bucket" || op == "truncate":
			if f.Transform, err = transform.Parse(op + "[" + args[0] + "]"); err != nil {
				return f, err
			}
			columns = args[1:]
		case timeTransforms[op] != 0:
			f.Transform.Op = timeTransforms[op]
		default:
			f.Transform = transform.Transform{Op: transform.OpUnknown, Text: op}
		}
	}
	if len(columns) == 0 {
		return f, fmt.Errorf("%s is of no column", name)
	}
	for _, c := range columns {
		i, err := t.column(strings.Trim(c, `"`))
		if err != nil {
			return f, err
		}
		f.Sources = append(f.Sources, t.Schema.Fields[i].ID)
		f.SourceType = t.Schema.Fields[i].Type.Primitive
	}
	f.Name = strings.Trim(columns[0], `"`)
	if f.Transform.Op != transform.Identity {
		f.Name += "_" + strings.ToLower(name)
	}
	return f, nil
}
