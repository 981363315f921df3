package bind

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// pushFilter hands a condition to the scan whose columns it is about, as a necessary condition that leaves files out.
//
// It may be pushed to any scan of the scope, below outer joins too, as long as no NULL satisfies it: a row of the answer
// that satisfies "r.x = 5" comes from a row of r that does; leaving other rows of r out can only fill r's columns with
// NULL where they were dropped anyway. "r.x IS NULL" is the counter-example: l LEFT JOIN r ... WHERE r.x IS NULL would
// find rows of l unmatched whose match was left out. So IS NULL is pushed only when the scan stands alone, in the scope
// itself and not in a derived table, which may hold such a join.
//
// It returns whether it pushed a test.
func (b *binder) pushFilter(c sql.Node, sc *scope) bool {
	f, scan := b.toFilter(c, sc)
	alone := scan != nil && len(sc.sources) == 1 && len(sc.sources[0].columns) > 0 && sc.sources[0].columns[0].col.Source == scan.Source
	if scan == nil || f.Op == catalog.AlwaysTrue || !alone && acceptsNull(f) {
		return false
	}
	scan.Filter = catalog.AllOf(scan.Filter, f)
	return true
}

func acceptsNull(f catalog.Filter) bool {
	if f.Op == catalog.Test {
		return f.Pred.Op == transform.IsNull
	}
	for _, t := range f.Terms {
		if acceptsNull(t) {
			return true
		}
	}
	return false
}

// toFilter translates a condition. What has no translation is AlwaysTrue, the scan nil; AND keeps what it can, OR needs
// all of its terms, and all terms must be about one scan.
func (b *binder) toFilter(c sql.Node, sc *scope) (catalog.Filter, *plan.Scan) {
	switch c.Type() {
	case "CONJUNCTION_AND", "CONJUNCTION_OR":
		return b.junction(c, sc)
	case "COMPARE_BETWEEN":
		return b.between(c, sc)
	case "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL":
		op := transform.IsNull
		if c.Type() == "OPERATOR_IS_NOT_NULL" {
			op = transform.NotNull
		}
		kids := c.List("children")
		return b.test(kids[0], sc, op, nil)
	case "COMPARE_IN":
		kids := c.List("children")
		return b.test(kids[0], sc, transform.In, kids[1:])
	}
	if op, ok := comparisons[c.Type()]; ok {
		if f, s := b.test(c.Child("left"), sc, op, []sql.Node{c.Child("right")}); s != nil {
			return f, s
		}
		return b.test(c.Child("right"), sc, mirrored[op], []sql.Node{c.Child("left")})
	}
	if c.Class() == "FUNCTION" {
		return b.prefixTest(c, sc)
	}
	return catalog.Filter{}, nil
}

// between needs both bounds, since it compares all three as one type: in x BETWEEN '9' AND 20 text is compared as numbers.
func (b *binder) between(c sql.Node, sc *scope) (catalog.Filter, *plan.Scan) {
	lower, scan := b.toFilter(comparison("COMPARE_GREATERTHANOREQUALTO", c.Child("input"), c.Child("lower")), sc)
	upper, same := b.toFilter(comparison("COMPARE_LESSTHANOREQUALTO", c.Child("input"), c.Child("upper")), sc)
	if scan == nil || same != scan {
		return catalog.Filter{}, nil
	}
	return catalog.AllOf(lower, upper), scan
}

func comparison(typ string, l, r sql.Node) sql.Node {
	return sql.Node{"class": "COMPARISON", "type": typ, "left": map[string]any(l), "right": map[string]any(r)}
}

var comparisons = map[string]transform.PredicateOp{
	"COMPARE_EQUAL": transform.EQ, "COMPARE_NOTEQUAL": transform.NE,
	"COMPARE_LESSTHAN": transform.LT, "COMPARE_LESSTHANOREQUALTO": transform.LE,
	"COMPARE_GREATERTHAN": transform.GT, "COMPARE_GREATERTHANOREQUALTO": transform.GE,
}

var mirrored = map[transform.PredicateOp]transform.PredicateOp{
	transform.EQ: transform.EQ, transform.NE: transform.NE, transform.LT: transform.GT, transform.LE: transform.GE,
	transform.GT: transform.LT, transform.GE: transform.LE,
}

