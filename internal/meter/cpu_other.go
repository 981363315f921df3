//go:build !unix

package meter

func cpuSeconds() float64 { return 0 }
