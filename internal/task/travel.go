package task

import (
	"encoding/json"
	"sync/atomic"

	"github.com/tarndb/tarn/internal/errs"
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
