package evolve

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/seed"
)

// randomType writes a type of at most so many levels.
func randomType(r *rand.Rand, depth int) string {
	if depth > 0 {
		switch r.IntN(6) {
		case 0, 1:
			return fmt.Sprintf("struct<x:%s,y:%s>", randomType(r, depth-1), randomType(r, depth-1))
		case 2:
			return "array<" + randomType(r, depth-1) + ">"
		case 3:
			return "map<" + randomType(r, depth-1) + "," + randomType(r, depth-1) + ">"
		}
	}
	return modelTypes[r.IntN(len(modelTypes))]
}

// randomPath picks a field at any depth, or one that may not be there.
func randomPath(r *rand.Rand, fields []catalog.Field) string {
	f := fields[r.IntN(len(fields))]
	path := f.Name
	for len(f.Type.Fields) > 0 && r.IntN(4) > 0 {
		f = f.Type.Fields[r.IntN(len(f.Type.Fields))]
		path += "." + f.Name
	}
	return path
}

// nestedStep writes a statement about a random field.
func nestedStep(r *rand.Rand, s State) string {
	path := randomPath(r, s.Schema().Fields)
	names := []string{"x", "y", "z", "w"}
	name := names[r.IntN(len(names))]
	switch r.IntN(7) {
	case 0, 1:
		if r.IntN(2) == 0 {
			name = path + "." + name
		}
		return "ADD COLUMN " + name + " " + randomType(r, 2)
	case 2:
		return "DROP COLUMN " + path
	case 3:
		return "RENAME COLUMN " + path + " TO " + name
	case 4:
		return "ALTER COLUMN " + path + " TYPE " + randomType(r, 0)
	case 5:
		return "ALTER COLUMN " + path + " AFTER " + name
	}
	return "ADD PARTITION FIELD bucket(4, " + path + ")"
}

// places notes of each field of a schema, at any depth, its type and whether it is in the key of a map.
func places(fields []catalog.Field, inKey bool, visit func(f catalog.Field, inKey bool)) {
	for _, f := range fields {
		visit(f, inKey)
		for i, inner := range f.Type.Fields {
			places([]catalog.Field{inner}, inKey || f.Type.Nested == catalog.Map && i == 0, visit)
		}
	}
}

// brokenNested says what no table may have, at any depth.
func brokenNested(s State) (wrong string) {
	types := map[catalog.FieldID]catalog.Field{}
	keys := map[catalog.FieldID]string{} // what is in keys, by name and type
	for _, schema := range s.Schemas {
		seen := map[catalog.FieldID]bool{}
		places(schema.Fields, false, func(f catalog.Field, inKey bool) {
			old, ok := types[f.ID]
			text := fmt.Sprint(f.Name, f.Type.Nested, f.Type.Primitive, len(f.Type.Fields))
			switch {
			case seen[f.ID]:
				wrong = fmt.Sprintf("schema %d has the ID %d twice", schema.ID, f.ID)
			case f.ID > s.LastColumnID || f.ID < 1:
				wrong = fmt.Sprintf("the ID %d is out of bounds, %d", f.ID, s.LastColumnID)
			case ok && old.Type.Nested != f.Type.Nested:
				wrong = fmt.Sprintf("field %d was nested otherwise", f.ID)
			case ok && old.Type.Primitive != f.Type.Primitive && !MayPromote(old.Type.Primitive, f.Type.Primitive, s.FormatVersion):
				wrong = fmt.Sprintf("field %d went from %s to %s", f.ID, old.Type.Primitive, f.Type.Primitive)
			case inKey && keys[f.ID] != "" && keys[f.ID] != text:
				wrong = fmt.Sprintf("field %d, in a key, was %s and is %s", f.ID, keys[f.ID], text)
			case f.Type.Nested == catalog.Struct && len(f.Type.Fields) == 0:
				wrong = fmt.Sprintf("field %d is a struct without fields", f.ID)
			}
			seen[f.ID], types[f.ID] = true, f
			if inKey {
				keys[f.ID] = text
			}
		})
	}
	return wrong
}

// TestRandomNestedEvolution changes nested fields at random.
func TestRandomNestedEvolution(t *testing.T) {
	seed := seed.Of(t)
	allowed, refused := 0, 0
	for n := range 200 {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		s, err := run(State{}, fmt.Sprintf("CREATE TABLE s.t (x %s, y %s, w int)", randomType(r, 3), randomType(r, 3)))
		if err != nil {
			t.Fatal(err)
		}
		var script []string
		for range 30 {
			stmt := nestedStep(r, s)
			before := s.text()
			script = append(script, stmt)
			next, err := run(s, stmt)
			wrong := brokenNested(next)
			switch kind := errs.KindOf(err); {
			case s.text() != before:
				wrong = "the state that the statement was run on changed"
			case err != nil && kind != errs.Invalid && kind != errs.NotFound && kind != errs.Exists:
				wrong = err.Error()
			case err != nil:
				refused++
			default:
				allowed++
				if broken := broken(next); wrong == "" {
					wrong = broken
				}
			}
			if wrong != "" {
				t.Fatalf("TARN_SEED=%d, table %d: %s, after\n%s\n%s", seed, n, wrong, strings.Join(script, "\n"), before)
			}
			s = next
		}
	}
	if allowed < 500 || refused < 500 {
		t.Errorf("TARN_SEED=%d: only %d changes were allowed and %d refused", seed, allowed, refused)
	}
}
