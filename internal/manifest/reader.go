package manifest

import (
	"context"
	"sync"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/transform"
)

// Reader reads the manifests of one table, of any format version. It is safe for concurrent use.
//
// Visit is its one door. It calls its visitor for every entry of a manifest, deleted ones included, in the manifest's
// order. Everything that an entry inherits is filled in: sequence numbers, snapshot ID, row IDs. Partition is in the order
// of the fields of the spec that the manifest list names, each value in that field's type; tuples of specs that give one
// field ID two meanings are kept apart so. Statistics are decoded for the columns asked for, and are empty otherwise.
//
// The visitor sees one entry that the next one overwrites (see Entry). It sees entries before it is known that the
// manifest is whole, so what it has gathered is void when Visit fails. An error of the visitor ends the visit and is
// returned as it is.
//
// Errors name the manifest, or the data file when its partition is wrong: Corrupt for bytes that make no sense, for an
// entry that contradicts its manifest, and for a manifest that hasn't as many live entries as the list says; Unsupported
// for an encrypted manifest or an unknown codec. Entries of encrypted files, and of formats that can't be read, are
// entries like any other: whoever wants the file refuses it.
type Reader struct {
	fio   fileio.Files
	specs map[catalog.SpecID]tupleSpec

	mu    sync.Mutex
	plans map[planKey]*entryPlan
}

// planKey tells plans apart. Most tables' manifests have one schema for each spec.
type planKey struct {
	spec   catalog.SpecID
	schema string
}

// maxPlans bounds the memory of a table each of whose manifests has a schema of its own.
const maxPlans = 64

// NewReader returns a reader of the manifests of a table that has the specs.
func NewReader(fio fileio.Files, specs map[catalog.SpecID]catalog.PartitionSpec) *Reader {
	r := &Reader{fio: fio, specs: map[catalog.SpecID]tupleSpec{}, plans: map[planKey]*entryPlan{}}
	for id, spec := range specs {
		r.specs[id] = newTupleSpec(spec)
	}
	return r
}

// Visit reads a manifest: m is what the list says of it. wants says which statistics are decoded.
func (r *Reader) Visit(ctx context.Context, m *Info, wants StatColumns, visitor func(*Entry) error) error {
	all := func(*Entry) bool { return true }
	return r.VisitSome(ctx, m, wants, all, visitor)
}

// VisitSome is a visit of the entries that keep is true for. keep sees them before they have a Path, which is what makes
// entries that nobody wants cheap.
func (r *Reader) VisitSome(ctx context.Context, m *Info, wants StatColumns, keep func(*Entry) bool, visitor func(*Entry) error) error {
	if len(m.KeyMetadata) > 0 {
		return fileio.Encrypted(m.Path)
	}
	var own error
	err := fileio.ReadAvro(ctx, r.fio, "read manifest", m.Path, m.Length, func(f *avro.Reader) error {
		plan, err := r.plan(m, f)
		if err != nil {
			return err
		}
		v := visiting{manifest: m, plan: plan, file: f, wants: wants, tuples: map[string][]transform.Value{}}
		return v.run(keep, func(e *Entry) error {
			own = visitor(e)
			return own
		})
	})
	if own != nil {
		return own
	}
	return err
}

// plan returns how to read a manifest of the spec.
func (r *Reader) plan(m *Info, f *avro.Reader) (*entryPlan, error) {
	spec, ok := r.specs[m.Spec]
	if !ok {
		return nil, UnknownSpec(m)
	}
	key := planKey{m.Spec, f.SchemaText()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.plans[key]; ok {
		return p, nil
	}
	schema, err := f.Schema()
	if err != nil {
		return nil, err
	}
	p, err := newEntryPlan(schema, spec)
	if err != nil {
		return nil, err
	}
	if len(r.plans) >= maxPlans {
		clear(r.plans)
	}
	r.plans[key] = p
	return p, nil
}

// UnknownSpec is the error for a manifest of a partition spec that the table doesn't have.
func UnknownSpec(m *Info) error {
	return errs.New(errs.Corrupt, "read manifest list", m.Path, "it is of partition spec %d, which the table doesn't have", m.Spec)
}

// visiting is one visit of a manifest on its way.
type visiting struct {
	manifest *Info
	plan     *entryPlan
	file     *avro.Reader
	wants    StatColumns
	tuples   map[string][]transform.Value // by their written form: files of one partition share its tuple
}

// maxTuples is how many tuples of a manifest are remembered at a time.
const maxTuples = 1024

func (v *visiting) run(keep func(*Entry) bool, visitor func(*Entry) error) error {
	e := newEntry()
	d := v.file.Decoder()
	var rowID int64
	if v.manifest.FirstRowID != nil {
		rowID = *v.manifest.FirstRowID
	}
	live := 0
	for v.file.Next() {
		v.plan.read(d, v.wants, e)
		if d.Err() != nil {
			continue // which ends the loop
		}
		if err := v.complete(e, &rowID); err != nil {
			return err
		}
		if e.IsLive() {
			live++
		}
		if !keep(e) {
			continue
		}
		e.Path = string(e.path)
		if err := visitor(e); err != nil {
			return err
		}
	}
	if err := v.file.Err(); err != nil {
		return err
	}
	if want, known := v.manifest.Live(); known && live != want {
		return errs.New(errs.Corrupt, "", "", "it has %d live entries, but the manifest list says %d", live, want)
	}
	return nil
}

// complete checks an entry that was read and fills in what it doesn't hold itself.
func (v *visiting) complete(e *Entry, rowID *int64) error {
	if err := e.check(v.manifest); err != nil {
		return err
	}
	if err := e.inherit(v.manifest, v.plan.hasSequences, rowID); err != nil {
		return err
	}
	e.Spec = v.manifest.Spec
	tuple, ok := v.tuples[string(e.tuple)]
	if !ok {
		var err error
		if tuple, err = v.plan.tuple.read(e.tuple, e.path); err != nil {
			return err
		}
		if len(v.tuples) >= maxTuples {
			clear(v.tuples)
		}
		v.tuples[string(e.tuple)] = tuple
	}
	e.Partition = tuple
	return nil
}
