package lake

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/tarndb/tarn/transform"
)

// fieldDefault is a field's initial default as the metadata JSON spells it. It is read here and not taken from iceberg-go,
// whose schema holds numbers as float64 and so loses the low digits of a long.
type fieldDefault struct{ raw json.RawMessage }

// initialDefaults returns the initial defaults in the schema with the ID, nested fields' included, by field ID.
func initialDefaults(metadata []byte, schemaID int) (map[int]fieldDefault, error) {
	if !bytes.Contains(metadata, []byte(`"initial-default"`)) {
		return nil, nil
	}
	var doc struct {
		Schemas []struct {
			ID int `json:"schema-id"`
			rawType
		} `json:"schemas"`
	}
	if err := json.Unmarshal(metadata, &doc); err != nil {
		return nil, err
	}
	found := map[int]fieldDefault{}
	for _, s := range doc.Schemas {
		if s.ID == schemaID {
			s.collect(found)
		}
	}
	return found, nil
}

// rawType is a nested type's JSON: what it has of fields, elements, keys and values.
type rawType struct {
	Fields  []rawField   `json:"fields"`
	Element rawInnerType `json:"element"`
	Key     rawInnerType `json:"key"`
	Value   rawInnerType `json:"value"`
}

type rawField struct {
	ID      int             `json:"id"`
	Type    rawInnerType    `json:"type"`
	Initial json.RawMessage `json:"initial-default"`
}

// rawInnerType is a type within another: nil for a primitive one, which is a string in JSON.
type rawInnerType struct{ nested *rawType }

func (t *rawInnerType) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	t.nested = new(rawType)
	return json.Unmarshal(b, t.nested)
}

func (t *rawType) collect(found map[int]fieldDefault) {
	for _, f := range t.Fields {
		if len(f.Initial) > 0 && !bytes.Equal(f.Initial, []byte("null")) {
			found[f.ID] = fieldDefault{f.Initial}
		}
		f.Type.collect(found)
	}
	for _, inner := range []rawInnerType{t.Element, t.Key, t.Value} {
		inner.collect(found)
	}
}

func (t rawInnerType) collect(found map[int]fieldDefault) {
	if t.nested != nil {
		t.nested.collect(found)
	}
}

// value reads the default by the spec's JSON single-value serialization. A nested type's default has no Value: nil.
func (d fieldDefault) value(t transform.Type) (transform.Value, error) {
	if t.Kind == transform.None {
		return nil, nil
	}
	if d.raw[0] != '"' {
		return transform.ParseValue(t, string(d.raw))
	}
	var text string
	if err := json.Unmarshal(d.raw, &text); err != nil {
		return nil, err
	}
	switch t.Kind {
	case transform.Binary, transform.Fixed:
		b, err := hex.DecodeString(text)
		if err == nil && t.Kind == transform.Fixed && len(b) != t.Length {
			err = fmt.Errorf("%d bytes for a %s", len(b), t)
		}
		return b, err
	case transform.String:
		return text, nil
	}
	return transform.ParseValue(t, text)
}

// survivesFloat says whether the default is still the same after it has been a float64, which iceberg-go makes of every
// number when it writes a schema again.
func (d fieldDefault) survivesFloat() bool {
	n, isInteger := new(big.Int).SetString(string(d.raw), 10)
	if !isInteger {
		return true
	}
	_, accuracy := new(big.Float).SetInt(n).Float64()
	return accuracy == big.Exact
}
