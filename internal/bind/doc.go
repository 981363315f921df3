// Package bind gives meaning to a parsed query: names of tables become pinned tables, names of columns become plan.Cols,
// and the query is cut into blocks whose SQL text mentions its inputs by view names alone.
//
// It resolves names in its own scopes, and only so far as planning needs: a name that it can't place makes a block run
// whole, never wrong. Types, stars, implicit casts and the errors that a user sees come from DuckDB, which binds the same
// text against empty stub tables. Package sql comes before, package plan after. It surveys no files and decides no
// strategy.
package bind
