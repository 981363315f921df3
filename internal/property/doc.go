// Package property holds tests of the whole engine that no hand-written expectation could cover: random tables under random
// partition specs, random queries over them, each answered in several ways that must agree; the public cases of wrong
// joins and pruning; files that lie about their partition; and other engines reading what Tarn wrote.
//
// It has no code of its own. Everything goes through the public engine, above it stands nothing, but for what is planned
// and not run: random predicates go through binding and the lake's survey alone, random plans through the planner again and
// again, and their graphs, changed in ways that no graph may be, to the checker. The one judge that shares
// no code with the engine is plain DuckDB over the rows as they were before they were written.
package property
