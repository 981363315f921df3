package stub

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/bind"
	"github.com/tarndb/tarn/internal/errs"
)

// Moment is what a statement's readings of the clock are of. The zero value is the moment of the first one. One goroutine uses it.
//
// It outlives binding: a statement that writes binds its query by itself and within another, and one that changes rows is planned anew
// after a conflict. What was done of it before is right beside what is done again only if both were told the same time.
type Moment struct{ texts map[string]string }

// Clock implements bind.Engine.
func (e Engine) Clock(ctx context.Context, name string) (string, error) {
	m := e.Moment
	if m.texts == nil {
		if err := m.read(ctx, e); err != nil {
			return "", err
		}
	}
	text, ok := m.texts[name]
	if !ok {
		return "", errs.New(errs.Internal, "read the clock", name, "it is no reading of the clock")
	}
	return text, nil
}

// read reads the clock, all readings in one query: DuckDB has one time for it.
func (m *Moment) read(ctx context.Context, e Engine) error {
	const between = "|"
	readings := bind.ClockReadings()
	names := slices.Sorted(maps.Keys(readings))
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = "CAST(" + readings[name] + " AS VARCHAR)"
	}
	text, err := e.Value(ctx, "SELECT concat_ws('"+between+"', "+strings.Join(items, ", ")+")")
	if err != nil {
		return err
	}
	values := strings.Split(text, between)
	if len(values) != len(names) {
		return errs.New(errs.Internal, "read the clock", "", "%d readings gave %q", len(names), text)
	}
	m.texts = map[string]string{}
	for i, name := range names {
		m.texts[name] = values[i]
	}
	return nil
}
