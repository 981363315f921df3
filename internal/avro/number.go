package avro

import "math/big"

// SignedInt returns a big-endian two's complement number, which decimals are written as. No bytes are 0.
func SignedInt(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}
