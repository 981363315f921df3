package property

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/write"
	"github.com/tarndb/tarn/transform"
)

// lab has a lake of its own, an engine over it, and a DuckDB instance that keeps the rows of every table as they were
// before they were written.
type lab struct {
	t         testing.TB
	warehouse string
	catalog   *lake.Catalog
	conn      *duck.Conn
	engine    *tarn.Engine
	spaces    map[string]bool
	shadows   int // tables of appendFixed
}

func newLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel() // a lab shares nothing with others
	l := &lab{t: t, warehouse: t.TempDir(), spaces: map[string]bool{}}
	var err error
	l.catalog, err = lake.Open(t.Context(), lake.Config{Name: "lake", Type: "hadoop", Warehouse: l.warehouse, CreateIfMissing: true})
	l.must(err)
	db, err := duck.Open(t.Context(), duck.Options{Threads: 1})
	l.must(err)
	l.conn, err = db.Connect()
	l.must(err)
	// A judge mustn't have the faults of who is judged: a statement means what DuckDB makes of it without its optimizers.
	all := l.judge("SELECT string_agg(name, ',') FROM duckdb_optimizers()")
	l.must(all.err)
	l.must(l.conn.Avoid(t.Context(), strings.Split(fmt.Sprint(all.rows[0][0]), ",")))
	l.engine, err = tarn.Open(t.Context(), tarn.Config{
		Catalogs: []tarn.CatalogConfig{{Name: "lake", Type: "hadoop", Warehouse: l.warehouse, CreateIfMissing: true}},
		TempDir:  t.TempDir(), MemoryBytes: 2 << 30, Threads: 2,
	})
	l.must(err)
	t.Cleanup(func() {
		l.conn.Close()
		l.must(errors.Join(db.Close(), l.engine.Close(), l.catalog.Close()))
	})
	return l
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) exec(format string, args ...any) {
	l.t.Helper()
	text := fmt.Sprintf(format, args...)
	if err := l.conn.Exec(context.Background(), text); err != nil {
		l.t.Fatalf("%s\n%v", text, err)
	}
}

// definition is a table to be made. A spec's field is "bucket[4] id": a transform and its column. Columns are "id long".
type definition struct {
	name    string // namespace.table
	columns []string
	spec    []string
	props   map[string]string
	version int // of the format; 0: 2
}

// create makes an empty table in the lake, and its twin that keeps the rows.
func (l *lab) create(d definition) {
	l.t.Helper()
	def := lake.NewTable{Ident: strings.Split(d.name, "."), Schema: &catalog.Schema{}, Properties: d.props, FormatVersion: d.version}
	var twin []string
	for i, text := range d.columns {
		name, typ, _ := strings.Cut(text, " ")
		t, err := transform.ParseType(typ)
		l.must(err)
		f := catalog.Field{ID: catalog.FieldID(i + 1), Name: name, Type: catalog.Type{Primitive: t}}
		def.Schema.Fields = append(def.Schema.Fields, f)
		own, err := duck.TypeSQL(f.Type)
		l.must(err)
		twin = append(twin, quote.Name(name)+" "+own)
	}
	for i, text := range d.spec {
		f := l.partitionField(def.Schema, text)
		f.Name = fmt.Sprintf("p%d", i)
		def.Spec = append(def.Spec, f)
	}
	space := def.Ident[:1]
	if !l.spaces[space[0]] {
		l.must(l.catalog.CreateNamespace(context.Background(), space))
		l.exec("CREATE SCHEMA %s", space[0])
		l.spaces[space[0]] = true
	}
	_, err := l.catalog.CreateTable(context.Background(), def)
	l.must(err)
	l.exec("CREATE TABLE %s (%s)", d.name, strings.Join(twin, ", "))
}

