package survey

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/transform"
)

// deleted is a delete file of a test, of no certain target or columns.
func deleted(kind catalog.DeleteKind, sequence int64, spec catalog.SpecID, tuple ...transform.Value) liveDelete {
	return liveDelete{DeleteFile: catalog.DeleteFile{Kind: kind, Sequence: sequence, Spec: spec, Partition: tuple, Format: catalog.Parquet}}
}

func everywhere(d liveDelete) liveDelete { d.global = true; return d }

func ofFile(d liveDelete, path string) liveDelete { d.Target = path; return d }

func maybeOf(d liveDelete, path string) liveDelete { d.guessed = true; return ofFile(d, path) }

// TestWhichDeletesApply has the spec's rules of scope and sequence number, each delete file named by its place.
func TestWhichDeletesApply(t *testing.T) {
	const pos, eq, dv = catalog.PositionDeletes, catalog.EqualityDeletes, catalog.DeletionVector
	for _, c := range []struct {
		name    string
		file    catalog.DataFile
		deletes []liveDelete
		want    []int
	}{
		{"DEL-2 older file", catalog.DataFile{Sequence: 5}, []liveDelete{
			deleted(pos, 5, 0), everywhere(deleted(eq, 5, 0)), everywhere(deleted(eq, 6, 0)), deleted(pos, 4, 0),
		}, []int{0, 2}},
		{"DEL-2 newer file", catalog.DataFile{Sequence: 6}, []liveDelete{deleted(pos, 5, 0), everywhere(deleted(eq, 5, 0)), everywhere(deleted(eq, 6, 0))}, nil},
		{"DEL-3 other partition", catalog.DataFile{Sequence: 1, Partition: []transform.Value{int32(1)}}, []liveDelete{deleted(eq, 2, 0, int32(0)), deleted(eq, 2, 0, int32(1))}, []int{1}},
		{"DEL-4 other spec", catalog.DataFile{Sequence: 1, Partition: []transform.Value{"eu"}}, []liveDelete{deleted(eq, 2, 1, "eu"), deleted(pos, 2, 1, "eu")}, nil},
		{"NULL is a partition", catalog.DataFile{Sequence: 1, Partition: []transform.Value{nil}}, []liveDelete{deleted(eq, 2, 0, ""), deleted(eq, 2, 0, nil)}, []int{1}},
		{"a long is an int's partition", catalog.DataFile{Sequence: 1, Partition: []transform.Value{int64(3)}}, []liveDelete{deleted(eq, 2, 0, int32(3))}, []int{0}},
		{"global equality deletes cross specs", catalog.DataFile{Sequence: 1, Spec: 2, Partition: []transform.Value{"x"}}, []liveDelete{everywhere(deleted(eq, 2, 0))}, []int{0}},
		{"global equality deletes of void fields", catalog.DataFile{Sequence: 1, Spec: 2, Partition: []transform.Value{"x"}}, []liveDelete{everywhere(deleted(eq, 2, 1, nil))}, []int{0}},
		{"position deletes are never global", catalog.DataFile{Sequence: 1, Spec: 2, Partition: []transform.Value{"x"}}, []liveDelete{everywhere(deleted(pos, 2, 0))}, nil},
		{"file-scoped deletes apply by path alone", catalog.DataFile{Ref: catalog.FileRef{Path: "/f"}, Sequence: 1, Partition: []transform.Value{"x"}}, []liveDelete{
			ofFile(deleted(pos, 1, 3), "/f"), ofFile(deleted(pos, 2, 0, "x"), "/g"), ofFile(deleted(pos, 0, 0, "x"), "/f"),
		}, []int{0}},
		{"a vector replaces position deletes, not equality deletes", catalog.DataFile{Ref: catalog.FileRef{Path: "/f"}, Sequence: 1}, []liveDelete{
			deleted(pos, 2, 0), ofFile(deleted(pos, 2, 0), "/f"), everywhere(deleted(eq, 2, 0)), ofFile(deleted(dv, 2, 0), "/f"), ofFile(deleted(dv, 2, 0), "/g"),
		}, []int{2, 3}},
		{"bounds of a path that are whole", catalog.DataFile{Ref: catalog.FileRef{Path: "/file"}, Sequence: 1}, []liveDelete{
			maybeOf(deleted(pos, 1, 3), "/file"), maybeOf(deleted(pos, 1, 0), "/file2"),
		}, []int{0}},
		{"bounds of a path that were cut", catalog.DataFile{Ref: catalog.FileRef{Path: "/file"}, Sequence: 2}, []liveDelete{
			maybeOf(deleted(pos, 2, 0), "/fi"), maybeOf(deleted(pos, 1, 0), "/fi"), maybeOf(deleted(pos, 2, 1), "/fi"), maybeOf(deleted(pos, 2, 0), "/fx"),
			ofFile(deleted(pos, 2, 0), "/fi"), maybeOf(deleted(pos, 2, 0), "/f"),
		}, []int{0, 5}},
		{"a vector has what cut bounds are about", catalog.DataFile{Ref: catalog.FileRef{Path: "/file"}, Sequence: 2}, []liveDelete{
			maybeOf(deleted(pos, 2, 0), "/fi"), ofFile(deleted(dv, 2, 0), "/file"),
		}, []int{1}},
		{"a vector as old as the file applies", catalog.DataFile{Ref: catalog.FileRef{Path: "/f"}, Sequence: 2}, []liveDelete{ofFile(deleted(dv, 2, 0), "/f")}, []int{0}},
		{"a vector older than the file doesn't", catalog.DataFile{Ref: catalog.FileRef{Path: "/f"}, Sequence: 3}, []liveDelete{ofFile(deleted(dv, 2, 0), "/f"), deleted(pos, 3, 0)}, []int{1}},
		{"files of format version 1", catalog.DataFile{}, []liveDelete{everywhere(deleted(eq, 1, 0)), everywhere(deleted(eq, 0, 0)), deleted(pos, 0, 0)}, []int{0, 2}},
		{"numbers don't follow the order", catalog.DataFile{Sequence: 4}, []liveDelete{deleted(pos, 9, 0), deleted(pos, 3, 0), deleted(pos, 5, 0), deleted(pos, 4, 0)}, []int{0, 2, 3}},
	} {
		got, list, err := applied(c.deletes, c.file)
		if err != nil || !reflect.DeepEqual(got, c.want) || len(list) != len(c.want) {
			t.Errorf("%s: got %v of %d, %v, want %v", c.name, got, len(list), err, c.want)
		}
	}
}

