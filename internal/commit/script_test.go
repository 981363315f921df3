package commit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/survey"
	"github.com/tarndb/tarn/transform"
)

// TestScripts commits changes to tables as testdata tells it, and compares the outcomes and what is in the manifests.
//
//	new format=2 spec=identity        a table of the column p, with the transforms of its spec, parted by dots
//	evolve spec=bucket[4]             another spec
//	set name=value                    a table property
//	mark a                            calls the current head a
//	commit kind=append base=a ...     commits a change that was decided on a; each line of input is a file
//	state branch=b                    shows what the snapshot has
//	summary                           shows the summary of the head
//
// Lines of files are "add NAME p=1", "pos NAME p=1 of=FILE", "dv", "eq", "remove NAME" and "drop NAME" for delete files.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t, s.d = t, d
			return s.run()
		})
	})
}

type script struct {
	t     *testing.T
	d     *datadriven.TestData
	table *memTable
	names map[int64]string
	marks map[string]*OldSnapshot
	files map[string]manifest.File // all that were ever added, by name
}

func (s *script) run() string {
	switch s.d.Cmd {
	case "new":
		s.table = newTable(s.t, s.number("format", 2), s.transforms()...)
		s.names, s.marks, s.files = map[int64]string{}, map[string]*OldSnapshot{}, map[string]manifest.File{}
		return ""
	case "evolve":
		s.table.addSpec(s.t, s.transforms()...)
		return ""
	case "set":
		for _, a := range s.d.CmdArgs {
			s.table.setProperty(a.Key, strings.Join(a.Vals, ","))
		}
		return ""
	case "mark":
		s.marks[s.d.CmdArgs[0].Key] = s.table.head("main")
		return ""
	case "commit":
		return s.commit()
	case "state":
		return s.state(s.table.head(s.text("branch", "main")))
	case "summary":
		return s.summary(s.table.head(s.text("branch", "main")))
	}
	s.d.Fatalf(s.t, "unknown command")
	return ""
}

func (s *script) text(key, otherwise string) string {
	for _, a := range s.d.CmdArgs {
		if a.Key == key {
			return strings.Join(a.Vals, ",")
		}
	}
	return otherwise
}

func (s *script) number(key string, otherwise int) int {
	n, err := strconv.Atoi(s.text(key, strconv.Itoa(otherwise)))
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	return n
}

func (s *script) transforms() []string {
	if text := s.text("spec", "none"); text != "none" {
		return strings.Split(text, ".")
	}
	return nil
}

func (s *script) commit() string {
	c := Change{
		Kind:      map[string]Kind{"append": Append, "delta": RowDelta, "overwrite": Overwrite, "rewrite": Rewrite}[s.text("kind", "append")],
		Isolation: map[string]Isolation{"serializable": Serializable, "snapshot": Snapshot, "blind": Blind}[s.text("isolation", "serializable")],
		Branch:    s.text("branch", ""), WAPID: s.text("wap", ""), Job: s.text("job", ""),
	}
	base := s.table.head(s.text("branch", "main"))
	if mark := s.text("base", ""); mark != "" {
		base = s.marks[mark]
	}
	if base != nil {
		id := catalog.SnapshotID(base.ID)
		c.Base = &id
	}
	if s.text("reads", "") == "nothing" {
		c.Reads = catalog.Filter{Op: catalog.AlwaysFalse}
	} else if n := s.number("reads", -1); n >= 0 {
		c.Reads = isInt(n)
	}
	c.ReadsOthers = s.text("others", "") == "yes"
	if text := s.text("seq", ""); text != "" {
		n := int64(s.number("seq", 0))
		c.DataSequence = &n
	}
	there := s.table.entries(s.t, base)
	for line := range strings.Lines(s.d.Input) {
		s.add(&c, strings.Fields(line), there)
	}
	switch s.text("replace", "") {
	case "all":
		c.Replace = WholeTable()
	case "partitions":
		spec := s.table.current.Specs[catalog.SpecID(len(s.table.current.Specs)-1)]
		c.Replace = PartitionsOf(spec, c.Add)
	case "where":
		c.Replace = Matching(isInt(s.number("where", 0)))
	}
	done, err := Apply(s.t.Context(), s.table, "t", s.table.current, c)
	if err != nil {
		return fmt.Sprintf("%s: %s\n", errs.KindOf(err), s.named(err.Error()))
	}
	if _, known := s.names[int64(done.Snapshot)]; !known {
		s.names[int64(done.Snapshot)] = fmt.Sprintf("S%d", len(s.names)+1)
	}
	snapshot := s.table.current.snapshot(int64(done.Snapshot))
	out := fmt.Sprintf("%s %s", s.names[snapshot.ID], snapshot.Operation)
	if done.Repeated {
		out += " repeated"
	}
	if done.Staged {
		out += " staged"
	}
	return out + "\n"
}

// isInt is the filter that the table's column is n.
func isInt(n int) catalog.Filter {
	return catalog.Filter{Op: catalog.Test, Field: 1, Type: transform.Type{Kind: transform.Int}, Pred: transform.Predicate{
		Op: transform.EQ, Values: []transform.Value{int32(n)},
	}}
}

