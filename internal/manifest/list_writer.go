package manifest

import (
	"strconv"

	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/errs"
)

// List is what a manifest list says of its snapshot.
type List struct {
	Version    int // the table's format version
	SnapshotID int64
	Parent     *int64
	Sequence   int64 // the snapshot's sequence number; 0 in format version 1
	NextRowID  int64 // from format version 3: the table's next row ID before the snapshot
}

// Encode returns the bytes of a manifest list. New manifests get the snapshot's sequence number. From format version 3 data
// manifests that have no first row ID get one, by the spec's "First Row ID Assignment"; rows is how many row IDs that takes.
func (l List) Encode(manifests []Info) (data []byte, rows int64, err error) {
	head := map[string]string{"format-version": strconv.Itoa(l.Version), "snapshot-id": strconv.FormatInt(l.SnapshotID, 10), "parent-snapshot-id": "null"}
	if l.Parent != nil {
		head["parent-snapshot-id"] = strconv.FormatInt(*l.Parent, 10)
	}
	if l.Version > 1 {
		head["sequence-number"] = strconv.FormatInt(l.Sequence, 10)
	}
	if l.Version > 2 {
		head["first-row-id"] = strconv.FormatInt(l.NextRowID, 10)
	}
	w := avro.NewWriter(listSchemaText(l.Version), head)
	next := l.NextRowID
	for _, m := range manifests {
		if err := l.check(&m); err != nil {
			return nil, 0, err
		}
		if m.Sequence == NoSequence {
			m.Sequence = l.Sequence
		}
		if m.MinSequence == NoSequence {
			m.MinSequence = l.Sequence
		}
		if l.Version > 2 && m.Content == Data && m.FirstRowID == nil {
			first := next
			m.FirstRowID = &first
			next += m.AddedRows + m.ExistingRows
		}
		l.add(w.Encoder(), &m)
		w.EndObject()
	}
	data, err = w.Bytes()
	return data, next - l.NextRowID, errs.Wrap(errs.Internal, "write manifest list", "", err)
}

func (l List) check(m *Info) error {
	switch {
	case len(m.KeyMetadata) > 0:
		return errs.New(errs.Unsupported, "list manifest", m.Path, "it is encrypted, which can't be written yet")
	case m.SnapshotID == nil:
		return errs.New(errs.Unsupported, "list manifest", m.Path, "the list that has it doesn't say which snapshot added it")
	case l.Version == 1 && m.Content != Data:
		return errs.New(errs.Internal, "list manifest", m.Path, "format version 1 has no delete files")
	case l.Version > 1 && (m.AddedFiles < 0 || m.ExistingFiles < 0 || m.DeletedFiles < 0 || m.AddedRows < 0 || m.ExistingRows < 0 || m.DeletedRows < 0):
		return errs.New(errs.Internal, "list manifest", m.Path, "it isn't known how many files it has")
	}
	return nil
}

// add encodes what the list says of a manifest by the schema of listSchemaText.
func (l List) add(enc *avro.Encoder, m *Info) {
	enc.String(m.Path)
	enc.Long(m.Length)
	enc.Long(int64(m.Spec))
	if l.Version > 1 {
		enc.Long(int64(m.Content))
		enc.Long(m.Sequence)
		enc.Long(m.MinSequence)
	}
	enc.Long(*m.SnapshotID)
	for _, n := range []int64{m.AddedFiles, m.ExistingFiles, m.DeletedFiles, m.AddedRows, m.ExistingRows, m.DeletedRows} {
		switch {
		case l.Version > 1:
			enc.Long(n)
		case n < 0:
			enc.Index(0)
		default:
			enc.Index(1)
			enc.Long(n)
		}
	}
	if m.Partitions == nil {
		enc.Index(0)
	} else {
		enc.Index(1)
		enc.Items(len(m.Partitions))
		for _, s := range m.Partitions {
			enc.Boolean(s.ContainsNull)
			optional(enc, s.ContainsNaN, (*avro.Encoder).Boolean)
			raw(enc, s.Lower)
			raw(enc, s.Upper)
		}
		enc.EndItems()
	}
	enc.Index(0) // key_metadata
	if l.Version > 2 {
		optional(enc, m.FirstRowID, (*avro.Encoder).Long)
	}
}
