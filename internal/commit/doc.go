// Package commit decides how a change of a table is committed beside other writers. So far it says how often and after which
// waits a commit is tried again (Retry).
//
// It refuses to try again where the outcome of a try isn't known. It knows neither catalogs nor iceberg-go: before it stands
// lake, which publishes versions; after it stands nothing.
package commit
