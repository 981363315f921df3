package lake

import (
	"context"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// unknownCount stands for a count that a manifest list doesn't have: there may be any number.
const unknownCount = -1

// manifest is what a manifest list says of one manifest, with what a list of an older format version lacks: content is
// then data and sequence numbers are 0.
type manifest struct {
	Path        string
	Length      int64
	Spec        catalog.SpecID
	Content     content // contentData, or contentPositionDeletes for deletes of all kinds
	Sequence    int64
	MinSequence int64
	SnapshotID  *int64 // added_snapshot_id

	// Counts of files and rows by the status of their entries, or unknownCount.
	AddedFiles, ExistingFiles, DeletedFiles int64
	AddedRows, ExistingRows, DeletedRows    int64

	Partitions  []fieldSummary // in the order of the spec's fields; nil when there are none
	KeyMetadata []byte
	FirstRowID  *int64
}

// fieldSummary is what a manifest list says of one partition field over all files of a manifest.
type fieldSummary struct {
	ContainsNull bool
	ContainsNaN  *bool
	Lower, Upper []byte // nil is null, which isn't the empty value
}

// live returns how many live entries the list promises, and whether it says so.
func (m *manifest) live() (int, bool) {
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

// manifests reads the snapshot's manifest list; a table without a snapshot has no manifests.
func (c *Catalog) manifests(ctx context.Context, snapshot *table.Snapshot) ([]manifest, error) {
	if snapshot == nil {
		return nil, nil
	}
	if snapshot.ManifestList == "" {
		return c.embeddedManifests(ctx, snapshot)
	}
	var list []manifest
	err := fileio.ReadAvro(ctx, c.fio, "read manifest list", snapshot.ManifestList, 0, func(r *avro.Reader) (err error) {
		list, err = readList(r)
		return err
	})
	return list, err
}

// embeddedManifests makes the list of a format version 1 snapshot that names its manifests itself. Of such a manifest
// neither counts nor partition summaries are known.
func (c *Catalog) embeddedManifests(ctx context.Context, snapshot *table.Snapshot) ([]manifest, error) {
	var list []manifest
	for _, path := range snapshot.ManifestLocations {
		f, err := c.fio.Open(ctx, path)
		if err != nil {
			return nil, err
		}
		m := newManifest()
		m.Path, m.Length, m.SnapshotID = path, f.Size(), &snapshot.SnapshotID
		if err := f.Close(); err != nil {
			return nil, errs.OfFile("close", path, err)
		}
		list = append(list, m)
	}
	return list, nil
}

func newManifest() manifest {
	return manifest{
		AddedFiles: unknownCount, ExistingFiles: unknownCount, DeletedFiles: unknownCount,
		AddedRows: unknownCount, ExistingRows: unknownCount, DeletedRows: unknownCount,
	}
}

func readList(r *avro.Reader) ([]manifest, error) {
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
	var list []manifest
	for r.Next() {
		m := newManifest()
		readManifest(r.Decoder(), steps, summary, &m)
		if m.Path == "" || m.Length < 0 || m.Content < contentData || m.Content > contentPositionDeletes {
			r.Decoder().Fail("a manifest has the path %q, %d bytes and the content %d", m.Path, m.Length, m.Content)
		}
		list = append(list, m)
	}
	return list, r.Err()
}

func readManifest(d *avro.Decoder, steps, summary []step, m *manifest) {
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
			m.Partitions = []fieldSummary{}
			for it := d.Items(s.value.Type); it.Next(); {
				m.Partitions = append(m.Partitions, readSummary(d, summary))
			}
		case 517:
			m.Content = content(d.Int())
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

func readSummary(d *avro.Decoder, steps []step) fieldSummary {
	var f fieldSummary
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
