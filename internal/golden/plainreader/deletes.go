package plainreader

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/tarndb/tarn/internal/golden"
)

// deletes are a snapshot's deletes, read.
type deletes struct {
	positions []positionDeletes
	vectors   []vector
	equality  []equalityDeletes
}

// positionDeletes are a file's: positions by the data file's path.
type positionDeletes struct {
	File
	dead map[string]map[int64]bool
}

type vector struct {
	File
	dead map[int64]bool
}

// equalityDeletes are a file's: the texts of the deleted values of some fields.
type equalityDeletes struct {
	File
	paths [][]field
	dead  map[string]bool
}

// readDeletes reads all delete files.
func (t *Table) readDeletes(ctx context.Context) (*deletes, error) {
	d := &deletes{}
	for _, f := range t.deletes {
		if err := t.addDeletes(ctx, d, f); err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Path, err)
		}
	}
	return d, nil
}

func (t *Table) addDeletes(ctx context.Context, d *deletes, f File) error {
	if f.format == "puffin" {
		dead, err := t.readVector(f)
		d.vectors = append(d.vectors, vector{f, dead})
		return err
	}
	records, err := t.read(ctx, f)
	if err != nil {
		return err
	}
	switch f.content {
	case contentPositions:
		p := positionDeletes{f, map[string]map[int64]bool{}}
		for _, r := range records {
			path := r.text(fieldDeletePath)
			at, ok := r.whole(fieldDeletePos)
			if path == "" || !ok {
				return errors.New("a position delete without a path or a position")
			}
			if p.dead[path] == nil {
				p.dead[path] = map[int64]bool{}
			}
			p.dead[path][at] = true
		}
		d.positions = append(d.positions, p)
		return nil
	case contentEquality:
		return t.addEquality(d, f, records)
	}
	return fmt.Errorf("%w: the content %d", ErrUnknown, f.content)
}

func (t *Table) addEquality(d *deletes, f File, records []record) error {
	e := equalityDeletes{f, nil, map[string]bool{}}
	for _, id := range f.equalityIDs {
		path, err := t.meta.everPath(t.columns, id)
		if err != nil {
			return err
		}
		e.paths = append(e.paths, path)
	}
	if len(e.paths) == 0 {
		return errors.New("equality deletes without equality IDs")
	}
	for _, r := range records {
		key, err := e.key(r, projection{})
		if err != nil {
			return err
		}
		e.dead[key] = true
	}
	d.equality = append(d.equality, e)
	return nil
}

// key writes the values of the equality fields in a record. NULL equals NULL.
func (e equalityDeletes) key(r record, p projection) (string, error) {
	var key golden.Row
	for _, path := range e.paths {
		v, err := p.at(r, path)
		if err != nil {
			return "", err
		}
		key = append(key, v)
	}
	return golden.Text(key), nil
}

// positionsIn returns which positions of a data file are deleted. A deletion vector takes the place of all position deletes.
func (d *deletes) positionsIn(f File) (map[int64]bool, error) {
	var found *vector
	for i, v := range d.vectors {
		if v.target != f.Path || v.sequence < f.sequence {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s has two deletion vectors", f.Path)
		}
		found = &d.vectors[i]
	}
	if found != nil {
		return found.dead, nil
	}
	dead := map[int64]bool{}
	for _, p := range d.positions {
		// A file that is about one data file needn't lie in its partition.
		if p.sequence >= f.sequence && (p.target != "" || p.filed == f.filed) {
			maps.Copy(dead, p.dead[f.Path])
		}
	}
	return dead, nil
}

// equalityOf returns the equality deletes that a data file must heed: younger ones, of its partition or of all.
func (d *deletes) equalityOf(f File) []equalityDeletes {
	var out []equalityDeletes
	for _, e := range d.equality {
		if e.sequence > f.sequence && (e.global || e.filed == f.filed) {
			out = append(out, e)
		}
	}
	return out
}