// applied returns the places of the deletes that apply to the file, found as a survey finds them, and the layout's list.
func applied(deletes []liveDelete, f catalog.DataFile) (places []int, list []catalog.DeleteFile, err error) {
	for i := range deletes {
		deletes[i].Ref.Path = fmt.Sprintf("/d%02d", i)
	}
	x, err := newDeleteIndex(deletes)
	if err != nil {
		return nil, nil, err
	}
	x.mark(&f)
	if list, err = x.seal(fileio.Disk{}); err != nil {
		return nil, nil, err
	}
	for _, n := range x.listFor(&f, sharedDeletes{}) {
		places = append(places, slices.IndexFunc(deletes, func(d liveDelete) bool { return d.Ref.Path == list[n].Ref.Path }))
	}
	return places, list, nil
}

// TestIndexAgainstTheRules draws tables of few sequence numbers, partitions and paths, and compares the index with the
// rules, each asked of each pair of files.
func TestIndexAgainstTheRules(t *testing.T) {
	rng := seed.Rand(t)
	for range 300 {
		var deletes []liveDelete
		for i := range 1 + rng.IntN(12) {
			d := deleted(catalog.DeleteKind(rng.IntN(3)), rng.Int64N(5), catalog.SpecID(rng.IntN(2)), int32(rng.IntN(2)))
			d.Ref.Path = fmt.Sprintf("/d%02d", i)
			switch {
			case d.Kind == catalog.DeletionVector:
				d.Target = fmt.Sprint("/", i) // one of each file
			case d.Kind == catalog.EqualityDeletes:
				d.global = rng.IntN(3) == 0
			case rng.IntN(3) == 0:
				d.Target = fmt.Sprint("/", rng.IntN(4))
			}
			deletes = append(deletes, d)
		}
		var files []catalog.DataFile
		for i := range 8 {
			files = append(files, catalog.DataFile{
				Ref: catalog.FileRef{Path: fmt.Sprint("/", i)}, Sequence: rng.Int64N(5), Spec: catalog.SpecID(rng.IntN(2)), Partition: []transform.Value{int32(rng.IntN(2))},
			})
		}
		x, err := newDeleteIndex(deletes)
		if err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		for i := range files {
			x.mark(&files[i])
		}
		list, err := x.seal(fileio.Disk{})
		if err != nil {
			t.Fatal(err)
		}
		shared := sharedDeletes{}
		for i := range files {
			var got []string
			for _, n := range x.listFor(&files[i], shared) {
				got = append(got, list[n].Ref.Path)
				used[list[n].Ref.Path] = true
			}
			if want := byTheRules(&files[i], deletes); !slices.Equal(got, want) {
				t.Fatalf("%+v: got %v, want %v of %+v", files[i], got, want, deletes)
			}
		}
		if len(used) != len(list) {
			t.Fatalf("%d delete files are listed and %d used", len(list), len(used))
		}
	}
}

