package layout

import (
	"fmt"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// Slot is one layout key that a relation is partitioned by: every row of it belongs to one group, the value of the
// transform, and all its files know theirs.
type Slot struct {
	Transform transform.Transform
	Class     Class
	// Carriers are the output columns that hold the key's source value. A strong carrier's transform is the row's group,
	// NULL for the NULL group. A weak one may have been filled with NULL by an outer join: where it isn't NULL it is right.
	Carriers map[plan.Col]Strength
	// From says which slot of each input this one is made of: one for a block, two for a join, one per side of a union.
	From []int
	// Fields, of a scan's slot, is the place of the partition field in each spec in use. Column is its source.
	Fields map[catalog.SpecID]int
	Column catalog.Field
	Table  *catalog.Table // that Column is of
	// Liar names a file of a scan whose bounds say that none of its rows belongs in its bucket. A core over the slot would
	// lose rows, so whoever makes one refuses the file.
	Liar string
}

// Strength tells how far a carrier can be trusted.
type Strength uint8

// Weak carriers may serve a later "=", which no NULL satisfies; never a NULL-safe comparison and never a grouping.
const (
	Weak Strength = iota
	Strong
)

// Property is what is proved of a relation: it is the disjoint union over the groups of its slots of what it is over each
// group's files alone. Without slots nothing is proved, and Why says what stands against it; beside slots of a scan, Why
// tells of keys that its files don't all have.
type Property struct {
	Slots []Slot
	Why   string
}

func none(format string, args ...any) Property { return Property{Why: fmt.Sprintf(format, args...)} }

// Class is a set of types whose values hash alike and compare exactly in SQL: keys of one class can be matched.
type Class struct {
	Kind  transform.Kind
	Scale int
}

// ClassOf returns a type's class; false for types that are never keys. Floats have two zeros that are one SQL value and
// two partitions.
func ClassOf(t transform.Type) (Class, bool) {
	switch t.Kind {
	case transform.Int, transform.Long:
		return Class{Kind: transform.Long}, true
	case transform.Decimal:
		return Class{Kind: t.Kind, Scale: t.Scale}, true
	case transform.Fixed, transform.Binary:
		return Class{Kind: transform.Binary}, true
	case transform.Boolean, transform.Date, transform.Time, transform.Timestamp, transform.TimestampTZ, transform.TimestampNS,
		transform.TimestampTZNS, transform.String, transform.UUID:
		return Class{Kind: t.Kind}, true
	}
	return Class{}, false
}

// String writes the slot as DDL does, such as bucket(16, customer_id).
func (s Slot) String() string { return s.Transform.SQL(catalog.QuoteIdent(s.Column.Name)) }