func (b *binder) junction(c sql.Node, sc *scope) (catalog.Filter, *plan.Scan) {
	and := c.Type() == "CONJUNCTION_AND"
	var fs []catalog.Filter
	var scan *plan.Scan
	for _, k := range c.List("children") {
		f, s := b.toFilter(k, sc)
		switch {
		case s == nil && and:
			continue
		case s == nil || scan != nil && s != scan:
			return catalog.Filter{}, nil
		}
		scan, fs = s, append(fs, f)
	}
	if scan == nil {
		return catalog.Filter{}, nil
	}
	if and {
		return catalog.AllOf(fs...), scan
	}
	return catalog.AnyOf(fs...), scan
}

// test builds a test of a column against constants, all converted exactly to the column's type.
func (b *binder) test(e sql.Node, sc *scope, op transform.PredicateOp, args []sql.Node) (catalog.Filter, *plan.Scan) {
	if e == nil {
		return catalog.Filter{}, nil
	}
	scan, field, ok := b.tested(e, sc)
	if !ok || field.Type.Primitive.Kind == transform.None {
		return catalog.Filter{}, nil
	}
	typ := field.Type.Primitive
	p := transform.Predicate{Op: op}
	for _, a := range args {
		if isNullConstant(a) {
			if op == transform.In && a.Class() != "CAST" { // x IN (1, NULL) holds only where x IN (1) does
				continue
			}
			if op == transform.In { // a NULL of a type may change what the others are compared as
				return catalog.Filter{}, nil
			}
			return catalog.Filter{Op: catalog.AlwaysFalse}, scan
		}
		v, ok := constant(a, typ)
		if !ok {
			return catalog.Filter{}, nil
		}
		p.Values = append(p.Values, v)
	}
	if op == transform.In && len(p.Values) == 0 {
		return catalog.Filter{Op: catalog.AlwaysFalse}, scan
	}
	return catalog.Filter{Op: catalog.Test, Field: field.ID, Type: typ, Pred: p}, scan
}

// tested returns the column that an expression is, and its scan; of a metadata table also a field of its partition struct,
// which is never NULL as a whole: partition.customer_id_bucket of t.files.
func (b *binder) tested(e sql.Node, sc *scope) (*plan.Scan, catalog.Field, bool) {
	if col, ok := sc.column(e); ok {
		return b.origin(col)
	}
	if e.Class() != "COLUMN_REF" {
		return nil, catalog.Field{}, false
	}
	r, ok := sc.local(e)
	parts := e.Strs("column_names")
	if !ok || r.paired || len(parts) < 2 {
		return nil, catalog.Field{}, false
	}
	scan, field, ok := b.origin(r.col)
	if !ok || !scan.Table.Virtual || field.Name != "partition" || !strings.EqualFold(parts[len(parts)-2], field.Name) {
		return nil, catalog.Field{}, false
	}
	i := slices.IndexFunc(field.Type.Fields, func(f catalog.Field) bool { return strings.EqualFold(f.Name, parts[len(parts)-1]) })
	if i < 0 {
		return nil, catalog.Field{}, false
	}
	return scan, field.Type.Fields[i], true
}

// prefixTest recognises x LIKE 'abc%', starts_with(x, 'abc') and prefix(x, 'abc').
func (b *binder) prefixTest(c sql.Node, sc *scope) (catalog.Filter, *plan.Scan) {
	args := c.List("children")
	if len(args) != 2 || args[1].Type() != "VALUE_CONSTANT" {
		return catalog.Filter{}, nil
	}
	v := args[1].Child("value")
	prefix := v.Str("value")
	if v.Child("type").Str("id") != "VARCHAR" || v.Bool("is_null") {
		return catalog.Filter{}, nil
	}
	switch c.Str("function_name") {
	case "~~":
		if i := strings.IndexAny(prefix, "%_"); i >= 0 {
			prefix = prefix[:i]
		}
	case "starts_with", "prefix", "^@":
	default:
		return catalog.Filter{}, nil
	}
	if prefix == "" {
		return catalog.Filter{}, nil
	}
	f, scan := b.test(args[0], sc, transform.NotNull, nil)
	if scan == nil || f.Type.Kind != transform.String {
		return catalog.Filter{}, nil
	}
	f.Pred = transform.Predicate{Op: transform.StartsWith, Values: []transform.Value{prefix}}
	return f, scan
}

