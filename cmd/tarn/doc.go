// Command tarn runs SQL over Apache Iceberg tables, joining tables that are laid out alike without a shuffle.
//
// This package reads flags, opens the engine, writes results and maps errors to exit codes; a file holds a command. It
// refuses to know anything of tables or plans: the root package stands after it, and a person or a script before.
package main
