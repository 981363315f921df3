package startup

import (
	"embed"
	_ "unsafe" // for go:linkname
)

// iceberg-go parses all of Substrait's function definitions when the process starts, for pushing filters into its own
// scans, which Tarn doesn't use: 120 ms of CPU and 32 MiB of garbage in each run of the program, more than all else that a
// point lookup takes. Its package must be initialised after this one, and is: Go initialises packages by their paths as
// soon as what they import is, which here is the standard library's embed, and there Google's protobuf. A test of the
// built program watches it. Should the variable be gone one day, this changes nothing.

//go:linkname substraitFiles github.com/substrait-io/substrait.substraitExtensionsFS
var substraitFiles embed.FS

//go:embed extensions
var noFiles embed.FS

func init() { substraitFiles = noFiles }
