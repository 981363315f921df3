package duck

import "github.com/tarndb/tarn/transform"

// timeFunction is system.years(x), months, days or hours.
func timeFunction(op transform.Op) func(call) error {
	return func(c call) error {
		x, out := c.column(0), results[int32](c)
		c.passNulls(x)
		t := transform.Transform{Op: op}
		for i := range c.rows {
			if !x.isValid(i) {
				continue
			}
			v, err := t.Apply(x.typ, x.value(x.typ, i))
			if err != nil {
				return err
			}
			out[i] = v.(int32)
		}
		return nil
	}
}
