package duck

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tarndb/tarn/internal/errs"
)

// SerializeSQL parses SELECT statements and returns DuckDB's syntax tree of them as JSON. Its form belongs to the DuckDB
// that is linked in. A Syntax error says line and column; another statement than SELECT is Unsupported.
func (c *Conn) SerializeSQL(ctx context.Context, text string) (ast []byte, err error) {
	trees, err := c.texts(ctx, `SELECT json_serialize_sql(?::VARCHAR)::VARCHAR`, text)
	if err != nil {
		return nil, err
	}
	var refusal struct {
		Error    bool   `json:"error"`
		Type     string `json:"error_type"`
		Message  string `json:"error_message"`
		Position string `json:"position"`
	}
	if err := json.Unmarshal([]byte(trees[0]), &refusal); err != nil {
		return nil, errs.Wrap(errs.Internal, "parse", "", err)
	}
	switch {
	case !refusal.Error:
		return []byte(trees[0]), nil
	case refusal.Type == "not implemented":
		return nil, errs.New(errs.Unsupported, "parse", "", "only SELECT is read here").
			WithHint("WITH stands before a query, also within another statement; " +
				"a PIVOT stands in FROM, with the values that become columns: FROM t PIVOT (count(*) FOR v IN ('a', 'b'))")
	}
	return nil, syntaxError(report{Message: refusal.Message, Position: refusal.Position}, text)
}

func syntaxError(r report, text string) error {
	message := r.tidy()
	if line, column, ok := lineColumn(text, r.Position); ok {
		message = fmt.Sprintf("line %d, column %d: %s", line, column, message)
	}
	return errs.New(errs.Syntax, "parse", "", "%s", message)
}

// DeserializeSQL returns the SQL text of a tree that SerializeSQL gave, as it is or edited.
func (c *Conn) DeserializeSQL(ctx context.Context, ast []byte) (string, error) {
	texts, err := c.texts(ctx, `SELECT json_deserialize_sql(?::VARCHAR)`, string(ast))
	if err != nil {
		return "", errs.Wrap(errs.Internal, "write SQL", "", err)
	}
	return texts[0], nil
}
