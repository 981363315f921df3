package commit

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
)

// DeleteFile describes a delete file that was written and isn't part of a table yet. Its Sequence is the new snapshot's,
// whatever d says.
func DeleteFile(d catalog.DeleteFile) manifest.File {
	f := manifest.File{
		Content: manifest.PositionDeletes, Path: d.Ref.Path, Format: d.Format, Spec: d.Spec, Partition: d.Partition, Rows: d.Rows, Bytes: d.Ref.Bytes,
		Referenced: d.Target,
	}
	if f.Format == "" {
		f.Format = catalog.Parquet
	}
	switch d.Kind {
	case catalog.EqualityDeletes:
		f.Content = manifest.EqualityDeletes
		for _, id := range d.Equality {
			f.EqualityIDs = append(f.EqualityIDs, int(id))
		}
	case catalog.DeletionVector:
		f.Format, f.Offset, f.Length = catalog.Puffin, &d.Offset, &d.Length
	case catalog.PositionDeletes:
		if d.Target != "" { // readers of format version 2 look at the bounds
			path := map[int][]byte{int(catalog.DeletePathID): []byte(d.Target)}
			f.Lower, f.Upper = path, path
		}
	}
	return f
}
