package evolve

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/transform"
)

// modelColumn is a column as the model knows it: token tells it from every other that the table ever had.
type modelColumn struct {
	token     int
	name, typ string
}

// modelField is a partition field.
type modelField struct {
	name      string
	token     int // of its column
	transform string
	id        int
}

// model is a table as a list of columns, a list of partition fields and a list of columns that rows are sorted by.
type model struct {
	version int
	columns []modelColumn
	spec    []modelField
	order   []int
	last    int          // the highest token
	lastID  int          // of a partition field
	had     []modelField // all fields that there were, the newest last
}

func (m *model) find(name string) int {
	return slices.IndexFunc(m.columns, func(c modelColumn) bool { return strings.EqualFold(c.name, name) })
}

// holds says whether a partition field that isn't void has the name, unless it is the column's own.
func (m *model) holds(name string, token int) bool {
	return slices.ContainsFunc(m.spec, func(f modelField) bool {
		isOwn := f.transform == "identity" && f.token == token
		return f.transform != "void" && strings.EqualFold(f.name, name) && !isOwn
	})
}

func (m *model) uses(token int) bool {
	return slices.Contains(m.order, token) || slices.ContainsFunc(m.spec, func(f modelField) bool { return f.token == token })
}

var (
	modelNames = strings.Fields("a b c d A B x y a_bucket_4 c_day")
	modelTypes = []string{"int", "bigint", "string", "date"}
	wider      = map[string]string{"int": "bigint"}
	suits      = map[string][]string{ // types that a transform is defined on
		"identity": modelTypes, "bucket[4]": modelTypes, "bucket[8]": modelTypes, "truncate[3]": {"int", "bigint", "string"}, "day": {"date"}, "year": {"date"},
	}
)

// step makes a random change of the model and returns the statement and whether it is allowed.
func (m *model) step(r *rand.Rand) (stmt string, ok bool) {
	name, other := modelNames[r.IntN(len(modelNames))], modelNames[r.IntN(len(modelNames))]
	at := m.find(name)
	if m.version < 3 && r.IntN(40) == 0 {
		m.version++
		return fmt.Sprintf("SET TBLPROPERTIES ('format-version'='%d')", m.version), true
	}
	switch r.IntN(9) {
	case 0, 1:
		return m.add(name, modelTypes[r.IntN(len(modelTypes))], r.IntN(2) == 0)
	case 2:
		if ok = at >= 0 && len(m.columns) > 1 && !m.uses(m.columns[max(at, 0)].token); ok {
			m.columns = slices.Delete(m.columns, at, at+1)
		}
		return "DROP COLUMN " + name, ok
	case 3:
		ok = at >= 0 && (m.find(other) < 0 || m.find(other) == at) && !m.holds(other, m.columns[max(at, 0)].token)
		if ok {
			m.columns[at].name = other
		}
		return "RENAME COLUMN " + name + " TO " + other, ok
	case 4:
		typ := modelTypes[r.IntN(len(modelTypes))]
		if ok = at >= 0 && (m.columns[at].typ == typ || wider[m.columns[at].typ] == typ); ok {
			m.columns[at].typ = typ
		}
		return "ALTER COLUMN " + name + " TYPE " + typ, ok
	case 5:
		if ok = at >= 0; ok {
			c := m.columns[at]
			m.columns = slices.Insert(slices.Delete(m.columns, at, at+1), 0, c)
		}
		return "ALTER COLUMN " + name + " FIRST", ok
	case 6, 7:
		return m.layout(r, name, at)
	}
	if ok = at >= 0; ok {
		m.order = []int{m.columns[at].token}
	}
	if r.IntN(2) == 0 {
		m.order = nil
		return "WRITE UNORDERED", true
	}
	return "WRITE ORDERED BY " + name, ok
}

func (m *model) add(name, typ string, first bool) (string, bool) {
	stmt := "ADD COLUMN " + name + " " + typ
	m.last++ // a token that isn't used is none
	c := modelColumn{m.last, name, typ}
	ok := m.find(name) < 0 && !m.holds(name, 0)
	switch {
	case first && ok:
		m.columns = slices.Insert(m.columns, 0, c)
	case ok:
		m.columns = append(m.columns, c)
	}
	if first {
		stmt += " FIRST"
	}
	return stmt, ok
}