// origin follows a column down to a scan's column, on which a condition may as well stand.
func (b *binder) origin(c plan.Col) (*plan.Scan, catalog.Field, bool) {
	if s, ok := b.scanOf[c.Source]; ok {
		f, ok := s.Table.Schema.Field(catalog.FieldID(c.Index))
		return s, f, ok
	}
	blk, ok := b.blockOf[c.Source]
	if !ok {
		return nil, catalog.Field{}, false
	}
	in, ok := blk.Passes(c.Index)
	if !ok {
		return nil, catalog.Field{}, false
	}
	return b.origin(in)
}

func isNullConstant(n sql.Node) bool {
	if n.Class() == "CAST" {
		return isNullConstant(n.Child("child"))
	}
	return n.Type() == "VALUE_CONSTANT" && n.Child("value").Bool("is_null")
}

// constant converts a literal to a column's type, exactly as SQL compares the two; false when that isn't certain.
func constant(n sql.Node, t transform.Type) (transform.Value, bool) {
	if n.Class() == "CAST" {
		return typedConstant(n, t)
	}
	if n.Type() != "VALUE_CONSTANT" {
		return nil, false
	}
	v := n.Child("value")
	if v.Child("type").Str("id") == "VARCHAR" { // an untyped literal takes the column's type
		return textConstant(v.Str("value"), t)
	}
	r, ok := number(v)
	if !ok {
		return nil, false
	}
	return numberConstant(r, t)
}

// typedConstant reads DATE '...', TIMESTAMP '...', CAST('...' AS UUID) and the like.
func typedConstant(n sql.Node, t transform.Type) (transform.Value, bool) {
	child := n.Child("child")
	if child.Type() != "VALUE_CONSTANT" || child.Child("value").Child("type").Str("id") != "VARCHAR" {
		return nil, false
	}
	text := child.Child("value").Str("value")
	id := n.Child("cast_type").Str("id")
	if same, ok := castKinds[id]; ok && same == t.Kind {
		return textConstant(text, t)
	}
	if id == "DATE" && t.Kind == transform.Timestamp { // the date is widened, exactly
		d, err := transform.ParseValue(transform.Type{Kind: transform.Date}, text)
		if err != nil {
			return nil, false
		}
		return int64(d.(int32)) * 86_400_000_000, true
	}
	return nil, false
}

var castKinds = map[string]transform.Kind{
	"DATE": transform.Date, "TIMESTAMP": transform.Timestamp, "TIMESTAMP WITH TIME ZONE": transform.TimestampTZ,
	"TIME": transform.Time, "UUID": transform.UUID, "VARCHAR": transform.String, "BOOLEAN": transform.Boolean,
}

func textConstant(text string, t transform.Type) (transform.Value, bool) {
	switch t.Kind {
	case transform.String:
		return text, true
	case transform.Date, transform.Timestamp, transform.TimestampTZ, transform.Time, transform.UUID:
		v, err := transform.ParseValue(t, text)
		return v, err == nil
	case transform.Boolean:
		switch strings.ToLower(text) {
		case "t", "true":
			return true, true
		case "f", "false":
			return false, true
		}
	}
	return nil, false
}

// number reads an integer or decimal literal.
func number(v sql.Node) (*big.Rat, bool) {
	num, ok := v["value"].(json.Number)
	if !ok {
		return nil, false
	}
	typ := v.Child("type")
	switch typ.Str("id") {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT":
		return new(big.Rat).SetString(num.String())
	case "DECIMAL":
		scale, err := strconv.Atoi(jsonText(typ.Child("type_info")["scale"]))
		if err != nil {
			return nil, false
		}
		r, ok := new(big.Rat).SetString(num.String() + "e-" + strconv.Itoa(scale))
		return r, ok
	}
	return nil, false
}

func jsonText(v any) string {
	n, _ := v.(json.Number)
	return n.String()
}

// numberConstant converts an exact number to an integer or decimal type; false when it doesn't fit without a change.
func numberConstant(r *big.Rat, t transform.Type) (transform.Value, bool) {
	switch t.Kind {
	case transform.Int, transform.Long:
		if !r.IsInt() || !r.Num().IsInt64() {
			return nil, false
		}
		n := r.Num().Int64()
		if t.Kind == transform.Long {
			return n, true
		}
		return int32(n), n == int64(int32(n))
	case transform.Decimal:
		scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)))
		if !scaled.IsInt() || len(new(big.Int).Abs(scaled.Num()).String()) > t.Precision {
			return nil, false
		}
		return new(big.Int).Set(scaled.Num()), true
	}
	return nil, false
}
