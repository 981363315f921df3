// Package scratch makes folders for temporary files, and removes those that processes left which are no more.
//
// It only makes and removes the folders: what lies in them is the business of who asked for one. It never touches a
// folder whose process may be alive. The root package and cmd/tarn stand before it, the file system after.
package scratch
