package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/tarndb/tarn/transform"
)

// EncodeValue returns a value of t in the spec's single-value binary form (appendix D): nil for NULL, and for all else a
// slice that isn't nil, though it may be empty.
func EncodeValue(t transform.Type, v transform.Value) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	b, err := transform.EncodeBound(t, v)
	if b == nil && err == nil {
		b = []byte{}
	}
	return b, err
}

// DecodeValue reads what EncodeValue wrote.
func DecodeValue(t transform.Type, b []byte) (transform.Value, error) {
	if b == nil {
		return nil, nil
	}
	return transform.DecodeBound(t, b)
}

// plainField is a Field without its methods.
type plainField Field

// fieldJSON is a Field's form in JSON, where a value alone doesn't tell its type.
type fieldJSON struct {
	*plainField
	Initial *[]byte `json:"InitialDefault,omitempty"`
}

// MarshalJSON writes all of the field, its initial default too.
func (f Field) MarshalJSON() ([]byte, error) {
	out := fieldJSON{plainField: (*plainField)(&f)}
	b, err := EncodeValue(f.Type.Primitive, f.InitialDefault)
	if err != nil {
		return nil, fmt.Errorf("the initial default of %q: %w", f.Name, err)
	}
	if b != nil {
		out.Initial = &b
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Field) UnmarshalJSON(data []byte) error {
	in := fieldJSON{plainField: (*plainField)(f)}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	f.InitialDefault = nil
	if in.Initial == nil {
		return nil
	}
	var err error
	if f.InitialDefault, err = DecodeValue(f.Type.Primitive, *in.Initial); err != nil {
		return fmt.Errorf("the initial default of %q: %w", f.Name, err)
	}
	return nil
}
