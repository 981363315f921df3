package layout

import (
	"fmt"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// Slot is a value by which a relation can be partitioned: whatever function of it groups the rows, each row belongs to one
// group. Which function, a transform, is chosen later for all slots of one key together, by what the files are laid out by.
type Slot struct {
	Class Class
	// Carriers are the output columns that hold the value. A strong carrier's transform is the row's group, NULL for the NULL
	// group. A weak one may have been filled with NULL by an outer join: where it isn't NULL it is right.
	Carriers map[plan.Col]Strength
	// From says which slot of each input this one is made of: one for a block, two for a join, one per side of a union. Absent
	// stands for a side of a join that has no such slot: it must then be read everywhere.
	From []int
	// Column, of a scan's slot, is the column of Table that holds the value.
	Column catalog.Field
	Table  *catalog.Table
}

// Absent is the place in Slot.From of an input without such a slot.
const Absent = -1

// Strength tells how far a carrier can be trusted.
type Strength uint8

// Weak carriers may serve a later "=", which no NULL satisfies; never a NULL-safe comparison and never a grouping.
const (
	Weak Strength = iota
	Strong
)

// Property is what is proved of a relation: for any transforms of any of its slots, it is the disjoint union over the groups
// of what it is over each group's rows alone. Without slots nothing is proved, and Why says what stands against it.
type Property struct {
	Slots []Slot
	// Everywhere says that the relation is small enough that each pack may read all of it.
	Everywhere bool
	// Why says what stands against slots; beside slots, against others of the same relation.
	Why string
	// Unfit, of a scan, are the columns that the query reads and that can be no slots.
	Unfit []Unfit
}

// Unfit is a column that can be no slot, and why.
type Unfit struct {
	Col    plan.Col
	Column catalog.Field
	Why    string
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

// Widest returns the type that holds all values of the class.
func (c Class) Widest() transform.Type {
	if c.Kind == transform.Decimal {
		return transform.Type{Kind: c.Kind, Precision: maxPrecision, Scale: c.Scale}
	}
	return transform.Type{Kind: c.Kind}
}

// maxPrecision is the most digits that a decimal has.
const maxPrecision = 38
