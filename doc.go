// Package tarn joins Apache Iceberg tables partition by partition, where they lie.
//
// Open makes an Engine over catalogs. A Session of it runs statements: Run gives rows as Arrow record batches, Explain
// tells the plan and why it avoids a shuffle or doesn't. Every call takes a context and ends when it ends. Errors are
// *Error with a Kind.
package tarn
