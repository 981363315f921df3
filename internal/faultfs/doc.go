// Package faultfs is for tests of what happens when files fail: Files are those of another file layer, and the k-th call of
// them fails, before it has an effect or after. Reads of an open file count as calls.
//
// It refuses nothing and fails once only: what a real disk does after its first fault, each test says by its next k.
//
// Before it stand tests of lake and commit; after it stands fileio.
package faultfs
