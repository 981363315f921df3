// Command join measures the storage-partitioned join with a GROUP BY on the key against the whole-query plan, on the
// demo's tables, each plan in a process of its own, the runs interleaved. It prints each figure beside its bar and exits
// with 1 when one is missed.
package main
