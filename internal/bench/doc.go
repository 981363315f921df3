// Package bench is what the benchmark commands share: how they end, the programs that they measure and a run of one, medians, reports
// and bars. What is run is theirs.
package bench
