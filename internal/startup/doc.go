// Package startup makes the program start quickly. It is for the program alone: what it changes is global, so that no
// package that others import may import it.
package startup
