// Package lint holds tests of the source itself: which package may import which, that each says what it is for, that the
// architecture's page names what exists, how large functions and files are, and what the exported API is.
//
// It has no code of its own and refuses to need anything but Go's standard library and the files of the module. What a
// general linter can check is left to golangci-lint.
package lint
