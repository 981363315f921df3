package avro

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/hamba/avro/v2/ocf"
)

// TestWriter has another library and our own reader read what was written.
func TestWriter(t *testing.T) {
	const schema = `{"type":"record","name":"r","fields":[{"name":"n","type":"long"},{"name":"flag","type":"boolean"},` +
		`{"name":"f","type":"float"},{"name":"d","type":"double"},{"name":"b","type":["null","bytes"]},{"name":"s","type":"string"},` +
		`{"name":"x","type":{"type":"fixed","name":"x","size":2}},{"name":"list","type":{"type":"array","items":"int"}}]}`
	for _, objects := range []int{0, 1, 3, 20000} {
		w := NewWriter(schema, map[string]string{"format-version": "2"})
		for i := range objects {
			e := w.Encoder()
			e.Long(int64(-i))
			e.Boolean(i%2 == 1)
			e.Float(float32(i) / 2)
			e.Double(-0.25)
			if i%3 == 0 {
				e.Index(0)
			} else {
				e.Index(1)
				e.Bytes([]byte{byte(i)})
			}
			e.String(fmt.Sprint("name ", i))
			e.Fixed([]byte{1, 2})
			e.Items(i % 3)
			for j := range i % 3 {
				e.Long(int64(j))
			}
			e.EndItems()
			w.EndObject()
		}
		data, err := w.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := readAll(data); err != nil || n != objects {
			t.Errorf("our reader finds %d objects of %d, %v", n, objects, err)
		}
		d, err := ocf.NewDecoder(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(d.Metadata()["format-version"]); got != "2" {
			t.Errorf("the header says %q", got)
		}
		i := 0
		for ; d.HasNext(); i++ {
			var got map[string]any
			if err := d.Decode(&got); err != nil {
				t.Fatal(err)
			}
			b, list := any(nil), []any{}
			if i%3 != 0 {
				b = []byte{byte(i)}
			}
			for j := range i % 3 {
				list = append(list, j)
			}
			want := map[string]any{
				"n": int64(-i), "flag": i%2 == 1, "f": float32(i) / 2, "d": -0.25, "b": b, "s": fmt.Sprint("name ", i), "x": [2]byte{1, 2}, "list": list,
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("object %d is %v, want %v", i, got, want)
			}
		}
		if d.Error() != nil || i != objects {
			t.Errorf("%d objects of %d, %v", i, objects, d.Error())
		}
	}
}
