package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/write"
	"github.com/tarndb/tarn/transform"
)

const (
	dataFiles = 8   // the tables are partitioned by a column of as many values
	each      = 100 // every hundredth row is deleted
	keys      = 10_000
)

// bed is a lake with the tables.
type bed struct {
	uri, warehouse string
	rows           int64
	catalog        *lake.Catalog
	db             *duck.DB
	conn           *duck.Conn
}

func newBed(ctx context.Context, dir string, rows int64) (*bed, error) {
	dir = filepath.ToSlash(dir)
	b := &bed{uri: "sqlite:///" + dir + "/catalog.db", warehouse: "file://" + dir + "/warehouse", rows: rows}
	var err error
	b.catalog, err = lake.Open(ctx, lake.Config{Name: "lake", Type: "sql", URI: b.uri, Warehouse: b.warehouse, CreateIfMissing: true})
	if err != nil {
		return nil, err
	}
	if b.db, err = duck.Open(ctx, duck.Options{}); err != nil {
		return nil, err
	}
	if b.conn, err = b.db.Connect(); err != nil {
		return nil, err
	}
	return b, b.catalog.CreateNamespace(ctx, catalog.Ident{"bench"})
}

func (b *bed) close() {
	b.conn.Close()
	_ = errors.Join(b.db.Close(), b.catalog.Close())
}

// flags are the command line's for this lake.
func (b *bed) flags() []string {
	return []string{"--catalog", "lake", "--type", "sql", "--uri", b.uri, "--warehouse", b.warehouse}
}

func column(id int, name string, kind transform.Kind) catalog.Field {
	return catalog.Field{ID: catalog.FieldID(id), Name: name, Type: catalog.Type{Primitive: transform.Type{Kind: kind}}}
}

var fields = []catalog.Field{
	column(1, "id", transform.Long), column(2, "p", transform.Int), column(3, "v", transform.Int), column(4, "note", transform.String),
}

// fill makes a variant's table.
func (b *bed) fill(ctx context.Context, v variant) error {
	t, err := b.catalog.CreateTable(ctx, lake.NewTable{
		Ident: catalog.Ident{"bench", v.table}, Schema: &catalog.Schema{Fields: fields}, FormatVersion: v.version,
		Spec: []catalog.PartitionField{{Name: "p", Sources: []catalog.FieldID{2}, Transform: transform.Transform{Op: transform.Identity}}},
	})
	if err != nil {
		return err
	}
	rows := fmt.Sprintf("SELECT i AS id, (i * %d // %d)::INTEGER AS p, (hash(i) %% 1000)::INTEGER AS v, 'note ' || hash(i + 7) %% 1000 AS note FROM range(%d) r(i)",
		dataFiles, b.rows, b.rows)
	if _, err := write.Append(ctx, b.conn, b.catalog, t, rows); err != nil || v.delete == nil {
		return err
	}
	return v.delete(b, ctx, v.table)
}

func (b *bed) open(ctx context.Context, name string) (*catalog.Table, []catalog.DataFile, error) {
	t, err := b.catalog.LoadTable(ctx, catalog.Ident{"bench", name}, catalog.Version{})
	if err != nil {
		return nil, nil, err
	}
	layout, err := b.catalog.Survey(ctx, t, catalog.Filter{})
	if err != nil {
		return nil, nil, err
	}
	var files []catalog.DataFile
	err = layout.Files(ctx, func(f catalog.DataFile) error {
		files = append(files, f)
		return nil
	})
	return t, files, err
}

