package duck

import (
	"fmt"

	"github.com/tarndb/tarn/transform"
)

// truncate is system.truncate(W, x). The result of a decimal is its text: truncateMacro casts it back.
func truncate(c call) error {
	widths, x := c.column(0), c.column(1)
	c.passNulls(widths, x)
	w := values[int32](widths)
	for i := range c.rows {
		if !widths.isValid(i) || !x.isValid(i) {
			continue
		}
		if w[i] <= 0 {
			return fmt.Errorf("truncate needs a width above 0, not %d", w[i])
		}
		t := transform.Transform{Op: transform.Truncate, N: int(w[i])}
		v, err := t.Apply(x.typ, x.value(x.typ, i))
		if err != nil {
			return err
		}
		if err := c.store(x, i, v); err != nil {
			return err
		}
	}
	return nil
}

// store writes v, a value of x's type, as the result of row i.
func (c call) store(x column, i int, v transform.Value) error {
	switch v := v.(type) {
	case string:
		return assignText(c.output, i, v)
	case []byte:
		return assignText(c.output, i, v)
	case int64:
		results[int64](c)[i] = v
	case int32:
		return c.storeInt(x, i, v)
	default: // a decimal
		return assignText(c.output, i, transform.FormatValue(x.typ, v))
	}
	return nil
}

// storeInt writes v as an integer of x's width.
func (c call) storeInt(x column, i int, v int32) error {
	switch x.layout {
	case bits8:
		results[int8](c)[i] = int8(v)
	case bits16:
		results[int16](c)[i] = int16(v)
	default:
		results[int32](c)[i] = v
		return nil
	}
	if bits := map[layout]int32{bits8: 1 << 7, bits16: 1 << 15}[x.layout]; v < -bits {
		return fmt.Errorf("truncate gives %d, which leaves its argument's type", v)
	}
	return nil
}
