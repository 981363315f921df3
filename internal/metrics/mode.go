package metrics

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Mode says what is kept of a column.
type Mode struct {
	Kind   Kind
	Length int // of bounds, with Truncate: code points of strings, bytes of binaries
}

// Kind is the kind of a Mode.
type Kind uint8

// The kinds, by how much they keep.
const (
	None     Kind = iota // nothing
	Counts               // sizes and counts
	Truncate             // bounds too, those of strings and binaries cut
	Full                 // bounds as they are
)

// The table properties, and what holds without them.
const (
	defaultModeProperty = "write.metadata.metrics.default"
	columnModePrefix    = "write.metadata.metrics.column."
	inferredProperty    = "write.metadata.metrics.max-inferred-column-defaults"

	defaultInferred = 100
	defaultLength   = 16
)

// Modes are the modes of a table's columns.
type Modes struct {
	otherwise Mode
	columns   map[catalog.FieldID]Mode
}

// Of returns the mode of a leaf of the schema.
func (m *Modes) Of(id catalog.FieldID) Mode {
	if mode, ok := m.columns[id]; ok {
		return mode
	}
	return m.otherwise
}

// ModesOf reads the modes of a table from its properties, as Iceberg's own writers do: without a default mode only so many
// columns have metrics, and columns of the sort order have bounds unless a property of their own says otherwise. A property that
// can't be read is Invalid.
func ModesOf(t *catalog.Table) (*Modes, error) {
	leaves := Leaves(t.Schema)
	m := &Modes{otherwise: Mode{Truncate, defaultLength}, columns: map[catalog.FieldID]Mode{}}
	if text, ok := t.Properties[defaultModeProperty]; ok {
		mode, err := parseMode(defaultModeProperty, text)
		if err != nil {
			return nil, err
		}
		m.otherwise = mode
	} else if err := m.inferColumns(t, len(leaves)); err != nil {
		return nil, err
	}
	for _, f := range t.Order.Fields {
		if mode := m.otherwise; mode.Kind < Truncate {
			m.columns[f.Source] = Mode{Truncate, defaultLength}
		} else {
			m.columns[f.Source] = mode
		}
	}
	byPath := map[string]catalog.FieldID{}
	for _, l := range leaves {
		byPath[l.Path()] = l.Field().ID
	}
	for _, property := range slices.Sorted(maps.Keys(t.Properties)) {
		path, ok := strings.CutPrefix(property, columnModePrefix)
		if !ok {
			continue
		}
		mode, err := parseMode(property, t.Properties[property])
		if err != nil {
			return nil, err
		}
		if id, ok := byPath[path]; ok { // the property of a column that was dropped or renamed does no harm
			m.columns[id] = mode
		}
	}
	return m, nil
}

// inferColumns gives metrics to the first columns only when there are very many.
func (m *Modes) inferColumns(t *catalog.Table, leaves int) error {
	limit := defaultInferred
	if text, ok := t.Properties[inferredProperty]; ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return errs.New(errs.Invalid, "read table property", inferredProperty, "found %q, wanted a number of columns", text)
		}
		limit = n
	}
	if leaves <= limit {
		return nil
	}
	inferred := map[catalog.FieldID]bool{}
	collectFirst(t.Schema.Fields, limit, inferred)
	for id := range inferred {
		m.columns[id] = m.otherwise
	}
	m.otherwise = Mode{Kind: None}
	return nil
}

// collectFirst adds leaves until there are limit: those of fields themselves before those inside them.
func collectFirst(fields []catalog.Field, limit int, found map[catalog.FieldID]bool) {
	for _, f := range fields {
		if f.Type.Nested == catalog.NotNested && len(found) < limit {
			found[f.ID] = true
		}
	}
	for _, f := range fields {
		if len(found) < limit {
			collectFirst(f.Type.Fields, limit, found)
		}
	}
}

func parseMode(property, text string) (Mode, error) {
	lower := strings.ToLower(strings.TrimSpace(text))
	switch lower {
	case "none":
		return Mode{Kind: None}, nil
	case "counts":
		return Mode{Kind: Counts}, nil
	case "full":
		return Mode{Kind: Full}, nil
	}
	if inner, ok := strings.CutPrefix(lower, "truncate("); ok {
		n, err := strconv.Atoi(strings.TrimSuffix(inner, ")"))
		if err == nil && n > 0 && strings.HasSuffix(inner, ")") {
			return Mode{Truncate, n}, nil
		}
	}
	return Mode{}, errs.New(errs.Invalid, "read table property", property, "found %q, wanted none, counts, truncate(N) or full", text)
}

// Leaf is a primitive field of a schema, with the fields that it lies in, from the column down to itself.
type Leaf []catalog.Field

// Field returns the leaf itself.
func (l Leaf) Field() catalog.Field { return l[len(l)-1] }

// Path returns the names by which properties call the leaf.
func (l Leaf) Path() string {
	names := make([]string, len(l))
	for i, f := range l {
		names[i] = f.Name
	}
	return strings.Join(names, ".")
}

// IsRepeated says whether the leaf lies in a list or a map, so that a row may have any number of its values.
func (l Leaf) IsRepeated() bool {
	return slices.ContainsFunc(l[:len(l)-1], func(f catalog.Field) bool { return f.Type.Nested != catalog.Struct })
}

// hasBounds says whether the spec and Iceberg's own writers know bounds of the leaf.
func (l Leaf) hasBounds() bool {
	switch l.Field().Type.Primitive.Kind {
	case transform.None, transform.Unknown, transform.Variant, transform.Geometry, transform.Geography:
		return false
	}
	return !l.IsRepeated()
}

// Leaves returns the leaves of a schema, in its order.
func Leaves(s *catalog.Schema) []Leaf { return appendLeaves(nil, nil, s.Fields) }

func appendLeaves(out []Leaf, above Leaf, fields []catalog.Field) []Leaf {
	for _, f := range fields {
		l := append(slices.Clone(above), f)
		if f.Type.Nested == catalog.NotNested {
			out = append(out, l)
		} else {
			out = appendLeaves(out, l, f.Type.Fields)
		}
	}
	return out
}