// layout adds or drops a partition field of a column.
func (m *model) layout(r *rand.Rand, column string, at int) (string, bool) {
	fns := []string{"identity", "bucket[4]", "bucket[8]", "truncate[3]", "day", "year"}
	fn := fns[r.IntN(len(fns))]
	parsed, err := transform.Parse(fn)
	if err != nil {
		panic(err)
	}
	term := parsed.SQL(column)
	has := -1
	if at >= 0 {
		has = slices.IndexFunc(m.spec, func(f modelField) bool { return f.token == m.columns[at].token && f.transform == fn })
	}
	if r.IntN(2) == 0 {
		if has < 0 && fn == "identity" { // the name of a field
			has = slices.IndexFunc(m.spec, func(f modelField) bool {
				return strings.EqualFold(f.name, column) && (f.transform != "void" || m.version > 1)
			})
		}
		if has < 0 {
			return "DROP PARTITION FIELD " + term, false
		}
		if m.version > 1 {
			m.spec = slices.Delete(m.spec, has, has+1)
		} else {
			m.spec[has].transform = "void"
		}
		return "DROP PARTITION FIELD " + term, true
	}
	name := "p" + strconv.Itoa(r.IntN(4))
	stmt := "ADD PARTITION FIELD " + term + " AS " + name
	if at < 0 || has >= 0 || !slices.Contains(suits[fn], m.columns[at].typ) {
		return stmt, false
	}
	for _, f := range m.spec {
		isTwice := f.token == m.columns[at].token && isTimeText(f.transform) && isTimeText(fn)
		if isTwice || f.name == name && f.transform != "void" {
			return stmt, false
		}
	}
	m.addField(modelField{name: name, token: m.columns[at].token, transform: fn})
	return stmt, true
}

// addField adds a field, in the place of a void one that stands for it.
func (m *model) addField(added modelField) {
	m.lastID++
	added.id = m.lastID
	for _, old := range slices.Backward(m.had) {
		if m.version > 1 && old.name == added.name && old.token == added.token && old.transform == added.transform {
			added.id = old.id
			m.lastID--
			break
		}
	}
	m.had = append(m.had, added)
	at := slices.IndexFunc(m.spec, func(f modelField) bool { return f.id == added.id })
	for i, f := range m.spec {
		if f.name == added.name {
			m.spec[i].name = "" // it gives up its name
		}
	}
	if at >= 0 {
		m.spec[at] = added
	} else {
		m.spec = append(m.spec, added)
	}
}

func isTimeText(fn string) bool { return fn == "day" || fn == "year" }

// compare says in what a state isn't the model's. ids maps tokens to field IDs as they are met.
func (m *model) compare(s State, ids map[int]catalog.FieldID) string {
	fields := s.Schema().Fields
	if len(fields) != len(m.columns) {
		return fmt.Sprintf("%d columns, wanted %d", len(fields), len(m.columns))
	}
	for i, c := range m.columns {
		f := fields[i]
		if f.Name != c.name || TypeSQL(f.Type) != c.typ {
			return fmt.Sprintf("column %d is %s %s, wanted %s %s", i, f.Name, TypeSQL(f.Type), c.name, c.typ)
		}
		if id, ok := ids[c.token]; ok && id != f.ID {
			return fmt.Sprintf("column %s had ID %d, and now %d", c.name, id, f.ID)
		}
		ids[c.token] = f.ID
	}
	seen := map[catalog.FieldID]bool{}
	for token, id := range ids {
		if seen[id] {
			return fmt.Sprintf("ID %d, of column %d, was that of another one", id, token)
		}
		seen[id] = true
	}
	spec := s.Spec().Fields
	if len(spec) != len(m.spec) {
		return fmt.Sprintf("%d partition fields, wanted %d", len(spec), len(m.spec))
	}
	for i, f := range m.spec {
		got := spec[i]
		if f.name != "" && got.Name != f.name || got.Transform.String() != f.transform || got.Sources[0] != ids[f.token] || int(got.ID) != 999+f.id {
			return fmt.Sprintf("partition field %d is %+v, wanted %+v", i, got, f)
		}
	}
	return ""
}

