package property

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/transform"
)

// dataFile writes rows, given as SQL tuples, as a data file of the table's current spec that isn't in the table yet.
func (l *lab) dataFile(name string, tuple []transform.Value, rows ...string) lake.NewDataFile {
	l.t.Helper()
	table := l.load(name)
	var columns []string
	for _, f := range table.Schema.Fields {
		columns = append(columns, catalog.ShownName(f.Name)+" "+l.sqlType(f))
	}
	l.exec("CREATE OR REPLACE TEMP TABLE batch (%s)", strings.Join(columns, ", "))
	l.exec("INSERT INTO batch VALUES %s", strings.Join(rows, ", "))
	ref, err := l.catalog.NewDataFileRef(l.t.Context(), table, tuple)
	l.must(err)
	_, err = l.conn.CopyParquet(l.t.Context(), "SELECT * FROM batch", table.Schema.Fields, ref.Local, duck.CopyOptions{Ordered: true})
	l.must(err)
	f, err := l.catalog.DataFileFromParquet(l.t.Context(), table, ref, tuple)
	l.must(err)
	return f
}

func (l *lab) sqlType(f catalog.Field) string {
	l.t.Helper()
	typ, err := duck.TypeSQL(f.Type)
	l.must(err)
	return typ
}

// delta commits data files and delete files as one snapshot.
func (l *lab) delta(name string, files []lake.NewDataFile, removed ...catalog.DeleteFile) {
	l.t.Helper()
	_, err := l.catalog.RowDelta(l.t.Context(), l.load(name), files, removed)
	l.must(err)
}

// fieldOf makes a primitive field of "name type", as a file has it.
func (l *lab) fieldOf(id catalog.FieldID, text string) catalog.Field {
	l.t.Helper()
	name, typ, _ := strings.Cut(text, " ")
	t, err := transform.ParseType(typ)
	l.must(err)
	return catalog.Field{ID: id, Name: name, Type: catalog.Type{Primitive: t}}
}

// equal returns equality deletes of unpartitioned spec 0 that have the query's rows, whose columns are the fields.
func (l *lab) equal(name, query string, fields ...catalog.Field) catalog.DeleteFile {
	l.t.Helper()
	d := l.deleter(name)
	out := catalog.DeleteFile{Kind: catalog.EqualityDeletes, Rows: int64(d.rowsOf(query)), Ref: d.write(query, fields)}
	for _, f := range fields {
		out.Equality = append(out.Equality, f.ID)
	}
	return out
}

// at returns position deletes of spec 0 and the tuple for the rows, given as tuples of a path and a position.
func (l *lab) at(name string, tuple []transform.Value, rows ...string) catalog.DeleteFile {
	l.t.Helper()
	d := l.deleter(name)
	query := "SELECT p::VARCHAR AS file_path, n::BIGINT AS pos FROM (VALUES " + strings.Join(rows, ", ") + ") v(p, n)"
	return catalog.DeleteFile{Kind: catalog.PositionDeletes, Partition: tuple, Rows: int64(len(rows)), Ref: d.write(query, catalog.PositionDeleteColumns())}
}

func place(path string, pos int64) string {
	return fmt.Sprintf("('%s', %d)", strings.ReplaceAll(path, "'", "''"), pos)
}

func (l *lab) rowsOf(query string) (n int) {
	l.t.Helper()
	a := l.judge("SELECT count(*) FROM (" + query + ")")
	l.must(a.err)
	_, err := fmt.Sscan(fmt.Sprint(a.rows[0][0]), &n)
	l.must(err)
	return n
}

// blob is a deletion vector for a data file, as its bytes in hexadecimal.
type blob struct {
	target string
	rows   int64
	hex    string
}

// vector makes a deletion vector of positions.
func (l *lab) vector(target string, positions ...int64) blob {
	l.t.Helper()
	set := &deletes.Positions{}
	set.Add(positions...)
	data, err := set.EncodeVector()
	l.must(err)
	return blob{target, set.Count(), hex.EncodeToString(data)}
}

// puffin returns deletion vectors that lie in one file, whose bytes between the blobs mean nothing.
func (l *lab) puffin(name string, blobs ...blob) (out []catalog.DeleteFile) {
	l.t.Helper()
	d := l.deleter(name)
	body := []byte("PFA1")
	for _, b := range blobs {
		data, err := hex.DecodeString(b.hex)
		l.must(err)
		out = append(out, catalog.DeleteFile{
			Kind: catalog.DeletionVector, Rows: b.rows, Target: b.target, Offset: int64(len(body)), Length: int64(len(data)),
		})
		body = append(append(body, data...), "between"...)
	}
	ref := d.newFile(".puffin")
	l.must(os.MkdirAll(filepath.Dir(ref.Local), 0o755))
	l.must(os.WriteFile(ref.Local, body, 0o600))
	ref.Bytes = int64(len(body))
	for i := range out {
		out[i].Ref = ref
	}
	return out
}

// shows fails unless the query gives these rows, in every mode, whatever its columns are called.
func (l *lab) shows(query string, rows ...string) {
	l.t.Helper()
	a := l.ask(auto, query)
	if a.err != nil {
		l.t.Errorf("%s: %v", query, a.err)
		return
	}
	l.gives(query, a.columns, rows...)
}

// corrupt fails unless the query ends with an error of kind Corrupt that says all of the words, in every mode.
func (l *lab) corrupt(query string, words ...string) {
	l.t.Helper()
	for _, m := range []mode{auto, small, off} {
		a := l.ask(m, query)
		if errs.KindOf(a.err) != errs.Corrupt || a.err == nil {
			l.t.Errorf("%v %s: error %v, wanted Corrupt", m, query, a.err)
			continue
		}
		for _, w := range words {
			if !strings.Contains(a.err.Error(), w) {
				l.t.Errorf("%v %s: the error doesn't say %q: %v", m, query, w, a.err)
			}
		}
	}
}
