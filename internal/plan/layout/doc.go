// Package layout computes how a relation's rows are partitioned by where they lie: the partitioning property, and its
// algebra over joins, groupings and unions.
//
// A property claims only what it can prove; each rule's comment has the proof and a query where the rule, loosened, would
// be wrong. Package plan gives the relations, plan/spj decides by the properties.
package layout
