// Package explain tells a plan to people and to programs: for each join the strategy and the reason, for each core the
// keys, groups, packs and bytes, for each scan what was pruned. One Report has it all; text and JSON are two ways of
// writing it.
//
// It decides and measures nothing: package spj decided, task counted, exec measured.
package explain
