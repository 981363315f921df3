package lake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// fieldDefault is a field's default as the metadata JSON spells it. It is read here and not taken from iceberg-go,
// whose schema holds numbers as float64 and so loses the low digits of a long.
type fieldDefault struct{ raw json.RawMessage }

// fieldDefaults are a field's initial and write default; nil: none.
type fieldDefaults struct{ initial, write *fieldDefault }

// hasDefaults says whether some schema of the metadata may have defaults.
func hasDefaults(metadata []byte) bool {
	return bytes.Contains(metadata, []byte(`"initial-default"`)) || bytes.Contains(metadata, []byte(`"write-default"`))
}

// defaultsOf returns the defaults in the schema with the ID, nested fields' included, by field ID.
func defaultsOf(metadata []byte, schemaID int) (map[int]fieldDefaults, error) {
	if !hasDefaults(metadata) {
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
	found := map[int]fieldDefaults{}
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
	Write   json.RawMessage `json:"write-default"`
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

func (t *rawType) collect(found map[int]fieldDefaults) {
	for _, f := range t.Fields {
		if d := (fieldDefaults{given(f.Initial), given(f.Write)}); d != (fieldDefaults{}) {
			found[f.ID] = d
		}
		f.Type.collect(found)
	}
	for _, inner := range []rawInnerType{t.Element, t.Key, t.Value} {
		inner.collect(found)
	}
}

func (t rawInnerType) collect(found map[int]fieldDefaults) {
	if t.nested != nil {
		t.nested.collect(found)
	}
}

// given returns a default that is there and isn't null.
func given(raw json.RawMessage) *fieldDefault {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	return &fieldDefault{raw}
}

// value reads the default by the spec's JSON single-value serialization. A nested type's default has no Value: nil. That
// of a struct is an empty one, whose fields have their own defaults.
func (d fieldDefault) value(t catalog.Type) (transform.Value, error) {
	if t.Nested == catalog.Struct && !bytes.Equal(bytes.Join(bytes.Fields(d.raw), nil), []byte("{}")) {
		return nil, fmt.Errorf("that of a struct must be {}, not %s", d.raw)
	}
	if t.Nested != catalog.NotNested {
		return nil, nil
	}
	text := string(d.raw)
	if d.raw[0] == '"' {
		if err := json.Unmarshal(d.raw, &text); err != nil {
			return nil, err
		}
	}
	if t.Primitive.Kind == transform.Decimal {
		text = plainDecimal(text)
	}
	return transform.ParseValue(t.Primitive, text)
}

// plainDecimal writes out a decimal with an exponent, as Java spells some: 1E-10, 2E+2.
func plainDecimal(text string) string {
	digits, exponent, ok := strings.Cut(strings.ToLower(text), "e")
	e, err := strconv.Atoi(exponent)
	whole, fraction, _ := strings.Cut(strings.TrimLeft(digits, "+-"), ".")
	if !ok || err != nil || whole+fraction == "" || max(e, -e) > transform.MaxPrecision || len(digits) > 2*transform.MaxPrecision {
		return text // ParseValue refuses an exponent
	}
	all, point := whole+fraction, len(whole)+e
	if point < 0 {
		all, point = strings.Repeat("0", -point)+all, 0
	}
	all += strings.Repeat("0", max(point-len(all), 0))
	out := all[:point] + "." + all[point:] + "0"
	if strings.HasPrefix(digits, "-") {
		return "-" + out
	}
	return out
}

// defaultJSON spells a value as fieldDefault.value reads it.
func defaultJSON(t transform.Type, v transform.Value) (json.RawMessage, error) {
	text := transform.FormatValue(t, v)
	switch t.Kind {
	case transform.Boolean, transform.Int, transform.Long, transform.Float, transform.Double:
		if !json.Valid([]byte(text)) {
			return nil, errs.New(errs.Unsupported, "", "", "JSON has no %s, so it can't be a default", text)
		}
		return json.RawMessage(text), nil
	case transform.Timestamp, transform.TimestampNS:
		text = strings.Replace(text, " ", "T", 1)
	case transform.TimestampTZ, transform.TimestampTZNS:
		text = strings.Replace(text, " ", "T", 1) + ":00"
	}
	return json.Marshal(text)
}
