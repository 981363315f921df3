package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Check is one statement and what is known of its answer.
type Check struct {
	ID       string
	Kind     string
	SQL      string
	Expect   string // "error", or "" for rows
	Ordered  bool
	SparkSPJ *bool `json:"spark_spj"` // Spark ran it without an exchange; nil: it isn't a join or a grouping
	Columns  []Column
	RawRows  [][]json.RawMessage `json:"rows"`
	Catalog  *Catalog
}

// Column is a column of the expected answer, with the name that Spark gives its type.
type Column struct{ Name, Type string }

// Catalog is the catalog that a check's tables are found in, when it isn't the warehouse's own.
type Catalog struct{ Type, URI, Name string }

// Load reads all checks that have a statement to be run, in the index's order. folder holds INDEX.json and expected.
// Checks without one are vectors for other tests.
func Load(folder string) ([]*Check, error) {
	var index struct{ Checks []struct{ ID string } }
	if err := readJSON(filepath.Join(folder, "INDEX.json"), &index); err != nil {
		return nil, err
	}
	var out []*Check
	for _, entry := range index.Checks {
		c := &Check{}
		if err := readJSON(filepath.Join(folder, "expected", entry.ID+".json"), c); err != nil {
			return nil, err
		}
		if c.SQL != "" {
			out = append(out, c)
		}
	}
	return out, nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// Rows returns the expected rows as values.
func (c *Check) Rows() ([]Row, error) {
	out := make([]Row, len(c.RawRows))
	for i, raw := range c.RawRows {
		if len(raw) != len(c.Columns) {
			return nil, fmt.Errorf("row %d has %d values for %d columns", i, len(raw), len(c.Columns))
		}
		for k, text := range raw {
			v, err := expected(text, c.Columns[k].Type)
			if err != nil {
				return nil, fmt.Errorf("row %d, column %s: %w", i, c.Columns[k].Name, err)
			}
			out[i] = append(out[i], v)
		}
	}
	return out, nil
}

// decode reads JSON with numbers as they are written.
func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}
