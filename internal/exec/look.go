package exec

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// look makes the view of a table for a look at its rows. Release, which is never nil, is to be called when no statement reads it
// any more.
func (r *run) look(ctx context.Context, conn *duck.Conn, t *task.Whole) (release func(), err error) {
	releases := []func(){func() { r.deletes.release(&t.Input, needed(t.Files)) }}
	release = func() {
		for _, f := range releases {
			f()
		}
	}
	claims := t.Claims
	if r.opts.SkipKeyCheck {
		claims = nil
	}
	var texts []string
	for _, places := range alike(claims, len(t.Files)) {
		text, done, err := r.lookAt(ctx, conn, t, claims, places)
		releases = append(releases, done)
		if err != nil {
			return release, err
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		texts = []string{""}
		if texts[0], err = duck.ScanSQL(duck.Scan{Columns: viewColumns(&t.Input)}); err != nil {
			return release, err
		}
	}
	return release, makeView(ctx, conn, t.View, strings.Join(texts, " UNION ALL "))
}

// lookAt returns the SQL of the rows of files of which the same claims tell. The conditions stand below the checks: rows that they
// leave out are neither given nor checked.
func (r *run) lookAt(ctx context.Context, conn *duck.Conn, t *task.Whole, claims []task.Claim, places []int) (text string, release func(), err error) {
	files := make([]task.File, len(places))
	for i, at := range places {
		files[i] = t.Files[at]
	}
	scan, forget, err := r.deletes.lentScan(ctx, r.final, conn, &t.Input, files)
	releases := []func(){forget}
	release = func() {
		for _, f := range releases {
			f()
		}
	}
	if err != nil {
		return "", release, err
	}
	scan.Filter = conditionOf(&t.Input)
	for i := range claims {
		values, ok, err := valuesOf(&claims[i], places)
		if err != nil {
			return "", release, err
		}
		if !ok {
			continue
		}
		id, done, err := r.final.RegisterKeyCheck(keyCheck(&t.Input, claims[i].Source, files, values))
		if err != nil {
			return "", release, err
		}
		releases = append(releases, done)
		scan.Checks = append(scan.Checks, duck.ScanCheck{Field: claims[i].Field, Check: id})
	}
	text, err = checkedSQL(&t.Input, scan)
	return text, release, err
}

// checkedSQL returns the SELECT of a scan that checks each row that it gives, whatever columns are asked for.
func checkedSQL(in *task.Input, scan duck.Scan) (string, error) {
	text, err := duck.ScanSQL(scan)
	if err != nil || len(scan.Checks) == 0 {
		return text, err
	}
	checked := make([]string, len(scan.Checks))
	for i, c := range scan.Checks { // always true, but DuckDB computes no column that nothing reads
		checked[i] = "hash(" + quote.Name(columnOf(in, c.Field).As) + ") IS NOT NULL"
	}
	return "SELECT * FROM (" + text + ") WHERE " + strings.Join(checked, " AND "), nil
}

// alike parts the places of files by which of the claims tell of them.
func alike(claims []task.Claim, files int) [][]int {
	var out [][]int
	known := map[string]int{}
	for at := range files {
		var key strings.Builder
		for i := range claims {
			_, ok := claims[i].Values[at]
			fmt.Fprint(&key, ok, " ")
		}
		i, ok := known[key.String()]
		if !ok {
			i = len(out)
			known[key.String()], out = i, append(out, nil)
		}
		out[i] = append(out[i], at)
	}
	return out
}

// valuesOf returns what a claim says of files; false: nothing of the first, nor of the others, which are like it.
func valuesOf(c *task.Claim, places []int) ([]transform.Value, bool, error) {
	out := make([]transform.Value, len(places))
	for i, at := range places {
		v, ok, err := c.Value(at)
		if err != nil || !ok {
			return nil, false, err
		}
		out[i] = v
	}
	return out, true, nil
}
