// Package golden reads the golden checks under testdata/golden, compares what a query gave with what a check expects, and
// decides the verdict. Its tests run every check through the engine, in each mode, over tables that other engines wrote.
//
// It knows values, not types: a number is a number whatever its type, a timestamp an instant, a row set a multiset. It
// never changes a check's statement, and it isn't part of the engine: only tests import it.
package golden