func (l *lab) partitionField(s *catalog.Schema, text string) catalog.PartitionField {
	l.t.Helper()
	fn, name, _ := strings.Cut(text, " ")
	parsed, err := transform.Parse(fn)
	l.must(err)
	for _, f := range s.Fields {
		if f.Name == name {
			return catalog.PartitionField{Sources: []catalog.FieldID{f.ID}, Transform: parsed, SourceType: f.Type.Primitive}
		}
	}
	l.t.Fatalf("no column %s", name)
	return catalog.PartitionField{}
}

func (l *lab) load(name string) *catalog.Table {
	l.t.Helper()
	t, err := l.catalog.LoadTable(context.Background(), strings.Split(name, "."), catalog.Version{})
	l.must(err)
	return t
}

// append commits rows, given as SQL tuples, under the table's current spec, and gives them to the twin.
func (l *lab) append(name string, rows ...string) {
	l.t.Helper()
	l.must(l.tryAppend(name, rows...))
}

func (l *lab) tryAppend(name string, rows ...string) error {
	l.t.Helper()
	return l.tryAppendQuery(name, "VALUES "+strings.Join(rows, ", "))
}

// inOrder keeps the order of rows, by which tests know their positions.
var inOrder = write.Options{Workers: 1}

func (l *lab) tryAppendQuery(name, query string) error {
	l.t.Helper()
	l.exec("CREATE OR REPLACE TEMP TABLE batch AS SELECT * FROM %s LIMIT 0", name)
	l.exec("INSERT INTO batch %s", query)
	table := l.load(name)
	if slices.ContainsFunc(table.Schema.Fields, isFixed) {
		l.appendFixed(table)
	} else if _, err := write.AppendWith(context.Background(), l.conn, l.catalog, table, "SELECT * FROM batch", inOrder); err != nil {
		return err
	}
	l.exec("INSERT INTO %s SELECT * FROM batch", name)
	return nil
}

// table makes a table and fills it by one append for each batch.
func (l *lab) table(d definition, batches ...[]string) {
	l.t.Helper()
	l.create(d)
	for _, rows := range batches {
		l.append(d.name, rows...)
	}
}

// mode is a way in which the engine may answer a query.
type mode []string

var (
	auto  = mode{}
	small = mode{"SET tarn.pack_bytes = 0"} // one group per pack
	off   = mode{"SET tarn.spj = 'off'"}
)

func (m mode) String() string { return "[" + strings.Join(m, "; ") + "]" }

func (l *lab) session(m mode) *tarn.Session {
	l.t.Helper()
	s := l.engine.Session()
	for _, set := range m {
		rows, err := s.Query(context.Background(), set)
		l.must(err)
		l.must(rows.Close())
	}
	return s
}

// answer is a query's columns, as "name type", and rows.
type answer struct {
	columns []string
	rows    []golden.Row
	err     error
}

// ask lets the engine answer.
func (l *lab) ask(m mode, query string) (a answer) {
	l.t.Helper()
	rows, err := l.session(m).Query(context.Background(), query)
	if err != nil {
		return answer{err: err}
	}
	defer rows.Close()
	for _, c := range rows.Columns() {
		a.columns = append(a.columns, c.Name+" "+c.Type)
	}
	for {
		b, err := rows.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return a
		}
		if err != nil {
			return answer{err: err}
		}
		more, err := golden.RowsOf(b)
		b.Release()
		l.must(err)
		a.rows = append(a.rows, more...)
	}
}

// judge lets plain DuckDB answer from the rows that were kept.
func (l *lab) judge(query string) (a answer) {
	l.t.Helper()
	ctx := context.Background()
	res, err := l.conn.Query(ctx, query)
	if err != nil {
		return answer{err: err}
	}
	defer res.Close()
	for _, c := range res.Columns() {
		a.columns = append(a.columns, c.Name+" "+c.Type)
	}
	for {
		ch, err := res.Next(ctx)
		if errors.Is(err, io.EOF) {
			return a
		}
		if err != nil {
			return answer{err: err}
		}
		rec, err := ch.Record()
		ch.Close()
		l.must(err)
		more, err := golden.RowsOf(rec)
		rec.Release()
		l.must(err)
		a.rows = append(a.rows, more...)
	}
}

