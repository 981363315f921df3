package write

import (
	"strings"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
)

// source is where the rows of a file come from.
type source struct {
	sql      string // the SELECT of rows of the target's columns
	release  func() // to be called when no statement has the SELECT any more
	rows     int64
	isAtMost bool  // there may be fewer rows
	rowBytes int64 // about how many a row takes in memory
	isSorted bool  // or needn't be
	isBin    bool  // the SELECT does no work but to read bins
}

// mayBe says whether the source may have so many rows.
func (s *source) mayBe(rows int64) bool { return rows == s.rows || s.isAtMost && rows < s.rows }

func (s *source) wrongRows(op, path string, rows int64) error {
	return errs.New(errs.Internal, op, path, "%d rows came where %d were to come", rows, s.rows)
}

// binRows is the source of a part of a bin.
func (w *worker) binRows(spill *duck.Spill, bin int, part duck.SpillPart) *source {
	text, release := spill.ReadPart(bin, part)
	return &source{
		sql: text, release: release, rows: part.Rows, rowBytes: part.Bytes / max(part.Rows, 1), isSorted: len(w.job.target.keys) == 0,
		isBin: true,
	}
}

// united is the source of the rows of several, of which there is one at least.
func united(sources []*source) *source {
	if len(sources) == 1 {
		return sources[0]
	}
	out := &source{isSorted: true, isBin: true}
	var texts []string
	for _, s := range sources {
		texts = append(texts, s.sql)
		out.rows += s.rows
		out.isAtMost = out.isAtMost || s.isAtMost
		out.rowBytes = max(out.rowBytes, s.rowBytes)
		out.isSorted, out.isBin = out.isSorted && s.isSorted, out.isBin && s.isBin
	}
	out.sql = strings.Join(texts, " UNION ALL ")
	out.release = func() {
		for _, s := range sources {
			s.release()
		}
	}
	return out
}
