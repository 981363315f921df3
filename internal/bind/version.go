package bind

import (
	"context"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

// version reads a table's AT clause, which package sql makes of VERSION AS OF, TIMESTAMP AS OF and their kin. A list is a
// range of snapshots: after its first item, up to its second one or the current snapshot.
func (b *binder) version(ctx context.Context, at sql.Node) (v catalog.Version, err error) {
	if at == nil {
		return v, nil
	}
	point := b.versionPoint
	if strings.EqualFold(at.Str("unit"), "TIMESTAMP") {
		point = b.timePoint
	}
	expr := at.Child("expr")
	if !strings.EqualFold(expr.Str("function_name"), "list_value") {
		v.At, err = point(ctx, expr)
		return v, err
	}
	items := expr.List("children")
	if len(items) < 1 || len(items) > 2 {
		return v, errs.New(errs.Invalid, "", "", "a range of versions has a start and an end")
	}
	v.Reading = catalog.ReadAppends
	since, err := point(ctx, items[0])
	if err == nil && len(items) == 2 {
		v.At, err = point(ctx, items[1])
	}
	v.Since = &since
	return v, err
}

// versionPoint reads a snapshot's ID, or the name of a branch or tag in quotes.
func (b *binder) versionPoint(ctx context.Context, expr sql.Node) (catalog.Point, error) {
	typ, text, err := b.constant(ctx, expr, "coalesce(CAST(%s AS VARCHAR), '')")
	if err != nil {
		return catalog.Point{}, err
	}
	if text == "" {
		return catalog.Point{}, errs.New(errs.Invalid, "", "", "it is NULL or empty").WithHint("%s", versionHint)
	}
	if typ == "VARCHAR" {
		return catalog.Point{Ref: text}, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return catalog.Point{}, errs.New(errs.Invalid, "", "", "%s (a %s) is no version", text, typ).WithHint("%s", versionHint)
	}
	id := catalog.SnapshotID(n)
	return catalog.Point{Snapshot: &id}, nil
}

const (
	versionHint = "a version is the ID of a snapshot, or the name of a branch or tag in single quotes"
	timeHint    = "a time is a timestamp, a date, text such as '2024-01-31 10:00:00', or a number of seconds since 1970"
)

// maxSeconds is the end of the year 9999. What seems to lie beyond is a number of milliseconds, as other programs count:
// to read it as seconds would select the newest snapshot without a word.
const maxSeconds = 253402300800

// timePoint reads a time: text or a timestamp, which is UTC where it has no time zone of its own, a date, or a number of seconds
// since 1970.
func (b *binder) timePoint(ctx context.Context, expr sql.Node) (catalog.Point, error) {
	typ, err := b.constantType(ctx, expr)
	if err != nil {
		return catalog.Point{}, err
	}
	moment := "epoch_us(CAST(%s AS TIMESTAMP WITH TIME ZONE))"
	kind, _, _ := strings.Cut(typ, "(")
	switch {
	case isNumber[kind]:
		moment = "epoch_us(to_timestamp(CAST(%s AS DOUBLE)))"
	case kind != "VARCHAR" && kind != "DATE" && !strings.HasPrefix(kind, "TIMESTAMP"):
		return catalog.Point{}, errs.New(errs.Invalid, "", "", "a %s is no time", typ).WithHint("%s", timeHint)
	}
	_, text, err := b.constant(ctx, expr, "CAST("+moment+" AS VARCHAR)")
	if err != nil {
		return catalog.Point{}, err
	}
	us, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return catalog.Point{}, errs.New(errs.Invalid, "", "", "it is NULL or infinite").WithHint("%s", timeHint)
	}
	if us >= maxSeconds*1_000_000 && isNumber[kind] {
		return catalog.Point{}, errs.New(errs.Invalid, "", "", "it lies after the year 9999").
			WithHint("a number counts seconds since 1970: divide milliseconds by 1000")
	}
	ms := us / 1000
	if us%1000 < 0 {
		ms--
	}
	return catalog.Point{TimestampMs: &ms}, nil
}

var isNumber = map[string]bool{
	"TINYINT": true, "SMALLINT": true, "INTEGER": true, "BIGINT": true, "HUGEINT": true, "UTINYINT": true, "USMALLINT": true,
	"UINTEGER": true, "UBIGINT": true, "UHUGEINT": true, "DECIMAL": true, "FLOAT": true, "DOUBLE": true,
}

// constantType returns the type of an expression that is to be a constant. Clock readings without parentheses are folded.
func (b *binder) constantType(ctx context.Context, expr sql.Node) (string, error) {
	var failed error
	expr.Walk(func(n sql.Node) bool {
		switch name := strings.ToLower(strings.Join(n.Strs("column_names"), ".")); {
		case failed != nil:
			return false
		case bareClocks[name]:
			failed = b.fold(ctx, n, name)
		case n.Class() == "SUBQUERY", n.Class() == "COLUMN_REF":
			failed = errs.New(errs.Invalid, "", "", "a version must be a constant: it holds %s", what(n, name)).
				WithHint("names of branches and tags stand in single quotes")
		}
		return failed == nil
	})
	if failed != nil {
		return "", failed
	}
	text, err := b.text(ctx, bareSelect(expr))
	if err != nil {
		return "", err
	}
	columns, err := b.engine.Describe(ctx, text)
	if err != nil {
		return "", err
	}
	return columns[0].Type, nil
}

func what(n sql.Node, name string) string {
	if n.Class() == "SUBQUERY" {
		return "a subquery"
	}
	return "the name " + name
}

// constant returns a constant's type, and as text what a template makes of it.
func (b *binder) constant(ctx context.Context, expr sql.Node, template string) (typ, value string, err error) {
	if typ, err = b.constantType(ctx, expr); err != nil {
		return "", "", err
	}
	text, err := b.text(ctx, bareSelect(expr))
	if err != nil {
		return "", "", err
	}
	value, err = b.engine.Value(ctx, "SELECT "+strings.Replace(template, "%s", "("+text+")", 1))
	return typ, value, err
}
