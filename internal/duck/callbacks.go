package duck

/*
extern void tarnDuckBucket(void *info, void *input, void *output);
extern void tarnDuckTruncate(void *info, void *input, void *output);
extern void tarnDuckYears(void *info, void *input, void *output);
extern void tarnDuckMonths(void *info, void *input, void *output);
extern void tarnDuckDays(void *info, void *input, void *output);
extern void tarnDuckHours(void *info, void *input, void *output);
extern void tarnDuckVerify(void *info, void *input, void *output);
extern void tarnDuckKept(void *info, void *input, void *output);
extern void tarnDuckOrderKey(void *info, void *input, void *output);
extern void tarnDuckBindBucket(void *info);
extern void tarnDuckBindDecimal(void *info);
extern void tarnDuckBindDates(void *info);
extern void tarnDuckBindTimes(void *info);
extern void tarnDuckBindOrderKey(void *info);
*/
import "C"

import (
	"fmt"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/transform"
)

// What DuckDB calls, one C function each: a tag to tell them apart would have to be a pointer.
var (
	callBucket   = unsafe.Pointer(C.tarnDuckBucket)
	callTruncate = unsafe.Pointer(C.tarnDuckTruncate)
	callYears    = unsafe.Pointer(C.tarnDuckYears)
	callMonths   = unsafe.Pointer(C.tarnDuckMonths)
	callDays     = unsafe.Pointer(C.tarnDuckDays)
	callHours    = unsafe.Pointer(C.tarnDuckHours)
	callVerify   = unsafe.Pointer(C.tarnDuckVerify)
	callKept     = unsafe.Pointer(C.tarnDuckKept)
	callOrderKey = unsafe.Pointer(C.tarnDuckOrderKey)
	bindBucket   = unsafe.Pointer(C.tarnDuckBindBucket)
	bindDecimal  = unsafe.Pointer(C.tarnDuckBindDecimal)
	bindDates    = unsafe.Pointer(C.tarnDuckBindDates)
	bindTimes    = unsafe.Pointer(C.tarnDuckBindTimes)
	bindOrderKey = unsafe.Pointer(C.tarnDuckBindOrderKey)
)

//export tarnDuckBucket
func tarnDuckBucket(info, input, output unsafe.Pointer) { execute(info, input, output, bucket) }

//export tarnDuckTruncate
func tarnDuckTruncate(info, input, output unsafe.Pointer) { execute(info, input, output, truncate) }

//export tarnDuckYears
func tarnDuckYears(info, input, output unsafe.Pointer) {
	execute(info, input, output, timeFunction(transform.Year))
}

//export tarnDuckMonths
func tarnDuckMonths(info, input, output unsafe.Pointer) {
	execute(info, input, output, timeFunction(transform.Month))
}

//export tarnDuckDays
func tarnDuckDays(info, input, output unsafe.Pointer) {
	execute(info, input, output, timeFunction(transform.Day))
}

//export tarnDuckHours
func tarnDuckHours(info, input, output unsafe.Pointer) {
	execute(info, input, output, timeFunction(transform.Hour))
}

//export tarnDuckVerify
func tarnDuckVerify(info, input, output unsafe.Pointer) { execute(info, input, output, verify) }

//export tarnDuckKept
func tarnDuckKept(info, input, output unsafe.Pointer) { execute(info, input, output, kept) }

//export tarnDuckOrderKey
func tarnDuckOrderKey(info, input, output unsafe.Pointer) { execute(info, input, output, orderKey) }

//export tarnDuckBindBucket
func tarnDuckBindBucket(info unsafe.Pointer) {
	admit(info, transform.Transform{Op: transform.Bucket, N: 1}, "bucket")
}

//export tarnDuckBindDecimal
func tarnDuckBindDecimal(info unsafe.Pointer) {
	admit(info, transform.Transform{Op: transform.Truncate, N: 1}, "truncate")
}

//export tarnDuckBindDates
func tarnDuckBindDates(info unsafe.Pointer) {
	admit(info, transform.Transform{Op: transform.Day}, "years, months or days")
}

//export tarnDuckBindTimes
func tarnDuckBindTimes(info unsafe.Pointer) {
	admit(info, transform.Transform{Op: transform.Hour}, "hours")
}

//export tarnDuckBindOrderKey
func tarnDuckBindOrderKey(info unsafe.Pointer) { binding(info, admitOrderKey) }

// call is one call of a function on up to one vector of rows.
type call struct {
	input  bindings.DataChunk
	output bindings.Vector
	rows   int
}

// bugMark begins the message of an error that no statement should be able to raise.
const bugMark = "internal: "

// execute runs f on what DuckDB passed. Neither an error nor a panic may cross into C++.
func execute(info, input, output unsafe.Pointer, f func(call) error) {
	defer func() {
		if p := recover(); p != nil {
			bindings.ScalarFunctionSetError(bindings.FunctionInfo{Ptr: info}, fmt.Sprintf("%sa function panicked: %v", bugMark, p))
		}
	}()
	in := bindings.DataChunk{Ptr: input}
	c := call{input: in, output: bindings.Vector{Ptr: output}, rows: int(bindings.DataChunkGetSize(in))}
	if err := f(c); err != nil {
		bindings.ScalarFunctionSetError(bindings.FunctionInfo{Ptr: info}, err.Error())
	}
}

// binding refuses a call that f refuses. Neither an error nor a panic may cross into C++.
func binding(info unsafe.Pointer, f func(bindings.BindInfo) error) {
	bind := bindings.BindInfo{Ptr: info}
	defer func() {
		if p := recover(); p != nil {
			bindings.ScalarFunctionBindSetError(bind, fmt.Sprintf("%sbinding a function panicked: %v", bugMark, p))
		}
	}()
	if err := f(bind); err != nil {
		bindings.ScalarFunctionBindSetError(bind, err.Error())
	}
}

// admit refuses a call whose last argument is of a type that t isn't defined on.
func admit(info unsafe.Pointer, t transform.Transform, name string) {
	binding(info, func(bind bindings.BindInfo) error {
		last := bindings.ScalarFunctionBindGetArgumentCount(bind) - 1
		arg := bindings.ScalarFunctionBindGetArgument(bind, last)
		defer bindings.DestroyExpression(&arg)
		logical := bindings.ExpressionReturnType(arg)
		defer bindings.DestroyLogicalType(&logical)
		switch bindings.GetTypeId(logical) {
		case bindings.TypeSQLNull, bindings.TypeInvalid: // NULL itself; an argument that is bound again when it has its value
			return nil
		}
		if own, ok := ownType(logical); !ok || !t.CanApply(own) {
			return fmt.Errorf("%s is not defined on %s", name, typeName(logical))
		}
		return nil
	})
}
