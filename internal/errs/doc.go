// Package errs holds the error type that crosses Tarn's package boundaries: a kind, what was attempted, on which object,
// what was found, and the next step. One table maps a kind to its exit code and to "retry or not".
//
// It refuses to print, log or end the process: cmd/tarn does.
package errs
