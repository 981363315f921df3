// Package seed gives random tests their seeds. Each run of a commit's tests draws the same values, so that a change is judged by
// what it changes; new values are drawn where somebody looks for faults (make fuzz, make meta).
//
// It draws no values itself, and is for tests only, those of every package.
package seed