func byTheRules(f *catalog.DataFile, deletes []liveDelete) (paths []string) {
	covered := slices.ContainsFunc(deletes, func(d liveDelete) bool {
		return d.Kind == catalog.DeletionVector && d.Target == f.Ref.Path && f.Sequence <= d.Sequence
	})
	for _, d := range deletes {
		samePartition := d.Spec == f.Spec && reflect.DeepEqual(d.Partition, f.Partition)
		var applies bool
		switch d.Kind {
		case catalog.DeletionVector:
			applies = d.Target == f.Ref.Path && f.Sequence <= d.Sequence
		case catalog.PositionDeletes:
			applies = !covered && f.Sequence <= d.Sequence && (d.Target == f.Ref.Path || d.Target == "" && samePartition)
		case catalog.EqualityDeletes:
			applies = f.Sequence < d.Sequence && (d.global || samePartition)
		}
		if applies {
			paths = append(paths, d.Ref.Path)
		}
	}
	return paths
}

// TestTwoVectorsOfOneFile are Corrupt, and the error names both and their file.
func TestTwoVectorsOfOneFile(t *testing.T) {
	a, b := ofFile(deleted(catalog.DeletionVector, 1, 0), "/f"), ofFile(deleted(catalog.DeletionVector, 2, 0), "/f")
	_, _, err := applied([]liveDelete{a, b}, catalog.DataFile{})
	if errs.KindOf(err) != errs.Corrupt || !strings.Contains(err.Error(), "/d00") || !strings.Contains(err.Error(), "/d01") || !strings.Contains(err.Error(), "/f") {
		t.Errorf("got %v", err)
	}
}

// TestDeleteEntries is what entries of delete manifests make: their targets, and errors for what they lack.
func TestDeleteEntries(t *testing.T) {
	at := func(n int64) *int64 { return &n }
	vector := func(file string, offset, length *int64) manifest.File {
		return manifest.File{Content: manifest.PositionDeletes, Format: catalog.Puffin, Referenced: file, Offset: offset, Length: length}
	}
	bounds := func(lower, upper string) manifest.File {
		id := int(catalog.DeletePathID)
		return manifest.File{Content: manifest.PositionDeletes, Lower: map[int][]byte{id: []byte(lower)}, Upper: map[int][]byte{id: []byte(upper)}}
	}
	for _, c := range []struct {
		name string
		file manifest.File
		want string
	}{
		{"DEL-12 first vector", vector("/f1", at(4), at(46)), "deletion vector /f1 4 46 []"},
		{"DEL-12 second vector", vector("/f2", at(50), at(44)), "deletion vector /f2 50 44 []"},
		{"by name", manifest.File{Content: manifest.PositionDeletes, Referenced: "/f"}, "position deletes /f 0 0 []"},
		{"by bounds", bounds("/f", "/f"), "position deletes /f 0 0 []"},
		{"of several files", bounds("/f", "/g"), "position deletes  0 0 []"},
		{"equality", manifest.File{Content: manifest.EqualityDeletes, EqualityIDs: []int{5, 2, 5}}, "equality deletes  0 0 [2 5]"},
		{"no columns", manifest.File{Content: manifest.EqualityDeletes}, "no equality_ids"},
		{"equality in puffin", manifest.File{Content: manifest.EqualityDeletes, Format: catalog.Puffin, EqualityIDs: []int{1}}, "format puffin"},
		{"no target", vector("", at(4), at(46)), "no referenced_data_file"},
		{"no offset", vector("/f1", nil, at(46)), "no content_offset"},
		{"no length", vector("/f1", at(4), nil), "content_size_in_bytes"},
		{"negative offset", vector("/f1", at(-1), at(46)), "byte -1"},
		{"beyond the file", vector("/f1", at(60), at(46)), "in a file of 100"},
	} {
		c.file.Path, c.file.Rows, c.file.Bytes = "/d", 10, 100
		if c.file.Format == "" {
			c.file.Format = catalog.Parquet
		}
		d, err := deleteOf(&manifest.Entry{File: c.file})
		got := fmt.Sprint(d.Kind, " ", d.Target, " ", d.Offset, " ", d.Length, " ", d.Equality)
		switch {
		case err != nil && (errs.KindOf(err) != errs.Corrupt || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		case err == nil && got != c.want:
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestDeletesThatCannotBeRead are refused if they apply to a file that is read, and only then.
func TestDeletesThatCannotBeRead(t *testing.T) {
	for name, change := range map[string]func(*liveDelete){
		"orc":       func(d *liveDelete) { d.Format = catalog.ORC },
		"encrypted": func(d *liveDelete) { d.encrypted = true },
	} {
		d := deleted(catalog.PositionDeletes, 2, 0)
		change(&d)
		if _, _, err := applied([]liveDelete{d}, catalog.DataFile{Sequence: 1}); errs.KindOf(err) != errs.Unsupported || !strings.Contains(err.Error(), "/d00") {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := applied([]liveDelete{d}, catalog.DataFile{Sequence: 3}); err != nil {
			t.Errorf("%s, of no file: %v", name, err)
		}
	}
}
