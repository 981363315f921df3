package manifest

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// UnknownCount stands for a count that a manifest list doesn't have: there may be any number.
const UnknownCount = -1

// Info is what a manifest list says of one manifest, with what a list of an older format version lacks: content is
// then data and sequence numbers are 0.
type Info struct {
	Path        string
	Length      int64
	Spec        catalog.SpecID
	Content     Content // Data, or PositionDeletes for deletes of all kinds
	Sequence    int64
	MinSequence int64
	SnapshotID  *int64 // added_snapshot_id

	// Counts of files and rows by the status of their entries, or UnknownCount.
	AddedFiles, ExistingFiles, DeletedFiles int64
	AddedRows, ExistingRows, DeletedRows    int64

	Partitions  []FieldSummary // in the order of the spec's fields; nil when there are none
	KeyMetadata []byte
	FirstRowID  *int64
}

// FieldSummary is what a manifest list says of one partition field over all files of a manifest.
type FieldSummary struct {
	ContainsNull bool
	ContainsNaN  *bool
	Lower, Upper []byte // nil is null, which isn't the empty value
}

// Live returns how many live entries the list promises, added and existing ones, and whether it says so.
func (m *Info) Live() (int, bool) {
	if m.AddedFiles < 0 || m.ExistingFiles < 0 {
		return 0, false
	}
	return int(m.AddedFiles + m.ExistingFiles), true
}

// The fields of manifest lists, by their IDs in the spec.
var (
	listFields = []knownField{
		{id: 500, names: "manifest_path", form: formText, required: true},
		{id: 501, names: "manifest_length", form: formNumber, required: true},
		{id: 502, names: "partition_spec_id", form: formNumber, required: true},
		{id: 517, names: "content", form: formNumber},
		{id: 515, names: "sequence_number", form: formNumber},
		{id: 516, names: "min_sequence_number", form: formNumber},
		{id: 503, names: "added_snapshot_id", form: formNumber},
		{id: 504, names: "added_files_count added_data_files_count", form: formNumber},
		{id: 505, names: "existing_files_count existing_data_files_count", form: formNumber},
		{id: 506, names: "deleted_files_count deleted_data_files_count", form: formNumber},
		{id: 512, names: "added_rows_count", form: formNumber},
		{id: 513, names: "existing_rows_count", form: formNumber},
		{id: 514, names: "deleted_rows_count", form: formNumber},
		{id: 507, names: "partitions", form: formRecords},
		{id: 519, names: "key_metadata", form: formBytes},
		{id: 520, names: "first_row_id", form: formNumber},
	}
	summaryFields = []knownField{
		{id: 509, names: "contains_null", form: formFlag, required: true},
		{id: 518, names: "contains_nan", form: formFlag},
		{id: 510, names: "lower_bound", form: formBytes},
		{id: 511, names: "upper_bound", form: formBytes},
	}
)

// ReadList reads the manifest list at path.
func ReadList(ctx context.Context, fio fileio.Files, path string) ([]Info, error) {
	var list []Info
	err := fileio.ReadAvro(ctx, fio, "read manifest list", path, 0, func(r *avro.Reader) (err error) {
		list, err = decodeList(r)
		return err
	})
	return list, err
}

// Embedded makes the list of a format version 1 snapshot that names its manifests itself. Of such a manifest
// neither counts nor partition summaries are known.
func Embedded(ctx context.Context, fio fileio.Files, snapshot int64, paths []string) ([]Info, error) {
	var list []Info
	for _, path := range paths {
		f, err := fio.Open(ctx, path)
		if err != nil {
			return nil, err
		}
		m := newManifest()
		m.Path, m.Length, m.SnapshotID = path, f.Size(), &snapshot
		if err := f.Close(); err != nil {
			return nil, errs.OfFile("close", path, err)
		}
		list = append(list, m)
	}
	return list, nil
}

func newManifest() Info {
	return Info{
		AddedFiles: UnknownCount, ExistingFiles: UnknownCount, DeletedFiles: UnknownCount,
		AddedRows: UnknownCount, ExistingRows: UnknownCount, DeletedRows: UnknownCount,
	}
}

func decodeList(r *avro.Reader) ([]Info, error) {
	schema, err := r.Schema()
	if err != nil {
		return nil, err
	}
	steps, err := stepsOf(schema, listFields)
	if err != nil {
		return nil, err
	}
	var summary []step
	for _, s := range steps {
		if s.id == 507 && s.form == formRecords {
			if summary, err = stepsOf(s.entry.Type, summaryFields); err != nil {
				return nil, err
			}
		}
	}
	var list []Info
	for r.Next() {
		m := newManifest()
		readManifest(r.Decoder(), steps, summary, &m)
		if m.Path == "" || m.Length < 0 || m.Content < Data || m.Content > PositionDeletes {
			r.Decoder().Fail("a manifest has the path %q, %d bytes and the content %d", m.Path, m.Length, m.Content)
		}
		list = append(list, m)
	}
	return list, r.Err()
}

func readManifest(d *avro.Decoder, steps, summary []step, m *Info) {
	numbers := map[int]*int64{
		501: &m.Length, 515: &m.Sequence, 516: &m.MinSequence, 504: &m.AddedFiles, 505: &m.ExistingFiles, 506: &m.DeletedFiles,
		512: &m.AddedRows, 513: &m.ExistingRows, 514: &m.DeletedRows,
	}
	for i := range steps {
		s := &steps[i]
		if !s.present(d) {
			continue
		}
		switch s.id {
		case 500:
			m.Path = string(d.Bytes())
		case 502:
			m.Spec = catalog.SpecID(d.Int())
		case 503:
			id := d.Long()
			m.SnapshotID = &id
		case 507:
			m.Partitions = []FieldSummary{}
			for it := d.Items(s.value.Type); it.Next(); {
				m.Partitions = append(m.Partitions, readSummary(d, summary))
			}
		case 517:
			m.Content = Content(d.Int())
		case 519:
			m.KeyMetadata = append([]byte{}, d.Bytes()...)
		case 520:
			id := d.Long()
			m.FirstRowID = &id
		default:
			*numbers[s.id] = d.Long()
		}
	}
}

func readSummary(d *avro.Decoder, steps []step) FieldSummary {
	var f FieldSummary
	for i := range steps {
		s := &steps[i]
		if !s.present(d) {
			continue
		}
		switch s.id {
		case 509:
			f.ContainsNull = d.Boolean()
		case 518:
			nan := d.Boolean()
			f.ContainsNaN = &nan
		case 510:
			f.Lower = append([]byte{}, d.Bytes()...)
		case 511:
			f.Upper = append([]byte{}, d.Bytes()...)
		}
	}
	return f
}
