// Package catalog is what planning may know of a table: its schemas, partition specs, sort orders, the pinned snapshot,
// and the layout of the data files that a filter leaves. All values are immutable once handed out, and safe for
// concurrent use.
//
// It does no I/O. Package internal/lake implements Catalog over real catalogs and files; catalog/testcat builds fakes
// from text. Bind, plan and task read nothing but this.
package catalog