// broken says what no table may have.
func broken(s State) string {
	types := map[catalog.FieldID]transform.Type{}
	for _, schema := range s.Schemas {
		names := map[string]bool{}
		for _, f := range schema.Fields {
			low := strings.ToLower(f.Name)
			switch old, ok := types[f.ID]; {
			case names[low]:
				return "two columns are called " + f.Name
			case f.ID > s.LastColumnID:
				return fmt.Sprintf("ID %d is above the last, %d", f.ID, s.LastColumnID)
			case ok && old != f.Type.Primitive && !MayPromote(old, f.Type.Primitive, s.FormatVersion):
				return fmt.Sprintf("ID %d went from %s to %s", f.ID, old, f.Type.Primitive)
			}
			names[low], types[f.ID] = true, f.Type.Primitive
		}
	}
	meanings := map[catalog.PartitionFieldID]string{}
	for _, spec := range s.Specs {
		names, ids := map[string]bool{}, map[catalog.PartitionFieldID]bool{}
		for _, f := range spec.Fields {
			meaning := fmt.Sprint(f.Sources, f.Transform)
			if f.Transform.Op == transform.Void {
				meaning = ""
			}
			switch old := meanings[f.ID]; {
			case names[strings.ToLower(f.Name)]:
				return "two partition fields are called " + f.Name
			case ids[f.ID]:
				return fmt.Sprintf("two partition fields have the ID %d", f.ID)
			case f.ID > s.LastPartitionID:
				return fmt.Sprintf("partition field ID %d is above the last, %d", f.ID, s.LastPartitionID)
			case old != "" && meaning != "" && old != meaning:
				return fmt.Sprintf("partition field ID %d was %s and is %s", f.ID, old, meaning)
			case meaning != "":
				meanings[f.ID] = meaning
			}
			names[strings.ToLower(f.Name)], ids[f.ID] = true, true
		}
	}
	schema := s.Schema()
	for _, f := range s.Spec().Fields {
		if schema.Path(f.Sources[0]) == nil {
			return "the spec has a field without its column: " + f.Name
		}
	}
	for _, f := range s.Order().Fields {
		if schema.Path(f.Source) == nil {
			return "the sort order has a column that is gone"
		}
	}
	return ""
}

// TestRandomEvolution makes random changes of tables and of a model of them. TARN_SEED repeats a run.
func TestRandomEvolution(t *testing.T) {
	seed := seed.Of(t)
	allowed, refused := 0, 0
	for n := range 300 {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		m := &model{version: 1 + r.IntN(3), columns: []modelColumn{{1, "a", "int"}, {2, "b", "string"}, {3, "c", "date"}}, last: 3}
		s, err := run(State{}, fmt.Sprintf("CREATE TABLE s.t (a int, b string, c date) TBLPROPERTIES ('format-version'='%d')", m.version))
		if err != nil {
			t.Fatal(err)
		}
		ids := map[int]catalog.FieldID{}
		var script []string
		for range 40 {
			stmt, ok := m.step(r)
			script = append(script, stmt)
			before := s.text()
			next, err := run(s, stmt)
			var wrong string
			switch {
			case s.text() != before:
				wrong = "the state that the statement was run on changed"
			case (err == nil) != ok:
				wrong = fmt.Sprintf("allowed: %v, error: %v", ok, err)
			case err != nil && next.text() != s.text():
				wrong = "what was refused changed the table"
			default:
				if wrong = m.compare(next, ids); wrong == "" {
					wrong = broken(next)
				}
			}
			if wrong != "" {
				t.Fatalf("TARN_SEED=%d, table %d of version %d: %s, after\n%s\n%s", seed, n, m.version, wrong, strings.Join(script, "\n"), s.text())
			}
			s = next
			if ok {
				allowed++
			} else {
				refused++
			}
		}
	}
	if allowed < 1000 || refused < 1000 {
		t.Errorf("TARN_SEED=%d: only %d changes were allowed and %d refused", seed, allowed, refused)
	}
}