// named puts snapshots' names for their IDs.
func (s *script) named(text string) string {
	for id, name := range s.names {
		text = strings.ReplaceAll(text, strconv.FormatInt(id, 10), name)
	}
	return text
}

func (s *script) add(c *Change, words []string, there map[string]*manifest.Entry) {
	what, name := words[0], words[1]
	f := manifest.File{Path: name, Format: catalog.Parquet, Rows: 10, Bytes: 100, Spec: catalog.SpecID(len(s.table.current.Specs) - 1)}
	of := ""
	for _, w := range words[2:] {
		key, value, _ := strings.Cut(w, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch key {
		case "p":
			for text := range strings.SplitSeq(value, "/") {
				v := transform.Value(nil)
				if text != "null" {
					n, _ := strconv.Atoi(text)
					v = int32(n)
				}
				f.Partition = append(f.Partition, v)
			}
		case "rows":
			f.Rows = n
		case "bounds": // of the table's column, which has no NULLs
			low, high, _ := strings.Cut(value, "/")
			f.ValueCounts, f.NullCounts = map[int]int64{1: f.Rows}, map[int]int64{1: 0}
			f.Lower, f.Upper = map[int][]byte{1: s.bound(low)}, map[int][]byte{1: s.bound(high)}
		case "spec":
			f.Spec = catalog.SpecID(n)
		case "of":
			of = value
		}
	}
	d := catalog.DeleteFile{
		Ref: catalog.FileRef{Path: name, Bytes: 50}, Spec: f.Spec, Partition: f.Partition, Rows: 2, Target: of, Offset: 4, Length: 40,
	}
	switch what {
	case "add":
		c.Add = append(c.Add, f)
		s.files[name] = f
	case "pos":
		c.AddDeletes = append(c.AddDeletes, DeleteFile(d))
	case "dv":
		d.Kind = catalog.DeletionVector
		c.AddDeletes = append(c.AddDeletes, DeleteFile(d))
	case "eq":
		d.Kind, d.Equality = catalog.EqualityDeletes, []catalog.FieldID{1}
		c.AddDeletes = append(c.AddDeletes, DeleteFile(d))
	case "refer":
		c.Referenced = append(c.Referenced, name)
	case "remove":
		removed := catalog.DataFile{Ref: catalog.FileRef{Path: name}, Spec: s.files[name].Spec, Partition: s.files[name].Partition}
		if e, ok := there[name]; ok {
			removed.Sequence = e.Sequence
		}
		c.Remove = append(c.Remove, removed)
	case "drop":
		e, ok := there[name+of]
		if !ok {
			s.d.Fatalf(s.t, "there is no delete file %s", name)
		}
		gone, err := survey.DeleteOf(e)
		if err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
		c.RemoveDeletes = append(c.RemoveDeletes, gone)
	default:
		s.d.Fatalf(s.t, "unknown line %q", words)
	}
}

func (s *script) bound(text string) []byte {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	b, err := transform.EncodeBound(transform.Type{Kind: transform.Int}, int32(n))
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	return b
}

// state shows manifests, each with its entries.
func (s *script) state(snapshot *OldSnapshot) string {
	if snapshot == nil {
		return "nothing\n"
	}
	list, err := snapshot.Manifests(s.t.Context())
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	lines := map[string][]string{}
	s.table.visit(s.t, snapshot, func(m manifest.Info, e *manifest.Entry) {
		line := fmt.Sprintf("  %s %s", [...]string{"existing", "added", "deleted"}[e.Status], e.Path)
		if len(e.Partition) > 0 {
			line += fmt.Sprintf(" %v", e.Partition)
		}
		line += fmt.Sprintf(" by %s seq %d/%d", s.names[*e.SnapshotID], e.Sequence, e.FileSequence)
		if e.FirstRowID != nil {
			line += fmt.Sprintf(" row %d", *e.FirstRowID)
		}
		if e.Referenced != "" {
			line += " of " + e.Referenced
		}
		lines[m.Path] = append(lines[m.Path], line)
	})
	var b strings.Builder
	for _, m := range list {
		kind := "data"
		if m.Content != manifest.Data {
			kind = "deletes"
		}
		fmt.Fprintf(&b, "%s of spec %d by %s seq %d from %d: %d/%d/%d files %d/%d/%d rows", kind, m.Spec, s.names[*m.SnapshotID], m.Sequence, m.MinSequence,
			m.AddedFiles, m.ExistingFiles, m.DeletedFiles, m.AddedRows, m.ExistingRows, m.DeletedRows)
		for _, p := range m.Partitions {
			fmt.Fprintf(&b, " [%x..%x", p.Lower, p.Upper)
			if p.ContainsNull {
				b.WriteString(" null")
			}
			b.WriteString("]")
		}
		if m.FirstRowID != nil {
			fmt.Fprintf(&b, " row %d", *m.FirstRowID)
		}
		b.WriteString("\n" + strings.Join(lines[m.Path], "\n") + "\n")
	}
	return b.String()
}

func (s *script) summary(snapshot *OldSnapshot) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(snapshot.Summary)) {
		fmt.Fprintf(&b, "%s=%s\n", key, snapshot.Summary[key])
	}
	return b.String()
}
