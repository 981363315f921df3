package duck

import (
	"context"
	"strings"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// systemFunctions are the functions that statements call as system.NAME, under the names that DuckDB knows them by.
// Spark takes the singular names of the time functions too.
var systemFunctions = map[string]string{
	"bucket": "tarn_bucket", "truncate": "tarn_truncate",
	"years": "tarn_years", "year": "tarn_years", "months": "tarn_months", "month": "tarn_months",
	"days": "tarn_days", "day": "tarn_days", "hours": "tarn_hours", "hour": "tarn_hours",
}

// SystemFunction returns DuckDB's name of the function that a statement calls as system.NAME, in any letter case.
func SystemFunction(name string) (string, bool) {
	own, ok := systemFunctions[strings.ToLower(name)]
	return own, ok
}

// function is one of our functions, or one overload of it.
type function struct {
	name    string
	params  []bindings.LogicalType // destroyed by who made them
	more    *bindings.LogicalType  // of any number of arguments after params; nil: there are none
	result  bindings.LogicalType
	call    unsafe.Pointer
	bind    unsafe.Pointer // nil: nothing to check beyond the types of params
	checked bool           // runs for each row that is asked for: never folded, never computed once for many
	nulls   bool           // runs for rows with NULLs too, which otherwise give NULL
}

// truncateMacro gives truncate its argument's type. A function can't: its result type is fixed, and DuckDB doesn't choose
// among overloads for each DECIMAL(p, s). So decimals travel as text, and the cast back is exact.
const truncateMacro = `CREATE MACRO tarn_truncate(width, x) AS cast_to_type(tarn_truncated(width, x), x)`

func registerFunctions(c *Conn) error {
	var made []bindings.LogicalType
	defer func() {
		for i := range made {
			bindings.DestroyLogicalType(&made[i])
		}
	}()
	typ := func(id bindings.Type) bindings.LogicalType {
		made = append(made, bindings.CreateLogicalType(id))
		return made[len(made)-1]
	}
	number, long, any, truth := typ(bindings.TypeInteger), typ(bindings.TypeBigInt), typ(bindings.TypeAny), typ(bindings.TypeBoolean)
	text, huge, word := typ(bindings.TypeVarchar), typ(bindings.TypeHugeInt), typ(bindings.TypeUBigInt)
	row := []bindings.LogicalType{long, word, long} // deletes, file, position
	functions := []function{
		{name: "tarn_bucket", params: []bindings.LogicalType{number, any}, result: number, call: callBucket, bind: bindBucket},
		{name: "tarn_years", params: []bindings.LogicalType{any}, result: number, call: callYears, bind: bindDates},
		{name: "tarn_months", params: []bindings.LogicalType{any}, result: number, call: callMonths, bind: bindDates},
		{name: "tarn_days", params: []bindings.LogicalType{any}, result: typ(bindings.TypeDate), call: callDays, bind: bindDates},
		{name: "tarn_hours", params: []bindings.LogicalType{any}, result: number, call: callHours, bind: bindTimes},
		{name: keptName, params: row, more: &any, result: truth, call: callKept, nulls: true},
		{name: "tarn_order_key", more: &any, result: huge, call: callOrderKey, bind: bindOrderKey, nulls: true},
		{name: shortName + "_8", params: []bindings.LogicalType{text}, result: word, call: callShortWord},
		{name: shortName + "_12", params: []bindings.LogicalType{text}, result: huge, call: callShortInline},
		{name: keptAtName, params: row, result: truth, call: callKeptAt, nulls: true},
	}
	for _, f := range functions {
		if err := register(c, f); err != nil {
			return err
		}
	}
	if err := register(c, named(mayMatchName, mayMatch(number, long, truth))...); err != nil {
		return err
	}
	for _, tables := range []func(*Conn) error{registerSpilled, registerArrow} {
		if err := tables(c); err != nil {
			return err
		}
	}
	shortTexts := []function{
		{params: []bindings.LogicalType{word}, result: text, call: callShortWordText},
		{params: []bindings.LogicalType{huge}, result: text, call: callShortInlineText},
	}
	if err := register(c, named(shortTextName, shortTexts)...); err != nil {
		return err
	}
	overloads := []function{
		{params: []bindings.LogicalType{number, any}, result: text, call: callTruncate, bind: bindDecimal},
	}
	for _, id := range []bindings.Type{
		bindings.TypeTinyInt, bindings.TypeSmallInt, bindings.TypeInteger, bindings.TypeBigInt, bindings.TypeVarchar, bindings.TypeBlob,
	} {
		t := typ(id)
		overloads = append(overloads, function{params: []bindings.LogicalType{number, t}, result: t, call: callTruncate})
	}
	if err := register(c, named("tarn_truncated", overloads)...); err != nil {
		return err
	}
	return c.Exec(context.Background(), truncateMacro)
}

func named(name string, fs []function) []function {
	for i := range fs {
		fs[i].name = name
	}
	return fs
}

// register makes the overloads of one function known to the instance of c.
func register(c *Conn, overloads ...function) error {
	name := overloads[0].name
	set := bindings.CreateScalarFunctionSet(name)
	defer bindings.DestroyScalarFunctionSet(&set)
	for _, f := range overloads {
		h := f.handle()
		state := bindings.AddScalarFunctionToSet(set, h)
		bindings.DestroyScalarFunction(&h)
		if state == bindings.StateError {
			return errs.New(errs.Internal, "register function", name, "an overload is refused")
		}
	}
	if bindings.RegisterScalarFunctionSet(c.handle, set) == bindings.StateError {
		return errs.New(errs.Internal, "register function", name, "refused")
	}
	return nil
}

// handle returns DuckDB's object for f, which the caller destroys.
func (f function) handle() bindings.ScalarFunction {
	h := bindings.CreateScalarFunction()
	bindings.ScalarFunctionSetName(h, f.name)
	for _, p := range f.params {
		bindings.ScalarFunctionAddParameter(h, p)
	}
	if f.more != nil {
		bindings.ScalarFunctionSetVarargs(h, *f.more)
	}
	bindings.ScalarFunctionSetReturnType(h, f.result)
	bindings.ScalarFunctionSetFunction(h, f.call)
	if f.bind != nil {
		bindings.ScalarFunctionSetBind(h, f.bind)
	}
	if f.checked {
		bindings.ScalarFunctionSetVolatile(h)
	}
	if f.nulls {
		bindings.ScalarFunctionSetSpecialHandling(h)
	}
	return h
}