// byPosition writes a file of position deletes for each data file.
func (b *bed) byPosition(ctx context.Context, name string) error {
	t, files, err := b.open(ctx, name)
	if err != nil {
		return err
	}
	var out []catalog.DeleteFile
	for _, f := range files {
		rows := fmt.Sprintf("SELECT %s AS file_path, i AS pos FROM range(0, %d, %d) r(i)", quote.Text(f.Ref.Path), f.Rows, each)
		ref, n, err := b.write(ctx, t, f, rows, catalog.PositionDeleteColumns())
		if err != nil {
			return err
		}
		out = append(out, catalog.DeleteFile{
			Kind: catalog.PositionDeletes, Spec: f.Spec, Partition: f.Partition, Rows: n, Target: f.Ref.Path, Ref: ref,
		})
	}
	_, err = b.catalog.RowDelta(ctx, t, nil, out)
	return err
}

// byVector writes the deletion vectors of all data files into one Puffin file.
func (b *bed) byVector(ctx context.Context, name string) error {
	t, files, err := b.open(ctx, name)
	if err != nil {
		return err
	}
	body := bytes.NewBufferString("PFA1")
	var out []catalog.DeleteFile
	for _, f := range files {
		set := &deletes.Positions{}
		for row := int64(0); row < f.Rows; row += each {
			set.Add(row)
		}
		blob, err := set.EncodeVector()
		if err != nil {
			return err
		}
		out = append(out, catalog.DeleteFile{
			Kind: catalog.DeletionVector, Spec: f.Spec, Partition: f.Partition, Rows: set.Count(), Target: f.Ref.Path,
			Offset: int64(body.Len()), Length: int64(len(blob)),
		})
		body.Write(blob)
	}
	ref, err := b.catalog.NewDataFileRef(ctx, t, nil)
	if err != nil {
		return err
	}
	ref.Path, ref.Local, ref.Bytes = ref.Path+".puffin", ref.Local+".puffin", int64(body.Len())
	if err := os.WriteFile(ref.Local, body.Bytes(), 0o600); err != nil {
		return err
	}
	for i := range out {
		out[i].Ref = ref
	}
	_, err = b.catalog.RowDelta(ctx, t, nil, out)
	return err
}

// byKey writes one file of equality deletes for each partition, all with the same keys.
func (b *bed) byKey(ctx context.Context, name string) error {
	t, files, err := b.open(ctx, name)
	if err != nil {
		return err
	}
	var out []catalog.DeleteFile
	for _, f := range files {
		ref, n, err := b.write(ctx, t, f, fmt.Sprintf("SELECT i AS id FROM range(0, %d, %d) r(i)", b.rows, b.rows/keys), fields[:1])
		if err != nil {
			return err
		}
		out = append(out, catalog.DeleteFile{
			Kind: catalog.EqualityDeletes, Spec: f.Spec, Partition: f.Partition, Rows: n, Equality: []catalog.FieldID{1}, Ref: ref,
		})
	}
	_, err = b.catalog.RowDelta(ctx, t, nil, out)
	return err
}

// write writes a delete file of a partition.
func (b *bed) write(ctx context.Context, t *catalog.Table, f catalog.DataFile, query string, fields []catalog.Field) (catalog.FileRef, int64, error) {
	ref, err := b.catalog.NewDataFileRef(ctx, t, f.Partition)
	if err != nil {
		return ref, 0, err
	}
	written, err := b.conn.CopyParquet(ctx, query, fields, ref.Local, duck.CopyOptions{Ordered: true})
	if err != nil {
		return ref, 0, err
	}
	ref.Bytes = written[0].Bytes
	return ref, written[0].Rows, nil
}

// checkAnswer compares the number of rows with what the deletes leave.
func checkAnswer(v variant, answer string, rows int64) error {
	perFile := rows / dataFiles
	left := rows
	switch v.table {
	case "positions", "vectors":
		left -= dataFiles * ((perFile + each - 1) / each)
	case "keys":
		left -= (rows + rows/keys - 1) / (rows / keys)
	}
	_, line, _ := strings.Cut(answer, "\n")
	if got, _, _ := strings.Cut(line, ","); got != fmt.Sprint(left) {
		return fmt.Errorf("bench.%s has %s rows, not %d", v.table, got, left)
	}
	return nil
}
