// Package meter measures what the process has used so far: CPU time and peak memory.
//
// The peak is the kernel's high-water mark of this process alone (VmHWM). A parent that asks for a child's maximum
// resident set instead gets its own at the time of the fork, when that was larger.
package meter
