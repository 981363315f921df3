// Package layout computes by which of its columns' values a relation's rows can be partitioned: the partitioning property,
// and its algebra over joins, groupings and unions. And it says which group a data file lies in, by its own spec and tuple.
//
// A property claims only what it can prove; each rule's comment has the proof and a query where the rule, loosened, would
// be wrong. Package plan gives the relations; plan/spj chooses the transforms and decides.
package layout
