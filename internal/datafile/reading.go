package datafile

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// reading is how files of one schema are read. It doesn't change.
type reading struct {
	err    error
	shape  *catalog.Schema
	byName bool
	// rewrite says that a scan would misread the file: a copy of it must be made. copied says that this is one.
	rewrite, copied bool
	absent          []catalog.Field // columns that the file doesn't have
	open            []catalog.Field // columns whose values the file's partition gives, if it is by them: the absent ones, or all of a file without IDs
	lacks           []catalog.FieldID
}

// judge finds out how files are read for the columns wanted.
type judge struct {
	table   *catalog.Table
	wants   []catalog.Field
	mapping func() (nameMap, error)
	strict  bool // of delete files: each column must be there, with its ID

	mu     sync.Mutex
	known  map[judged]*reading
	shapes map[string]*catalog.Schema
}

// judged is all that a reading depends on.
type judged struct {
	root   *schema.GroupNode
	facts  footerFacts
	copied bool
}

func newJudge(t *catalog.Table, wants []catalog.Field) *judge {
	return &judge{
		table: t, wants: wants, mapping: sync.OnceValues(func() (nameMap, error) { return nameMapOf(t) }),
		known: map[judged]*reading{}, shapes: map[string]*catalog.Schema{},
	}
}

// reading returns the same reading for all footers of equal schemas, and the same shape for all readings of equal shapes.
func (j *judge) reading(foot footer, copied bool) *reading {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := judged{foot.schema, foot.facts, copied}
	if r, ok := j.known[key]; ok {
		return r
	}
	r := &reading{copied: copied}
	r.err = j.fill(r, nodesOf(foot.schema), foot.facts)
	if r.shape != nil {
		text, err := json.Marshal(r.shape.Fields)
		if known, ok := j.shapes[string(text)]; ok {
			r.shape = known
		}
		j.shapes[string(text)] = r.shape
		r.err = errors.Join(r.err, err)
	}
	j.known[key] = r
	return r
}

func (j *judge) fill(r *reading, nodes []*node, facts footerFacts) error {
	if err := facts.refusal(); err != nil {
		return err
	}
	r.rewrite = facts.oldMaps || slices.ContainsFunc(nodes, func(n *node) bool { return n.breaks })
	if len(j.wants) == 0 { // rows are counted, by the footer alone
		return nil
	}
	isBare := r.copied && facts.bare || !r.copied && !haveIDs(nodes) // a copy has IDs, but for columns that its file lacks
	if isBare && !r.copied {
		if err := j.identify(nodes); err != nil {
			return err
		}
	}
	byID, err := index(nodes)
	if err != nil {
		return err
	}
	return j.fillColumns(r, nodes, byID, facts, isBare)
}

// fillColumns looks at each column that is wanted. isBare says that the file, or the
// one that it is a copy of, has no IDs of its own.
func (j *judge) fillColumns(r *reading, nodes []*node, byID map[catalog.FieldID]*node, facts footerFacts, isBare bool) error {
	isAliased := func(n *node) bool { return n.isAliased() && (isWanted(j.wants, n.id) || isWanted(j.wants, n.alias)) }
	m := match{
		rewrite: r.rewrite || facts.codecs&(1<<codecLZ4) != 0 || !isBare && slices.ContainsFunc(nodes, isAliased),
		differs: j.strict && slices.ContainsFunc(j.wants, isNestedField),
	}
	shape := &catalog.Schema{}
	for _, want := range j.wants {
		n, ok := byID[want.ID]
		ok = ok && want.Type.Primitive.Kind != transform.Unknown
		if !ok || isBare {
			r.open = append(r.open, want)
		}
		if !ok {
			r.absent = append(r.absent, want)
			continue
		}
		f, err := j.column(&m, n, want, facts)
		if err == nil && isBare && !r.copied {
			err = clashWith(n, nodes)
		}
		if err != nil {
			return errs.Wrap(errs.Internal, "column", catalog.ShownName(want.Name), err)
		}
		if !isWanted(shape.Fields, f.ID) {
			shape.Fields = append(shape.Fields, f)
		}
	}
	r.rewrite, r.lacks = m.rewrite, m.lacks
	if r.byName = isBare && !r.copied && len(shape.Fields) > 0; r.byName || m.differs {
		r.shape = shape
	}
	return j.checkAbsent(r)
}

// column returns the column as the file has it, or why it can't be read.
func (j *judge) column(m *match, n *node, want catalog.Field, facts footerFacts) (catalog.Field, error) {
	isBytes := want.Type.Primitive.Kind == transform.Binary
	m.rewrite = m.rewrite || facts.geo && isBytes || facts.bareLists && want.Type.Nested != catalog.NotNested
	if err := m.column(n, want); err != nil {
		return catalog.Field{}, err
	}
	f, ok := n.describe(&want)
	if !ok {
		return f, errs.New(errs.Unsupported, "", "", "the file has no field of it that can be read")
	}
	return f, nil
}

// isWanted says whether the column is among the fields: the one that equality deletes compare may be wanted anyway.
func isWanted(fields []catalog.Field, id catalog.FieldID) bool {
	return fieldByID(fields, id) != nil
}

// identify gives the columns of a file without IDs those of the table's name mapping.
func (j *judge) identify(nodes []*node) error {
	if j.strict {
		return errs.New(errs.Corrupt, "", "", "its columns have no field IDs")
	}
	mapping, err := j.mapping()
	if err == nil && mapping == nil {
		err = unmapped(j.table)
	}
	if err != nil {
		return err
	}
	mapping.apply(nodes)
	return nil
}

// clashWith refuses a column that is found by its name if another one's name is the same to DuckDB.
func clashWith(n *node, nodes []*node) error {
	for _, other := range nodes {
		if other != n && lowerASCII(other.name) == lowerASCII(n.name) {
			return clash([]*node{n, other})
		}
	}
	return nil
}

func isNestedField(f catalog.Field) bool { return f.Type.Nested != catalog.NotNested }

// checkAbsent refuses delete files without a field that they must have.
func (j *judge) checkAbsent(r *reading) error {
	lacks := r.lacks
	for _, f := range r.absent {
		lacks = append(lacks, f.ID)
	}
	if j.strict && len(lacks) > 0 {
		return errs.New(errs.Corrupt, "", "", "it has no field with ID %d, which says what it deletes", lacks[0])
	}
	return nil
}

// missing returns an error where the value of a field in files without it can't be told.
func (j *judge) missing(f catalog.Field) error {
	if !f.HasDefault {
		return nil
	}
	name := catalog.ShownName(f.Name)
	if j.table.FormatVersion < 3 {
		return errs.New(errs.Corrupt, "column", name, "it has an initial default in a table of format version %d, where there are none", j.table.FormatVersion)
	}
	if f.Type.Nested == catalog.List || f.Type.Nested == catalog.Map {
		return errs.New(errs.Unsupported, "column", name, "the file was written before the column was added, and an initial default of a %s can't be read", f.Type)
	}
	for _, inner := range f.Type.Fields {
		if err := j.missing(inner); err != nil {
			return err
		}
	}
	return nil
}
