// Package bench is what the benchmark commands share: how they end, the program that they measure, and medians. It measures
// nothing itself.
package bench
