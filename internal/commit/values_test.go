package commit

import (
	"math"
	"math/big"

	"github.com/tarndb/tarn/transform"
)

// partitionValues has a value, an odd one, of each type that a partition may be of.
func partitionValues() map[string]transform.Value {
	return map[string]transform.Value{
		"boolean": true, "int": int32(-1), "long": int64(math.MinInt64), "float": float32(math.Copysign(0, -1)), "double": math.NaN(),
		"decimal(9,2)": big.NewInt(-128), "decimal(38,0)": new(big.Int).Neg(new(big.Int).Exp(big.NewInt(10), big.NewInt(37), nil)),
		"date": int32(-719162), "time": int64(86399999999), "timestamp": int64(-1), "timestamptz": int64(253402300799999999),
		"timestamp_ns": int64(-1), "timestamptz_ns": int64(1), "string": "", "uuid": [16]byte{0xff, 1}, "fixed[3]": []byte{0, 0xff, 0}, "binary": []byte{},
	}
}
