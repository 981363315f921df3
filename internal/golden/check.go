package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Check is one statement and what is known of its answer.
type Check struct {
	ID        string   `json:"id"`
	Kind      string   `json:"kind"`
	SQL       string   `json:"sql"`
	Tables    []string `json:"tables"`
	Statement string   `json:"statement"` // run first, on a copy of the tables; SQL then reads its target
	Expect    string   `json:"expect"`    // "error", or "" for rows
	Ordered   bool     `json:"ordered"`
	SparkSPJ  *bool    `json:"spark_spj"` // Spark ran it without an exchange; nil: no join and no grouping
	Columns   []Column `json:"columns"`
	Values    [][]any  `json:"rows"`
	Catalog   *Catalog `json:"catalog"`
}

// Column is a column of the expected answer, with Spark's name of its type.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Catalog is the catalog of a check's tables, when it isn't the warehouse's own.
type Catalog struct {
	Type string `json:"type"`
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// Load reads all checks that have a statement, in the index's order. folder holds INDEX.json and expected. What has no
// statement is vectors for other tests.
func Load(folder string) ([]*Check, error) {
	var index struct {
		Checks []struct {
			ID string `json:"id"`
		} `json:"checks"`
	}
	if err := readJSON(filepath.Join(folder, "INDEX.json"), &index); err != nil {
		return nil, err
	}
	var out []*Check
	for _, entry := range index.Checks {
		c := &Check{}
		if err := readJSON(filepath.Join(folder, "expected", entry.ID+".json"), c); err != nil {
			return nil, err
		}
		if c.SQL != "" || c.Statement != "" {
			out = append(out, c)
		}
	}
	return out, nil
}

// readJSON decodes a file, its numbers as they are written.
func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// Names returns the names of the expected columns.
func (c *Check) Names() []string {
	out := make([]string, len(c.Columns))
	for i, col := range c.Columns {
		out[i] = col.Name
	}
	return out
}

// Rows returns the expected rows.
func (c *Check) Rows() ([]Row, error) {
	out := make([]Row, len(c.Values))
	for i, values := range c.Values {
		if len(values) != len(c.Columns) {
			return nil, fmt.Errorf("%s: row %d has %d values for %d columns", c.ID, i, len(values), len(c.Columns))
		}
		for k, raw := range values {
			v, err := expected(raw, c.Columns[k].Type)
			if err != nil {
				return nil, fmt.Errorf("%s: row %d, column %s: %w", c.ID, i, c.Columns[k].Name, err)
			}
			out[i] = append(out[i], v)
		}
	}
	return out, nil
}

// Writes says whether the check changes tables.
func (c *Check) Writes() bool {
	return c.Statement != "" || !strings.HasPrefix(c.SQL, "SELECT") && !strings.HasPrefix(c.SQL, "WITH")
}
