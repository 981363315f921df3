package lake

import (
	"context"
	"math"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/survey"
)

// positionRow is one position that a delete file deletes.
type positionRow struct {
	*entryRow
	path     string // of the data file
	position int64
}

// firstOwnID is where the field IDs of the columns of position_deletes begin. The reference implementation has reserved ones
// there, which stand for the metadata columns of a row here.
const (
	firstOwnID    = math.MaxInt32 - 1000
	positionRowID = firstOwnID + 2
)

func positionDeleteColumns(m *metaTable) ([]metaColumn, error) {
	row := writable(catalog.Type{Nested: catalog.Struct, Fields: m.of.Schema.Fields})
	columns := []metaColumn{
		newColumn(firstOwnID, "file_path", textType, func(r *positionRow) any { return r.path }),
		newColumn(firstOwnID+1, "pos", longType, func(r *positionRow) any { return r.position }),
		newColumn(positionRowID, "row", row, func(*positionRow) any { return nil }),
	}
	columns = m.withPartition(columns, firstOwnID+3, func(r any) any { return r.(*positionRow).partition })
	columns = append(columns,
		newColumn(firstOwnID+4, "spec_id", intType, func(r *positionRow) any { return int32(r.Spec) }),
		newColumn(firstOwnID+5, "delete_file_path", textType, func(r *positionRow) any { return r.Path }),
	)
	if m.of.FormatVersion >= 3 {
		columns = append(columns,
			newColumn(firstOwnID+6, "content_offset", longType, func(r *positionRow) any { return orNull(r.Offset) }),
			newColumn(firstOwnID+7, "content_size_in_bytes", longType, func(r *positionRow) any { return orNull(r.Length) }),
		)
	}
	return columns, nil
}

func positionDeleteRows(ctx context.Context, s *metaScan, yield func(any) error) error {
	wantsRow := slices.ContainsFunc(s.wanted, func(c metaColumn) bool { return c.ID == positionRowID })
	positions := s.base.catalog.dataFiles().Positions(s.of, s.dir, wantsRow)
	return metaFileRows(ctx, s, func(row any) error {
		out := &positionRow{entryRow: row.(*entryRow)}
		if out.Content != manifest.PositionDeletes {
			return nil
		}
		d, err := survey.DeleteOf(out.Entry)
		switch {
		case err != nil:
			return err
		case len(out.KeyMetadata) > 0:
			return fileio.Encrypted(d.Ref.Path)
		}
		return positions.Each(ctx, d, func(path string, position int64) error {
			out.path, out.position = path, position
			return yield(out)
		})
	})
}
