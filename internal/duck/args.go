package duck

import (
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

func bindArgs(stmt bindings.PreparedStatement, args []any) error {
	if want := int(bindings.NParams(stmt)); want != len(args) {
		return errs.New(errs.Invalid, "bind arguments", "", "%d given, %d needed", len(args), want)
	}
	for i, arg := range args {
		if err := bindArg(stmt, bindings.IdxT(i+1), arg); err != nil {
			return err
		}
	}
	return nil
}

// bindArg binds one argument: nil, bool, any integer or floating type, string, []byte, or time.Time (TIMESTAMPTZ).
func bindArg(stmt bindings.PreparedStatement, i bindings.IdxT, arg any) error {
	var state bindings.State
	switch v := arg.(type) {
	case nil:
		state = bindings.BindNull(stmt, i)
	case bool:
		state = bindings.BindBoolean(stmt, i, v)
	case int:
		state = bindings.BindInt64(stmt, i, int64(v))
	case int8:
		state = bindings.BindInt8(stmt, i, v)
	case int16:
		state = bindings.BindInt16(stmt, i, v)
	case int32:
		state = bindings.BindInt32(stmt, i, v)
	case int64:
		state = bindings.BindInt64(stmt, i, v)
	case uint8:
		state = bindings.BindUInt8(stmt, i, v)
	case uint16:
		state = bindings.BindUInt16(stmt, i, v)
	case uint32:
		state = bindings.BindUInt32(stmt, i, v)
	case uint:
		state = bindings.BindUInt64(stmt, i, uint64(v))
	case uint64:
		state = bindings.BindUInt64(stmt, i, v)
	case float32:
		state = bindings.BindFloat(stmt, i, v)
	case float64:
		state = bindings.BindDouble(stmt, i, v)
	case string:
		state = bindings.BindVarchar(stmt, i, v)
	case []byte:
		state = bindings.BindBlob(stmt, i, v)
	case time.Time:
		state = bindings.BindTimestampTZ(stmt, i, bindings.NewTimestamp(v.UnixMicro()))
	default:
		return errs.New(errs.Unsupported, "bind arguments", "", "argument %d is a %T", i, arg)
	}
	if state == bindings.StateError {
		return errs.New(errs.Invalid, "bind arguments", "", "argument %d, %v, is refused", i, arg)
	}
	return nil
}
