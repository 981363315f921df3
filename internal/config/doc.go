// Package config finds out which catalogs there are: from flags, from Tarn's or PyIceberg's YAML file, from PyIceberg's
// environment variables, or the embedded default beside the working directory. Every value remembers where it came from.
//
// It opens no catalog and knows no catalog types: unknown keys are kept as properties for package lake to judge. It
// refuses YAML that it can't read, naming file and line. cmd/tarn stands before it, the root's Config after it.
package config
