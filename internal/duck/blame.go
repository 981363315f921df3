package duck

import (
	"context"
	"errors"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// blame names the file in an error about damage that doesn't: DuckDB says of some that a footer or a page is wrong, but
// not whose. It reads the files that the statement scans until one fails by itself, footers first.
func (c *Conn) blame(ctx context.Context, sql string, err error) error {
	return c.Blame(ctx, scannedFiles(sql), err)
}

// Blame is for statements that scan files through views: it names the one of files that err is about, if err is about
// damage and doesn't say whose.
func (c *Conn) Blame(ctx context.Context, files []string, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) || e.Kind != errs.Corrupt || e.Object != "" {
		return err
	}
	for _, read := range []string{"SELECT count(*) FROM parquet_metadata(", "SELECT max(hash(COLUMNS(*))) FROM read_parquet("} {
		for _, path := range files {
			if errs.KindOf(c.Exec(ctx, read+QuotePath(path)+")")) == errs.Corrupt {
				named := *e
				named.Object = path
				named.Msg = "the Parquet file is damaged: " + strings.TrimRight(e.Msg, ": ")
				return &named
			}
		}
	}
	return err
}

// scannedFiles returns the files in the scans of a statement, as sourceSQL writes them.
func scannedFiles(sql string) []string {
	var files []string
	for {
		_, rest, found := strings.Cut(sql, "read_parquet([")
		if !found {
			return files
		}
		for strings.HasPrefix(rest, "'") {
			var path string
			path, rest = cutText(rest)
			files = append(files, plainSigns.Replace(path))
			rest = strings.TrimPrefix(rest, ", ")
		}
		sql = rest
	}
}

// cutText splits what begins with an SQL string into its text and the rest.
func cutText(sql string) (text, rest string) {
	for i := 1; i < len(sql); i++ {
		switch {
		case sql[i] != '\'':
		case strings.HasPrefix(sql[i+1:], "'"):
			i++
		default:
			return strings.ReplaceAll(sql[1:i], "''", "'"), sql[i+1:]
		}
	}
	return "", ""
}
