// Package blackbox tests the built program from outside: it runs the command line in child processes, as people and
// scripts do, and looks at what comes back: rows, errors, exit codes, files left behind, memory and time.
//
// It knows nothing of the code inside but for what makes lakes to run on. The command line in cmd/tarn stands before it;
// nothing stands after. TARN_LONG=1 runs the variants that need gigabytes of disk and minutes.
package blackbox
