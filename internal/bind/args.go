package bind

import (
	"context"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/sql"
)

// bindArgument puts an argument in the place of its parameter, as a literal: packs run the text many times, on several
// instances, and conditions on arguments leave files out as those on literals do.
func (b *binder) bindArgument(ctx context.Context, n sql.Node) error {
	number, err := strconv.Atoi(n.Str("identifier"))
	if err != nil {
		return errs.New(errs.Unsupported, "bind", "$"+n.Str("identifier"), "parameters have numbers: ? or $1")
	}
	b.used = max(b.used, number)
	if number < 1 || number > len(b.args) {
		return errs.New(errs.Invalid, "bind", "$"+strconv.Itoa(number), "there are %d arguments", len(b.args))
	}
	text, err := literal(b.args[number-1])
	if err != nil {
		return err
	}
	value, err := b.template(ctx, text)
	if err != nil {
		return err
	}
	alias := n.Str("alias")
	become(n, value)
	n["alias"] = alias
	return nil
}

// literal writes an argument as SQL.
func literal(arg any) (string, error) {
	switch v := arg.(type) {
	case nil:
		return "NULL", nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case int32:
		return strconv.FormatInt(int64(v), 10), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case *big.Int:
		return v.String(), nil
	case float64:
		return floatLiteral(v), nil
	case string:
		return quote.Text(v), nil
	case []byte:
		return "from_hex('" + hex.EncodeToString(v) + "')", nil
	case time.Time:
		return "CAST(" + quote.Text(v.UTC().Format("2006-01-02 15:04:05.999999")+"+00") + " AS TIMESTAMP WITH TIME ZONE)", nil
	}
	return "", errs.New(errs.Invalid, "bind", "argument", "a %T can't be an argument", arg).
		WithHint("bool, int, int32, int64, *big.Int, float64, string, []byte, time.Time and nil can")
}

func floatLiteral(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	switch {
	case math.IsNaN(v):
		text = "NaN"
	case math.IsInf(v, 1):
		text = "Infinity"
	case math.IsInf(v, -1):
		text = "-Infinity"
	}
	return "CAST('" + text + "' AS DOUBLE)"
}
