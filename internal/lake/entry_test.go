package lake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// TestEntriesOfGoldenTables compares every entry of the golden tables' manifests with what iceberg-go reads of it.
func TestEntriesOfGoldenTables(t *testing.T) {
	seen := 0
	for _, g := range goldenTables(t) {
		_, refused := goldenRefusals[g.id.String()]
		table, err := g.catalog.LoadTable(t.Context(), g.id, catalog.Version{})
		if refused && err != nil {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		h, err := g.catalog.handleOf(table)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range h.meta.Snapshots() {
			got, err := ownEntries(t.Context(), g.catalog, table, &s)
			if refused && err != nil {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", g.id, err)
			}
			want := theirEntries(t, g.catalog, table, &s)
			if !slices.Equal(got, want) {
				t.Errorf("%s snapshot %d: got\n%s\nwant\n%s", g.id, s.SnapshotID, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			seen += len(got)
		}
	}
	if seen < 1000 {
		t.Errorf("only %d entries", seen)
	}
}

func ownEntries(ctx context.Context, c *Catalog, t *catalog.Table, s *table.Snapshot) ([]string, error) {
	list, err := c.manifests(ctx, s)
	if err != nil {
		return nil, err
	}
	var lines []string
	reader := manifest.NewReader(c.fio, t.Specs)
	for i := range list {
		m := &list[i]
		err := reader.Visit(ctx, m, manifest.StatColumns{All: true}, func(e *manifest.Entry) error {
			lines = append(lines, ownLine(e))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func ownLine(e *manifest.Entry) string {
	return entryLine{
		e.Status, e.SnapshotID, e.Sequence, e.FileSequence, e.FirstRowID, e.Content, e.Path, string(e.Format), int(e.Spec), e.Partition, e.Rows, e.Bytes,
		e.ColumnSizes, e.ValueCounts, e.NullCounts, e.NaNCounts, e.Lower, e.Upper,
		e.SplitOffsets, e.EqualityIDs, e.SortOrderID, e.Referenced, e.Offset, e.Length,
	}.String()
}

func theirEntries(t *testing.T, c *Catalog, of *catalog.Table, s *table.Snapshot) []string {
	t.Helper()
	list, err := theirManifests(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range list {
		data, err := fileio.Read(t.Context(), c.fio, m.FilePath())
		if err != nil {
			t.Fatal(err)
		}
		entries, err := iceberg.ReadManifest(m, strings.NewReader(string(data)), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			lines = append(lines, theirLine(e, of.Specs[catalog.SpecID(m.PartitionSpecID())], catalog.SpecID(m.PartitionSpecID())).String())
		}
	}
	return lines
}

func theirLine(e iceberg.ManifestEntry, spec catalog.PartitionSpec, id catalog.SpecID) entryLine {
	f := e.DataFile()
	var tuple []transform.Value
	for _, field := range spec.Fields {
		v := f.Partition()[int(field.ID)]
		if field.Transform.Op == transform.Void {
			v = nil
		}
		tuple = append(tuple, theirValue(v))
	}
	line := entryLine{
		status: manifest.Status(e.Status()), sequence: e.SequenceNum(), firstRow: f.FirstRowID(), content: manifest.Content(f.ContentType()), path: f.FilePath(),
		format: strings.ToLower(string(f.FileFormat())), spec: int(id), tuple: tuple, rows: f.Count(), bytes: f.FileSizeBytes(),
		sizes: f.ColumnSizes(), values: f.ValueCounts(), nulls: f.NullValueCounts(), nans: f.NaNValueCounts(), lower: f.LowerBoundValues(), upper: f.UpperBoundValues(),
		splits: f.SplitOffsets(), equality: f.EqualityFieldIDs(), order: f.SortOrderID(), offset: f.ContentOffset(), length: f.ContentSizeInBytes(),
	}
	snapshot := e.SnapshotID()
	line.snapshot = &snapshot
	line.fileSequence = manifest.NoSequence
	if n := e.FileSequenceNum(); n != nil {
		line.fileSequence = *n
	}
	if r := f.ReferencedDataFile(); r != nil {
		line.referenced = *r
	}
	return line
}

func theirValue(v any) transform.Value {
	switch v := v.(type) {
	case iceberg.Date:
		return int32(v)
	case iceberg.Time:
		return int64(v)
	case iceberg.Timestamp:
		return int64(v)
	case iceberg.TimestampNano:
		return int64(v)
	case iceberg.DecimalLiteral:
		return v.Val.BigInt()
	case iceberg.Decimal:
		return v.Val.BigInt()
	}
	return v
}

// entryLine is all that an entry says.
type entryLine struct {
	status                     manifest.Status
	snapshot                   *int64
	sequence, fileSequence     int64
	firstRow                   *int64
	content                    manifest.Content
	path, format               string
	spec                       int
	tuple                      []transform.Value
	rows, bytes                int64
	sizes, values, nulls, nans map[int]int64
	lower, upper               map[int][]byte
	splits                     []int64
	equality                   []int
	order                      *int
	referenced                 string
	offset, length             *int64
}

func (l entryLine) String() string {
	var b strings.Builder
	fmt.Fprint(&b, l.status, text(l.snapshot), " ", l.sequence, l.fileSequence, " ", text(l.firstRow), " ", l.content, l.path, l.format, l.spec, " ", l.rows, " ", l.bytes)
	for _, v := range l.tuple {
		fmt.Fprintf(&b, " %v", v)
	}
	for _, m := range []map[int]int64{l.sizes, l.values, l.nulls, l.nans} {
		fmt.Fprint(&b, " ", m)
	}
	for _, m := range []map[int][]byte{l.lower, l.upper} {
		for _, id := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(&b, " %d:%x", id, m[id])
		}
	}
	fmt.Fprint(&b, l.splits, l.equality, text(l.order), l.referenced, text(l.offset), " ", text(l.length))
	return b.String()
}

func text[T any](p *T) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprint(*p)
}
