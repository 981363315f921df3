// Package progress shows on a terminal that a long statement is alive: one line, rewritten in place and erased at the end.
//
// It refuses to write anything that isn't for a terminal, and to say anything about work that is over before a person
// would wonder. cmd/tarn owns the line; the stages only report numbers.
package progress
