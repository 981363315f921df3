// Package transform holds Iceberg's partition transforms and the values that they work on: parse, apply, hash, compare,
// project a predicate onto a partition field, and reduce one transform to another.
//
// Everything here is a pure function of its arguments, safe for concurrent use, and depends on no other package of
// Tarn. The rules are those of the Iceberg spec, "Partition Transforms", its appendix B (32-bit hash) and appendix D
// (single-value binary form of bounds).
//
// It knows one field at a time: transforms of several columns, partition tuples and specs belong to package catalog,
// which stands before it. It refuses rather than guesses: a result that leaves its type is ErrOutOfRange, a projection
// or reduction of which nothing is certain is reported as absent, and an unknown transform is kept and never applied.
// Its errors carry no kind: who called knows whether the text came from a statement or from a file.
package transform
