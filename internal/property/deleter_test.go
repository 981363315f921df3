package property

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/transform"
)

// deleter writes delete files for rows of a table, as other engines do, and deletes the rows of the twin.
type deleter struct {
	*lab
	name  string
	table *catalog.Table
	files map[string]catalog.DataFile // by path
	paths []string
}

func (l *lab) deleter(name string) *deleter {
	l.t.Helper()
	ctx := context.Background()
	d := &deleter{lab: l, name: name, table: l.load(name), files: map[string]catalog.DataFile{}}
	layout, err := l.catalog.Survey(ctx, d.table, catalog.Filter{})
	l.must(err)
	l.must(layout.Files(ctx, func(f catalog.DataFile) error {
		f.Partition = slices.Clone(f.Partition)
		d.files[f.Ref.Path] = f
		d.paths = append(d.paths, f.Ref.Path)
		return nil
	}))
	slices.Sort(d.paths)
	return d
}

// positions returns, by data file, where the rows lie that a condition holds for.
func (d *deleter) positions(cond string) map[string][]int64 {
	d.t.Helper()
	a := d.ask(off, fmt.Sprintf("SELECT _file, _pos FROM %s WHERE %s", d.name, cond))
	d.must(a.err)
	out := map[string][]int64{}
	for _, row := range a.rows {
		path, pos := fmt.Sprint(row[0]), int64(0)
		_, err := fmt.Sscan(fmt.Sprint(row[1]), &pos)
		d.must(err)
		out[path] = append(out[path], pos)
	}
	for _, rows := range out {
		slices.Sort(rows)
	}
	return out
}

// twin deletes the rows of the twin.
func (d *deleter) twin(cond string) { d.exec("DELETE FROM %s WHERE %s", d.name, cond) }

func (d *deleter) commit(files []catalog.DeleteFile) {
	d.t.Helper()
	if len(files) == 0 {
		return
	}
	_, err := d.catalog.RowDelta(context.Background(), d.table, nil, files)
	d.must(err)
}

// newFile returns the place of a new file in the table's data folder.
func (d *deleter) newFile(suffix string) catalog.FileRef {
	d.t.Helper()
	ref, err := d.catalog.NewDataFileRef(context.Background(), d.table, nil)
	d.must(err)
	ref.Path, ref.Local = ref.Path+suffix, ref.Local+suffix
	return ref
}

// write writes a query's rows as a delete file, with the IDs of fields.
func (d *deleter) write(query string, fields []catalog.Field) catalog.FileRef {
	d.t.Helper()
	ref := d.newFile("")
	d.must(os.MkdirAll(filepath.Dir(ref.Local), 0o755))
	to := ref.Local
	if slices.ContainsFunc(fields, isFixed) {
		to = filepath.Join(d.t.TempDir(), "binary.parquet")
	}
	_, err := d.conn.CopyParquet(context.Background(), query, fields, to, duck.CopyOptions{Ordered: true})
	d.must(err)
	if to != ref.Local {
		d.copyFixed(fields, to, ref.Local)
	}
	info, err := os.Stat(ref.Local)
	d.must(err)
	ref.Bytes = info.Size()
	return ref
}

// byPosition deletes rows by files of position deletes: one for each data file, which names it, or one for each partition.
func (d *deleter) byPosition(cond string, perFile bool) map[string][]int64 {
	d.t.Helper()
	rows := d.positions(cond)
	groups := map[string][]string{}
	for _, path := range d.paths {
		if len(rows[path]) == 0 {
			continue
		}
		key := path
		if !perFile {
			key = partitionKey(d.files[path])
		}
		groups[key] = append(groups[key], path)
	}
	var files []catalog.DeleteFile
	for _, paths := range groups {
		var values []string
		for _, path := range paths {
			for _, pos := range rows[path] {
				values = append(values, fmt.Sprintf("('%s', %d::BIGINT)", strings.ReplaceAll(path, "'", "''"), pos))
			}
		}
		f := d.files[paths[0]]
		out := catalog.DeleteFile{Kind: catalog.PositionDeletes, Spec: f.Spec, Partition: f.Partition, Rows: int64(len(values))}
		out.Ref = d.write("SELECT * FROM (VALUES "+strings.Join(values, ", ")+") v(file_path, pos)", catalog.PositionDeleteColumns())
		if perFile {
			out.Target = paths[0]
		}
		files = append(files, out)
	}
	d.commit(files)
	d.twin(cond)
	return rows
}

