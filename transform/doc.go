// Package transform holds Iceberg's partition transforms and the values that they work on: parse, apply, hash, compare,
// project a predicate onto a partition field, and reduce one transform to another.
//
// Everything here is a pure function of its arguments, safe for concurrent use, and depends on no other package of
// Tarn. The rules are those of the Iceberg spec, "Partition Transforms", and its appendix B (32-bit hash).
package transform