// plannedCore is a part that runs by groups.
type plannedCore struct {
	Rows   string   `json:"rows"`
	Short  []string `json:"short_texts"`
	Keys   []string `json:"keys"`
	Groups int      `json:"groups"`
	Packs  int      `json:"packs"`
	// Stragglers and Routed are files whose rows are sent to their groups, Everywhere the tables that each pack reads whole.
	Stragglers int `json:"stragglers"`
	Routed     []struct {
		Table  string `json:"table"`
		Files  int    `json:"files"`
		Reason string `json:"reason"`
		Of     struct {
			Files int `json:"files"`
		} `json:"of"`
	} `json:"routed"`
	Everywhere []struct {
		Table string `json:"table"`
	} `json:"everywhere"`
	Divided   []string `json:"divided_groups"`
	Operators []struct {
		Operator string `json:"operator"`
		Detail   string `json:"detail"`
		Strategy string `json:"strategy"`
	} `json:"operators"`
	Dropped struct {
		Groups int `json:"groups"`
		Files  int `json:"files"`
	} `json:"dropped"`
}

// planned is the part of EXPLAIN (FORMAT json) that tests look at.
type planned struct {
	Cores []plannedCore `json:"cores"`
	Whole []struct {
		Operator string `json:"operator"`
		Strategy string `json:"strategy"`
		Reason   string `json:"reason"`
	} `json:"whole"`
	Aggregates []struct {
		Strategy string `json:"strategy"`
		Reason   string `json:"reason"`
	} `json:"aggregates"`
	Dynamic []explain.Dynamic `json:"dynamic_filters"`
	Scans   []struct {
		Table  string         `json:"table"`
		Counts explain.Counts `json:"counts"`
	} `json:"scans"`
}

func (l *lab) explain(m mode, query string) (planned, error) {
	l.t.Helper()
	var p planned
	text, err := l.session(m).Explain(context.Background(), query, tarn.ExplainOptions{JSON: true})
	if err == nil {
		err = json.Unmarshal([]byte(text), &p)
	}
	return p, err
}

func (p planned) reasons() string {
	var out []string
	for _, w := range p.Whole {
		out = append(out, w.Reason)
	}
	return strings.Join(out, "\n")
}

// differ tells how two answers differ, or "". An error is only like another of its kind, and an internal one is always wrong.
func differ(want, got answer, ordered bool) string {
	if want.err != nil || got.err != nil {
		if want.err != nil && got.err != nil && errs.KindOf(want.err) == errs.KindOf(got.err) && errs.KindOf(got.err) != errs.Internal {
			return ""
		}
		return fmt.Sprintf("error %v, wanted %v", got.err, want.err)
	}
	if d := golden.DiffNames(want.columns, got.columns); d != "" {
		return d
	}
	if ordered {
		return golden.DiffOrdered(want.rows, got.rows)
	}
	return golden.Diff(want.rows, got.rows)
}

// agree fails unless the engine answers as plain DuckDB does, group by group and whole.
func (l *lab) agree(query string) {
	l.t.Helper()
	want := l.judge(query)
	l.must(want.err)
	for _, m := range []mode{small, off} {
		if d := differ(want, l.ask(m, query), false); d != "" {
			l.t.Errorf("%v %s\n%s", m, query, d)
		}
	}
}

// single returns the only value of an answer as text.
func (l *lab) single(m mode, query string) string {
	l.t.Helper()
	a := l.ask(m, query)
	l.must(a.err)
	if len(a.rows) != 1 || len(a.rows[0]) != 1 {
		l.t.Fatalf("%s gives %d rows, wanted one value", query, len(a.rows))
	}
	return golden.Text(a.rows[0][0])
}