func partitionKey(f catalog.DataFile) string {
	key := fmt.Sprintf("%d", f.Spec)
	for _, v := range f.Partition {
		key += "|" + string(transform.AppendKey(nil, transform.Type{}, v))
	}
	return key
}

// byVector deletes rows by deletion vectors, all in one Puffin file. A file's vector has what was deleted before, too.
func (d *deleter) byVector(cond string, before map[string][]int64) {
	d.t.Helper()
	rows := d.positions(cond)
	var body bytes.Buffer
	body.WriteString("PFA1")
	var files []catalog.DeleteFile
	for _, path := range d.paths {
		if len(rows[path]) == 0 {
			continue
		}
		set := &deletes.Positions{}
		set.Add(append(slices.Clone(before[path]), rows[path]...)...)
		blob, err := set.EncodeVector()
		d.must(err)
		f := d.files[path]
		files = append(files, catalog.DeleteFile{
			Kind: catalog.DeletionVector, Spec: f.Spec, Partition: f.Partition, Rows: set.Count(), Target: path,
			Offset: int64(body.Len()), Length: int64(len(blob)),
		})
		body.Write(blob)
	}
	body.WriteString("PFA1") // where a footer would be: a reader that goes by the offsets needs none
	ref := d.newFile(".puffin")
	d.must(os.MkdirAll(filepath.Dir(ref.Local), 0o755))
	d.must(os.WriteFile(ref.Local, body.Bytes(), 0o600))
	ref.Bytes = int64(body.Len())
	for i := range files {
		files[i].Ref = ref
	}
	d.commit(files)
	d.twin(cond)
}

// byValue deletes all rows that have, in columns, the values of a row that the condition holds for: by equality deletes, one
// file for each partition, since only those of unpartitioned specs hold everywhere.
func (d *deleter) byValue(cond string, columns ...string) {
	d.t.Helper()
	var fields []catalog.Field
	var ids []catalog.FieldID
	for _, name := range columns {
		for _, f := range d.table.Schema.Fields {
			if f.Name == name {
				fields, ids = append(fields, f), append(ids, f.ID)
			}
		}
	}
	list := strings.Join(columns, ", ")
	keys := fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %s", list, d.name, cond)
	d.exec("CREATE OR REPLACE TEMP TABLE keys AS %s", keys)
	count := d.judge("SELECT count(*) FROM keys")
	d.must(count.err)
	var rows int64
	_, err := fmt.Sscan(fmt.Sprint(count.rows[0][0]), &rows)
	d.must(err)
	if rows == 0 {
		return
	}
	var files []catalog.DeleteFile
	done := map[string]bool{}
	for _, path := range d.paths {
		f := d.files[path]
		if key := partitionKey(f); done[key] {
			continue
		}
		done[partitionKey(f)] = true
		files = append(files, catalog.DeleteFile{
			Kind: catalog.EqualityDeletes, Spec: f.Spec, Partition: f.Partition, Rows: rows, Equality: ids,
			Ref: d.write("SELECT * FROM keys", fields),
		})
	}
	d.commit(files)
	var same []string
	for _, name := range columns {
		same = append(same, fmt.Sprintf("k.%s IS NOT DISTINCT FROM t.%s", name, name))
	}
	d.exec("DELETE FROM %s t WHERE EXISTS (SELECT 1 FROM keys k WHERE %s)", d.name, strings.Join(same, " AND "))
}
