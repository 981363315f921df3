package golden

import (
	"context"
	"errors"
	"io"

	"github.com/tarndb/tarn"
)

// Answer is what a statement gave.
type Answer struct {
	Names []string
	Rows  []Row
	Err   error
}

// Ask runs a statement and reads all of its rows. args are the values of its parameters.
func Ask(ctx context.Context, s *tarn.Session, sql string, args ...any) Answer {
	rows, err := s.Query(ctx, sql, args...)
	if err != nil {
		return Answer{Err: err}
	}
	defer rows.Close()
	var a Answer
	for _, c := range rows.Columns() {
		a.Names = append(a.Names, c.Name)
	}
	for {
		batch, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return a
		}
		if err != nil {
			return Answer{Err: err}
		}
		more, err := RowsOf(batch)
		batch.Release()
		if err != nil {
			return Answer{Err: err}
		}
		a.Rows = append(a.Rows, more...)
	}
}
