// Package sql turns text into statements: it splits scripts, tells statements apart, reads Tarn's own ones, and rewrites
// the forms of Spark that DuckDB's parser would misread. A query itself is parsed by DuckDB; Node is the door to that
// parse tree.
//
// Statements that define and change tables are read as Spark and Iceberg's extensions of it write them: a file for each
// family, create.go to alter_ref.go.
//
// It resolves no names and knows no catalog: package bind comes next. It refuses what it doesn't know by name, with the
// position.
package sql
