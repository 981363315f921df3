package task

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
)

// TellsPlaces says whether the input's rows tell where they lie.
func (in *Input) TellsPlaces() bool {
	return slices.ContainsFunc(in.Fields, func(f catalog.Field) bool { return f.ID == catalog.PlaceID })
}

// EachPlaced calls use for each file whose rows tell their places, once or more.
func (g *Graph) EachPlaced(use func(*File)) {
	each := func(in *Input, files []File) {
		if !in.TellsPlaces() {
			return
		}
		for i := range files {
			use(&files[i])
		}
	}
	for i := range g.Cores {
		c := &g.Cores[i]
		for t := range c.Tables {
			table := &c.Tables[t]
			each(&table.Input, table.Everywhere)
			each(&table.Input, table.Routed)
			for _, p := range c.Packs {
				each(&table.Input, p.Inputs[t])
			}
		}
	}
	if g.Final != nil {
		for i := range g.Final.Tables {
			each(&g.Final.Tables[i].Input, g.Final.Tables[i].Files)
		}
	}
}

// checkPlaces proves that a place tells one file.
func checkPlaces(g *Graph) error {
	paths := map[int64]string{}
	var err error
	g.EachPlaced(func(f *File) {
		if path, ok := paths[f.Number]; ok && path != f.Ref.Path && err == nil {
			err = broken(f.Ref.Path, "its rows' places are those of %s", path)
		}
		paths[f.Number] = f.Ref.Path
	})
	return err
}
