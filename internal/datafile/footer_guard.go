package datafile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/tarndb/tarn/internal/errs"
)

// footerFacts is what a scan needs to know of a footer besides its schema.
type footerFacts struct {
	codecs    uint32 // a bit for each codec that a column chunk is compressed by, in Parquet's numbers
	encrypted bool   // some columns are
	geo       bool   // it is a GeoParquet file, some of whose columns of bytes DuckDB makes geometries of
	bareLists bool   // a list or map is marked by its logical type only, which DuckDB doesn't look at
	bare      bool   // it is a copy of a file without field IDs
	oldMaps   bool   // a map is marked as its own keys and values, for which DuckDB refuses the file
}

// Codecs that matter here, in Parquet's numbers.
const (
	codecLZO    = 3
	codecLZ4    = 5 // LZ4 in blocks as Hadoop frames them
	newestCodec = 7
)

// refusal returns an error for what can't be read at all.
func (f footerFacts) refusal() error {
	switch {
	case f.encrypted:
		return errs.New(errs.Unsupported, "", "", "it is encrypted, and encrypted files can't be read")
	case f.codecs&(1<<codecLZO) != 0:
		return errs.New(errs.Unsupported, "", "", "it is compressed by LZO, which can't be read")
	case f.codecs>>(newestCodec+1) != 0:
		return errs.New(errs.Unsupported, "", "", "it is compressed by a codec that isn't known (Parquet's number %d)", bits.Len32(f.codecs)-1)
	}
	return nil
}

// checkFooter walks over a footer's bytes before they are parsed. The parser allocates by the counts that it meets and
// recurses as deep as the schema nests; so no count may be greater than what follows has room for, and nesting is bounded.
func checkFooter(footer []byte) (footerFacts, error) {
	w := thriftWalk{data: footer}
	var facts footerFacts
	var schema schemaWalk
	err := w.fields(func(id int, typ byte) error {
		switch {
		case id == 2 && typ == thriftList:
			return w.list(func(byte) error { return schema.element(&w, &facts) })
		case id == 4 && typ == thriftList:
			return w.list(func(byte) error { return w.rowGroup(&facts) })
		case id == 5 && typ == thriftList:
			return w.list(func(byte) error { return w.keyValue(&facts) })
		case id == 8:
			facts.encrypted = true
		}
		return w.skip(typ)
	})
	if err == nil {
		err = schema.end()
	}
	return facts, err
}

// maxSchemaDepth is how deep groups of a schema may nest.
const maxSchemaDepth = 200

// schemaWalk follows the tree that a footer's flat list of schema elements is.
type schemaWalk struct {
	elements int64
	promised int64   // children that elements say they have
	open     []int64 // how many children are missing in each group around the next element
}

func (s *schemaWalk) element(w *thriftWalk, facts *footerFacts) error {
	var children, repetition int64
	var isNested bool
	converted := int64(-1)
	err := w.fields(func(id int, typ byte) (err error) {
		switch {
		case id == 3 && typ == thriftI32:
			repetition, err = w.integer()
			return err
		case id == 5 && typ == thriftI32:
			children, err = w.integer()
			return err
		case id == 6 && typ == thriftI32:
			converted, err = w.integer()
			return err
		case id == 10 && typ == thriftStruct:
			return w.fields(func(kind int, typ byte) error {
				isNested = isNested || kind == 2 || kind == 3
				return w.skip(typ)
			})
		}
		return w.skip(typ)
	})
	if err != nil {
		return err
	}
	const repeated, mapKeyValue = 2, 2
	facts.bareLists = facts.bareLists || isNested && converted < 0
	facts.oldMaps = facts.oldMaps || converted == mapKeyValue && repetition != repeated
	return s.place(children)
}

// place puts the next element into the innermost group that isn't full.
func (s *schemaWalk) place(children int64) error {
	if n := len(s.open); n > 0 {
		s.open[n-1]--
	} else if s.elements > 0 {
		return errors.New("its schema has elements outside of its root")
	}
	s.elements++
	s.promised += children
	if children < 0 || s.promised > maxElements {
		return fmt.Errorf("its schema has a group of %d fields", children)
	}
	if children > 0 {
		s.open = append(s.open, children)
	}
	if len(s.open) > maxSchemaDepth {
		return fmt.Errorf("its schema nests more than %d groups", maxSchemaDepth)
	}
	for n := len(s.open); n > 0 && s.open[n-1] == 0; n-- {
		s.open = s.open[:n-1]
	}
	return nil
}

// maxElements bounds what a parser allocates before it finds elements missing.
const maxElements = 1 << 22

func (s *schemaWalk) end() error {
	if s.elements == 0 || len(s.open) > 0 {
		return errors.New("its schema lacks elements")
	}
	return nil
}

func (w *thriftWalk) rowGroup(facts *footerFacts) error {
	return w.fields(func(id int, typ byte) error {
		if id == 1 && typ == thriftList {
			return w.list(func(byte) error { return w.columnChunk(facts) })
		}
		return w.skip(typ)
	})
}

func (w *thriftWalk) columnChunk(facts *footerFacts) error {
	return w.fields(func(id int, typ byte) error {
		if id == 8 || id == 9 {
			facts.encrypted = true
		}
		if id != 3 || typ != thriftStruct {
			return w.skip(typ)
		}
		return w.fields(func(id int, typ byte) error {
			if id != 4 || typ != thriftI32 {
				return w.skip(typ)
			}
			codec, err := w.integer()
			if err == nil && (codec < 0 || codec > 31) {
				err = fmt.Errorf("a column is compressed by the codec %d", codec)
			}
			facts.codecs |= 1 << uint(codec&31)
			return err
		})
	})
}

func (w *thriftWalk) keyValue(facts *footerFacts) error {
	return w.fields(func(id int, typ byte) error {
		from := w.at
		err := w.skip(typ)
		if err == nil && id == 1 && typ == thriftBinary {
			_, n := binary.Uvarint(w.data[from:w.at])
			switch key := string(w.data[from+n : w.at]); key {
			case "geo":
				facts.geo = true
			case bareKey:
				facts.bare = true
			}
		}
		return err
	})
}
