package duck

import (
	"fmt"
	"strings"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// orderKey is tarn_order_key(x, 'ASC NULLS LAST', y, 'DESC NULLS FIRST', ...): the number whose order is that of ORDER BY x,
// y, ..., as create_sort_key gives bytes. It is never NULL. Numbers are compared in a fraction of the time.
//
// Each value takes a bit for whether it is NULL and the bits of its type, the sign's flipped so that negative values come
// first, all flipped where the order descends. All are in less than 128 bits, as admitOrderKey sees to, so that the
// whole is never negative.
func orderKey(c call) error {
	out := results[words128](c)
	clear(out)
	for i := 0; i < int(bindings.DataChunkGetColumnCount(c.input)); i += 2 {
		x, order := c.column(i), c.column(i+1)
		if !order.isValid(0) {
			return fmt.Errorf("%san order key's order is NULL", bugMark)
		}
		dir := string(values[textBytes](order)[0].bytes())
		nulls := uint64(0)
		if strings.HasSuffix(dir, "NULLS LAST") {
			nulls = 1
		}
		flip := uint64(0)
		if strings.HasPrefix(dir, "DESC") {
			flip = ^flip
		}
		switch x.layout {
		case bits32:
			appendOrder(out, x, values[int32](x), nulls, flip)
		case bits64:
			appendOrder(out, x, values[int64](x), nulls, flip)
		default:
			return fmt.Errorf("%san order key has no %s", bugMark, x.typ)
		}
	}
	return nil
}

// appendOrder adds a column's bits to those of the columns before it.
func appendOrder[T int32 | int64](out []words128, x column, v []T, nulls, flip uint64) {
	var zero T
	width := 32
	if _, isLong := any(zero).(int64); isLong {
		width = 64
	}
	sign, mask := uint64(1)<<(width-1), ^uint64(0)>>(64-width)
	for i := range out {
		bit, bits := nulls, uint64(0)
		if x.isValid(i) {
			bit, bits = 1-nulls, (uint64(v[i])^sign^flip)&mask
		}
		o := &out[i]
		o.high = o.high<<1 | int64(o.low>>63)
		o.low = o.low<<1 | bit
		if width == 64 {
			o.high, o.low = int64(o.low), bits
		} else {
			o.high = o.high<<32 | int64(o.low>>32)
			o.low = o.low<<32 | bits
		}
	}
}

// admitOrderKey refuses a call whose values take more bits than there are, or whose values and orders don't take turns.
func admitOrderKey(bind bindings.BindInfo) error {
	count, bits := bindings.ScalarFunctionBindGetArgumentCount(bind), 0
	for i := range count {
		switch of := argumentLayout(bind, i); {
		case i%2 == 1 && of != text, i%2 == 0 && i+1 == count:
			return fmt.Errorf("%san order key has a text behind each value", bugMark)
		case i%2 == 1:
		case of == bits32:
			bits += 1 + 32
		case of == bits64:
			bits += 1 + 64
		default:
			bits = orderKeyBits + 1
		}
	}
	if bits > orderKeyBits {
		return fmt.Errorf("the values don't fit into an order key")
	}
	return nil
}

func argumentLayout(bind bindings.BindInfo, i bindings.IdxT) layout {
	arg := bindings.ScalarFunctionBindGetArgument(bind, i)
	defer bindings.DestroyExpression(&arg)
	logical := bindings.ExpressionReturnType(arg)
	defer bindings.DestroyLogicalType(&logical)
	return layoutOf(logical)
}

// orderKeyBits are those of a HUGEINT but the sign's.
const orderKeyBits = 127
