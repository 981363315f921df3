package task

import (
	"encoding/json"
	"sync/atomic"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Rehearse makes Build hand out each graph as a far machine would get it: encoded, decoded and checked. Tests set it.
var Rehearse atomic.Bool

// Encode writes the graph as JSON.
func (g *Graph) Encode() ([]byte, error) { return json.Marshal(g) }

// Decode reads what Encode wrote.
func Decode(data []byte) (*Graph, error) {
	g := &Graph{}
	if err := json.Unmarshal(data, g); err != nil {
		return nil, errs.Wrap(errs.Corrupt, "decode", "task graph", err)
	}
	if g.Final != nil {
		for i := range g.Final.Tables {
			if err := restore(g.Final.Tables[i].Fields, g.Final.Tables[i].Defaults); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range g.Cores {
		for i := range c.Tables {
			if err := restore(c.Tables[i].Fields, c.Tables[i].Defaults); err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}

// travel returns the graph after a journey.
func (g *Graph) travel() (*Graph, error) {
	data, err := g.Encode()
	if err != nil {
		return nil, errs.Wrap(errs.Internal, "encode", "task graph", err)
	}
	far, err := Decode(data)
	if err == nil {
		err = Check(far)
	}
	return far, err
}

// defaults writes the initial defaults of fields for the journey, since a value alone doesn't tell its type.
func defaults(fields []catalog.Field) ([][]byte, error) {
	out := make([][]byte, len(fields))
	for i, f := range fields {
		if f.InitialDefault == nil {
			continue
		}
		b, err := transform.EncodeBound(f.Type.Primitive, f.InitialDefault)
		if err != nil {
			return nil, errs.Wrap(errs.Unsupported, "plan", f.Name, err)
		}
		if b == nil {
			b = []byte{} // an empty string is a default, nil is none
		}
		out[i] = b
	}
	return out, nil
}

func restore(fields []catalog.Field, defaults [][]byte) error {
	if len(defaults) != len(fields) {
		return errs.New(errs.Corrupt, "decode", "task graph", "%d defaults for %d columns", len(defaults), len(fields))
	}
	for i, b := range defaults {
		if b == nil {
			continue
		}
		v, err := transform.DecodeBound(fields[i].Type.Primitive, b)
		if err != nil {
			return errs.Wrap(errs.Corrupt, "decode default of", fields[i].Name, err)
		}
		fields[i].InitialDefault = v
	}
	return nil
}
