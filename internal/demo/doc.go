// Package demo makes two bucketed tables in an embedded lake and joins them both ways, so that a person sees within a
// minute what Tarn is for.
package demo
